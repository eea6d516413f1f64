"""The page, prepared for a lesson: each link with a question."""

from pages.cause.examples import EXAMPLES
from pages.cause.fields import ANSWER, BY, FOIL, OTHER, SHOWN_VIEW
from ui import TEXT, LessonLink, LessonLinks

_HUNGRY = {TEXT: "The dogs near the house [MASK] hungry.", ANSWER: "are", FOIL: "is"}

LINKS = LessonLinks(
    "Cause",
    EXAMPLES.decides,
    (
        LessonLink(
            "A head that matters, and heads that do not",
            _HUNGRY,
            "Click the head with the highest number. What is the top prediction without it, and does it fit one dog "
            "or several? Click the head again, and then three heads whose number is 0: what happens to “are”?",
        ),
        LessonLink(
            "From the noun to the mask",
            {**_HUNGRY, SHOWN_VIEW: "patching", OTHER: "The dog near the house [MASK] hungry.", BY: "difference"},
            "In each cell one vector comes from a sentence about one dog. In which rows does that flip the "
            "prediction at “dogs”, and from which row on at the mask? What must have happened in between?",
        ),
        LessonLink(
            "Do explanations agree?",
            {TEXT: "She sat at the table and drank a cup of [MASK].", SHOWN_VIEW: "words"},
            "Which two words do occlusion and integrated gradients rank first? Does mean attention rank the same "
            "ones first, and what about rollout? Further down, which curve falls at once, and which does not?",
        ),
    ),
)
