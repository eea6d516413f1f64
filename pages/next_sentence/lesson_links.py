"""The page, prepared for a lesson: each link with a question."""

from pages.next_sentence.scene import EXAMPLES
from ui import PAIR, TEXT, LessonLink, LessonLinks

_DOG = "The dog ran into the garden."

LINKS = LessonLinks(
    "Two sentences",
    EXAMPLES.decides,
    (
        LessonLink(
            "A sentence that follows",
            {TEXT: _DOG, PAIR: "It barked at the cat."},
            "How sure is the model? Press “Swap A and B”: if the prediction hardly changes, can it be the order that "
            "the model judges?",
        ),
        LessonLink(
            "A random one",
            {TEXT: _DOG, PAIR: "The parliament passed the law in May."},
            "How sure is the model now? Change sentence B to “The dog in the film was a wolf.”, which is also from "
            "another story. What made the first one so easy?",
        ),
    ),
)
