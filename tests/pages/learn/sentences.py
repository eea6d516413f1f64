"""The sentences on which every lesson is tried: that of the app, one with pieces and signs, and a short one."""

from __future__ import annotations

from ui.learn.case import Case
from ui.learn.lesson import Lesson

SENTENCES = (
    "The cat sat on the mat because it was tired.",
    "Unbelievably, she left “the old bank” at 9 o’clock and didn't look back!",
    "Birds sing.",
)


def cases(lesson: Lesson, model: str = "embedded/bert") -> list[Case]:
    """A case a sentence, and one of the lesson's own example; with a second text where the lesson is about two."""
    own, other = lesson.examples[0]
    texts = [(own, other), *((text, "Then they slept." if lesson.paired else "") for text in SENTENCES)]
    return [Case(model, text, pair or None, layer=1, head=2) for text, pair in texts]
