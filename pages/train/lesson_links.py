"""The page, prepared for a lesson: each link with a question."""

from pages.train.fields import ASKED, EXAMPLES, SET, SHOWN_VIEW
from ui import MODEL, LessonLink, LessonLinks

LINKS = LessonLinks(
    "Training",
    (MODEL, *ASKED, SHOWN_VIEW),
    (
        LessonLink(
            "Twenty sentences, or all of them",
            {SET: "sentiment", EXAMPLES: 20},
            "Half of the sentences are positive, so guessing gets 50%. Press “Train” and read the accuracy and its "
            "interval under “Results”: has the model learned anything from 20 sentences? Then empty “Examples”, so "
            "that it trains on all of them, and look again.",
        ),
    ),
)
