"""A question and its answers: chosen or drawn before the model's own is shown, each with an answer of its own."""

from __future__ import annotations

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
        said = ("Right. " if reply.right else "Not quite. ") + reply.reply
        _reply(said)


def _sketch(lesson: str, step: int, question: Sketch, given: str | None) -> None:
    key = f"sketch {lesson} {step}"
    drawn = None
    if given is not None and len(given) == len(question.labels) + 1:  # else it was drawn for another text
        drawn = fields.heights(given, question.top)

    def compare() -> None:
        heights = st.session_state[key]["drawn"]
        fields.answer(lesson, step, fields.drawn(map(float, heights), question.top))

    component("sketch", SOURCE)(
        key=key,
        data=payload(
            question.question,
            question.labels,
            drawn=drawn,
            truth=None if given is None else question.truth,
            top=question.top,
            unit=question.unit,
        ),
        on_drawn_change=compare,
    )
    if drawn is not None:
        _reply(question.reply(drawn))


def _reply(said: str) -> None:
    with st.container(key="reply"):
        st.markdown(worded(said), unsafe_allow_html=True)
