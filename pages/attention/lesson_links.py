"""The page, prepared for a lesson: each link with a question."""

from pages.attention.examples import EXAMPLES
from pages.attention.fields import CHOSEN, SCOPE, SHOWN_VIEW
from ui import HEAD, LAYER, TEXT, LessonLink, LessonLinks

LINKS = LessonLinks(
    "Attention, row by row",
    EXAMPLES.decides,
    (
        LessonLink(
            "One row of the picture",
            {TEXT: "The cat sat on the mat because it was tired.", LAYER: 2, HEAD: 4},
            "Find the row that begins with “it”. Which word does “it” attend to most, and what do all the numbers in "
            "a row add up to?",
        ),
        LessonLink(
            "A head that looks one token back",
            {
                TEXT: "The dog ran into the garden and barked at the cat.",
                SHOWN_VIEW: "lines",
                SCOPE: "chosen",
                CHOSEN: ("1.3",),
                LAYER: 1,
                HEAD: 3,
            },
            "Where does each token look, and what about [CLS], which has no token before it? Type your own sentence: "
            "does the head still do the same?",
        ),
        LessonLink(
            "Nearly everything on one token",
            {TEXT: "The cat sat on the mat because it was tired.", LAYER: 5, HEAD: 7},
            "Which column gets nearly all of every row? Under “Show”, choose “Weights × values”, which also counts "
            "how much is passed on: how far do the numbers in that column fall?",
        ),
    ),
)
