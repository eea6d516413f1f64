"""A question: how its answers look; what the component to draw in is given, what is kept of a drawing, the reply."""

from __future__ import annotations

import json
from typing import Any

import pytest
from patience import PATIENCE
from streamlit.testing.v1 import AppTest

from pages.learn.lesson import Choice, Option, Sketch
from viz.sketch import LEVELS


def _script(question: object, answers: tuple[str, ...], drawn: object) -> None:
    import streamlit as st

    from pages.learn import fields, quiz

    fields.ANSWERS.value = answers
    if drawn is not None:
        quiz._drawn("pieces", 1, question, drawn)  # type: ignore[arg-type]
    quiz.draw("pieces", 1, question)  # type: ignore[arg-type]
    st.text(fields.answers().get(("pieces", 1), "none"))


TO_DRAW = Sketch("How long?", ("a", "b"), (0.5, 4.0), lambda heights: f"In all {sum(heights):g}.", top=7, unit="cm")
TO_CHOOSE = Choice("How many?", (Option("one", "Too few."), Option("two", "Yes.", True), Option("three", "Too many.")))


def ask(*answers: str, question: Sketch | Choice = TO_DRAW, drawn: Any = None) -> AppTest:
    app = AppTest.from_function(_script, args=(question, answers, drawn), default_timeout=PATIENCE).run()
    assert not app.exception
    return app


def payload_of(app: AppTest) -> dict[str, Any]:
    (element,) = app.get("bidi_component")
    payload: dict[str, Any] = json.loads(element.proto.json)
    return payload


def test_before_an_answer_the_truth_is_not_in_the_browser() -> None:
    app = ask()
    payload = payload_of(app)
    assert (payload["labels"], payload["top"], payload["unit"], payload["kind"]) == (["a", "b"], 7, "cm", "bars")
    assert payload["drawn"] is payload["truth"] is None
    assert not app.button


def test_a_drawing_is_kept_in_its_levels_and_replied_to() -> None:
    app = ask(drawn=[0.49, 3.48])  # the levels are 0.2 apart
    assert app.text[0].value == "d2h"
    assert payload_of(app)["drawn"] == pytest.approx([2 / LEVELS * 7, 17 / LEVELS * 7])
    assert payload_of(app)["truth"] == [0.5, 4]
    assert [markdown.value for markdown in app.markdown] == ["**How long?**", "In all 3.8."]
    assert not app.button


def test_heights_outside_of_the_scale_are_at_its_ends() -> None:
    assert ask(drawn=[-1, 99]).text[0].value == "d0z"


@pytest.mark.parametrize("drawn", [[1], [1, 2, 3], "12", [1, "2"], [1, None], [1, float("nan")], {"0": 1}, 3])
def test_what_is_no_drawing_is_not_kept(drawn: Any) -> None:
    assert ask(drawn=drawn).text[0].value == "none"


@pytest.mark.parametrize("answer", ["x", "3", "d5", "d555"])
def test_an_answer_that_is_none_of_this_text_shows_the_truth_alone(answer: str) -> None:
    """Who wanted to see it, and links whose text was another one."""
    app = ask(f"pieces.1.{answer}")
    assert payload_of(app)["drawn"] is None
    assert payload_of(app)["truth"] == [0.5, 4]
    assert [markdown.value for markdown in app.markdown] == ["**How long?**"]


def test_before_an_answer_all_options_look_alike() -> None:
    assert looks(ask(question=TO_CHOOSE)) == [
        ("one", "", "secondary"),
        ("two", "", "secondary"),
        ("three", "", "secondary"),
    ]


WRONG, RIGHT, OTHER = ":material/cancel:", ":material/check_circle:", ("three", "", "secondary")


@pytest.mark.parametrize(
    ("answer", "first_button", "second_button", "announced"),
    [
        (
            "1",
            ("one · **your answer, wrong**", WRONG, "tertiary"),
            ("two · **right**", RIGHT, "primary"),
            "answer is: two",
        ),
        ("2", ("one", "", "secondary"), ("two · **your answer, right**", RIGHT, "primary"), "Right."),
        ("x", ("one", "", "secondary"), ("two · **right**", RIGHT, "primary"), "The right answer is: two"),
    ],
)
def test_the_right_answer_is_the_strongest_and_a_wrong_one_looks_wrong(
    answer: str, first_button: tuple[str, ...], second_button: tuple[str, ...], announced: str
) -> None:
    app = ask(f"pieces.1.{answer}", question=TO_CHOOSE)
    assert looks(app) == [first_button, second_button, OTHER]
    (alert,) = (element.value for element in app.markdown if 'role="alert"' in element.value)
    assert announced in alert


def looks(app: AppTest) -> list[tuple[str, str, str]]:
    return [(button.label, button.icon, button.proto.type) for button in app.button]
