"""A question and its answers: chosen or drawn before the model's own is shown, each with an answer of its own."""

from __future__ import annotations

from math import isfinite

import streamlit as st

from ui.component import component
from ui.learn import fields
from ui.learn.glossary import worded
from ui.learn.lesson import Choice, Sketch
from viz.sketch import SOURCE, payload


def draw(lesson: str, step: int, question: Choice | Sketch) -> None:
    """The question of a step (from 1) and what is said to the answer that was given."""
    given = fields.answers().get((lesson, step))
    st.markdown(worded(f"**{question.question}**"), unsafe_allow_html=True)
    if isinstance(question, Choice):
        _choice(lesson, step, question, given)
    else:
        _sketch(lesson, step, question, given)
    if given is None:
        st.button(
            "Show me",
            key="show me",
            type="tertiary",
            icon=":material/visibility:",
            on_click=fields.answer,
            args=(lesson, step, fields.SHOWN),
        )


def _choice(lesson: str, step: int, question: Choice, given: str | None) -> None:
    chosen = int(given) - 1 if given is not None and given.isdigit() else None
    for place, option in enumerate(question.options):
        mark = None
        if given is not None and option.right:
            mark = ":material/check_circle:"
        elif place == chosen:
            mark = ":material/cancel:"
        st.button(
            option.text,
            key=f"option {place + 1}",
            icon=mark,
            type="primary" if place == chosen else "secondary",
            width="stretch",
            on_click=fields.answer,
            args=(lesson, step, str(place + 1)),
        )
    if chosen is not None and chosen < len(question.options):
        reply = question.options[chosen]
        _reply(("Right. " if reply.right else "Not quite. ") + reply.reply)


def _sketch(lesson: str, step: int, question: Sketch, given: str | None) -> None:
    # An answer from a link may have been one to another text, or none that was drawn.
    heights = None
    if given is not None and given.startswith("d") and len(given) == len(question.labels) + 1:
        heights = fields.heights(given, question.top)
    key = f"sketch {lesson} {step}"
    component("sketch", SOURCE)(
        key=key,
        data=payload(
            question.labels,
            heights,
            None if given is None else question.truth,
            top=question.top,
            unit=question.unit,
            kind=question.kind,
        ),
        on_drawn_change=lambda: _drawn(lesson, step, question, st.session_state[key]["drawn"]),
    )
    if heights is not None:
        _reply(question.reply(heights))


def _drawn(lesson: str, step: int, question: Sketch, heights: object) -> None:
    """Keep what a browser says was drawn, which may be anything: heights for labels that are gone are none."""
    if (
        isinstance(heights, list)
        and len(heights) == len(question.labels)
        and all(isinstance(height, int | float) and isfinite(height) for height in heights)
    ):
        fields.answer(lesson, step, fields.drawn(heights, question.top))


def _reply(said: str) -> None:
    with st.container(key="reply"):
        st.markdown(worded(said), unsafe_allow_html=True)
