"""The page, prepared for a lesson: each link with a question."""

from pages.layers.fields import ASKED, LOOKED_AT, SHOWN_VIEW, TASK
from ui import MODEL, LessonLink, LessonLinks

LINKS = LessonLinks(
    "Layers and models",
    (MODEL, *ASKED, *LOOKED_AT, SHOWN_VIEW),
    (
        LessonLink(
            "Which layer knows the order of words?",
            {TASK: "bigram_shift"},
            "The probe decides whether two neighbouring words were swapped; guessing gets half of them. How well "
            "does it do on the embeddings, after which layer does it first reach 80%, and what do random weights "
            "get?",
        ),
    ),
)
