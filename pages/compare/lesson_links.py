"""The page, prepared for a lesson: each link with a question."""

from pages.compare.examples import EXAMPLES
from pages.compare.fields import COMPARED, MASKS, SHOWN_VIEW
from ui import TEXT, LessonLink, LessonLinks

LINKS = LessonLinks(
    "Layers and models",
    EXAMPLES.decides,
    (
        LessonLink(
            "A larger and a smaller BERT",
            {
                TEXT: "She looked at him and shook her head.",
                SHOWN_VIEW: "predictions",
                COMPARED: ("embedded/bert", "embedded/tinybert"),
                MASKS: (6,),
            },
            "Whose head does each of the two models predict? Now type “He looked at her and shook his head.” and "
            "click “his”: is the model that was right still right, and how much is one sentence worth as a test?",
        ),
        LessonLink(
            "With attention and without",
            {
                TEXT: "The dog near the houses was hungry.",
                SHOWN_VIEW: "predictions",
                COMPARED: ("embedded/bert", "embedded/bilstm"),
                MASKS: (5,),
            },
            "Whose top prediction agrees with “dog”, and whose with “houses”? The LSTM is also far smaller: what "
            "would have to be equal before you could attribute the difference to attention?",
        ),
    ),
)
