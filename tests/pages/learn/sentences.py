"""The sentences on which every lesson is tried: that of the app, one with pieces and signs, and a short one."""

from itertools import product

import pytest

from pages.learn.case import Case
from pages.learn.lesson import Choice, Lesson, Option

SENTENCES = (
    "The cat sat on the mat because it was tired.",
    "Unbelievably, she left “the old bank” at 9 o’clock and didn't look back!",
    "Birds sing.",
)
MODELS = ("embedded/bert", "embedded/tinybert", "embedded/modernbert")
for_every_text = pytest.mark.parametrize("text", SENTENCES)
of_models = pytest.mark.parametrize("model", MODELS)
of_all_models_and_texts = pytest.mark.parametrize(("model", "text"), [*product(MODELS, SENTENCES)])


def cases(lesson: Lesson, model: str = "embedded/bert") -> list[Case]:
    """A case a sentence, and one of the lesson's own example; with a second text where the lesson is about two."""
    first_text, other = lesson.examples[0]
    texts = [(first_text, other), *((text, "Then they slept." if lesson.paired else "") for text in SENTENCES)]
    return [Case(model, text, pair or None, layer=1, head=2) for text, pair in texts]


def right(lesson: Lesson, step: int, case: Case) -> Option:
    """The one right answer to the question of a step, from 1, which is one to choose from."""
    choice = lesson.steps[step - 1](case).ask()
    assert isinstance(choice, Choice)
    return choice.options[choice.right]
