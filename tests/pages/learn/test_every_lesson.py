"""What holds for every step of every lesson, on three sentences and on the lesson's own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from model_zoo.errors import ModelZooError
from pages import PAGES
from pages.learn import fields
from pages.learn.lesson import Choice, Lesson, RecallStep, Step
from pages.learn.lessons import LESSONS
from tests.pages.learn.sentences import cases
from ui.glossary import TERMS, plain, terms

pytestmark = pytest.mark.slow

STEPS = [(lesson, place) for lesson in LESSONS.values() for place in range(len(lesson.steps))]
each_step = pytest.mark.parametrize(("lesson", "place"), STEPS, ids=[f"{one.name}-{at + 1}" for one, at in STEPS])
Open = Callable[..., AppTest]
NASTY = (
    "",
    "…",
    "a <b>*bold*</b> [[word]] $x$ `c`",
    "one",
    "[MASK] [SEP]",
    "The dog saw a cat. " * 60,
    "猫はマットに座った。",
)


def spoken(step: Step) -> list[str]:
    """All that a step says, with its marks."""
    question = step.ask()
    said = [step.text(), step.why(), question.question]
    if isinstance(question, Choice):
        return [*said, *(text for option in question.options for text in (option.text, option.reply))]
    flat, full = [0.0] * len(question.labels), [question.top] * len(question.labels)
    return [*said, *(question.reply(drawn) for drawn in (flat, full, question.truth))]


@pytest.mark.usefixtures("app")
@each_step
def test_a_step_says_something_of_every_sentence_or_why_it_cannot(lesson: Lesson, place: int) -> None:
    step = lesson.steps[place]
    own, *others = cases(lesson)
    check(step(own))
    for case in others:
        with suppress(ModelZooError):  # which the page shows as a sentence
            check(step(case))


def check(step: Step) -> None:
    """All that a step says can be said; a Choice without exactly one right answer raises ValueError."""
    said, numbers, question = spoken(step), step.numbers(), step.ask()
    assert all(text.strip() for text in said)
    assert all(term in TERMS for text in said for term in terms(text))
    assert not any("[[" in plain(text) or "nan" in plain(text).lower().split() for text in said)
    assert isinstance(numbers, pd.DataFrame)
    assert len(numbers) or isinstance(step, RecallStep)
    if not isinstance(question, Choice):
        assert np.isfinite(question.truth).all()
        assert min(question.truth) >= 0
        assert max(question.truth) <= question.top * (1 + 1e-6)


@each_step
def test_a_step_opens_and_reveals(lesson: Lesson, place: int, open_page: Open) -> None:
    at = {"lesson": lesson.name, "step": str(place + 1)}
    app = open_page("pages/learn/page.py", **at)
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert app.header[0].value.startswith(f"{place + 1}. ")
    app.button(key="show me").click().run()
    assert not app.exception
    assert not app.error
    assert any(said.value.startswith("**Why?**") for said in app.markdown)
    assert f"{lesson.name}.{place + 1}.{fields.SHOWN}" in app.session_state[fields.ANSWERS.key]


@pytest.mark.parametrize(
    ("lesson", "place", "text"),
    [(*step, NASTY[number % len(NASTY)]) for number, step in enumerate(STEPS)],
    ids=[f"{one.name}-{at + 1}" for one, at in STEPS],
)
def test_a_step_stands_any_text(lesson: Lesson, place: int, text: str, open_page: Open) -> None:
    answers = f"{lesson.name}.{place + 1}.{fields.SHOWN}"
    app = open_page(
        "pages/learn/page.py", lesson=lesson.name, step=str(place + 1), text=text, pair=text, answers=answers
    )
    assert not app.exception
    assert not [error.value for error in app.error if "went wrong" in error.value]
    assert not any("<b>" in said.value for said in app.markdown)


@pytest.mark.parametrize("model", ["embedded/bilstm", "embedded/modernbert"])
@pytest.mark.parametrize(
    ("lesson", "place"),
    [step for step in STEPS if step[0].steps[step[1]].stage is not None],
    ids=[f"{one.name}-{at + 1}" for one, at in STEPS if one.steps[at].stage is not None],
)
def test_the_picture_is_drawn_of_any_model_or_says_why_not(
    lesson: Lesson, place: int, model: str, open_page: Open
) -> None:
    app = open_page("pages/learn/page.py", lesson=lesson.name, step=str(place + 1), model=model)
    assert not app.exception
    assert not [error.value for error in app.error if "went wrong" in error.value]
    assert bool(app.error or app.warning) == (model == "embedded/bilstm")


def test_a_step_that_goes_on_from_an_answer_draws_nothing_else_before() -> None:
    going_on = [lesson.steps[place] for lesson, place in STEPS if lesson.steps[place].after is not None]
    assert going_on
    for step in going_on:
        assert step.figure is Step.figure, step.title
        assert step.stage is None


def test_every_term_of_the_glossary_is_met_somewhere(app: None) -> None:  # noqa: ARG001
    """Beside the title of a view or a step, or marked in what a step says."""
    met = {name.lower() for page in PAGES for mention in page.mentions() for name in mention.terms}
    assert met <= set(TERMS)
    for lesson in LESSONS.values():
        for step in lesson.steps:
            met.update(term for text in spoken(step(cases(lesson)[0])) for term in terms(text))
    assert met == set(TERMS)


def test_answers_are_written_and_read(app: None) -> None:  # noqa: ARG001
    assert fields.heights(fields.drawn([0, 0.5, 1], 1), 1) == pytest.approx([0, 18 / 35, 1])
