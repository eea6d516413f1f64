"""A question and its answers: chosen or drawn before the model's own is shown, each with an answer of its own."""

from __future__ import annotations

from math import isfinite

import numpy as np
import streamlit as st

from model_zoo.types import counted
from pages.learn import fields, teaching
from pages.learn.lesson import Choice, Sketch
from ui import figures, is_dark
from ui.component import component
from ui.glossary import worded
from viz.bars import bars
from viz.sketch import SOURCE, payload


def draw(lesson: str, step: int, question: Choice | Sketch) -> None:
    """The question of a step (from 1) and what is said to the answer that was given."""
    given, revealed = teaching.given(lesson, step), teaching.revealed(lesson, step)
    st.markdown(worded(f"**{question.question}**"), unsafe_allow_html=True)
    if isinstance(question, Choice):
        _choice(lesson, step, question, given, revealed)
    else:
        _sketch(lesson, step, question, given, revealed)
    if given is not None and not revealed:
        st.caption("Recorded. You can still change it until your teacher shows the answer.")
    elif not revealed and not teaching.follows():
        st.button(
            "Show the answer",
            key="show me",
            type="tertiary",
            icon=":material/visibility:",
            on_click=teaching.answer,
            args=(lesson, step, fields.SHOWN),
        )
    elif teaching.teaches():
        st.button(
            "Ask again",
            key="ask again",
            type="tertiary",
            icon=":material/visibility_off:",
            help="Hide the answer and count again.",
            on_click=teaching.ask_again,
            args=(lesson, step),
        )
    if isinstance(question, Sketch) and teaching.teaches():
        teaching.live(_drawings)(lesson, step, question)


def _choice(lesson: str, step: int, question: Choice, given: str | None, revealed: bool) -> None:
    if teaching.teaches():
        teaching.live(_counted)(lesson, step, question, given)
    else:
        for place in range(len(question.options)):
            _option(lesson, step, question, place, given, revealed)
    chosen = _place(given)
    if revealed and chosen is not None and chosen < len(question.options):
        reply = question.options[chosen]
        _reply(("Right. " if reply.right else "Not quite. ") + reply.reply)


def _place(given: str | None) -> int | None:
    """That of the option that was chosen, from 0."""
    return int(given) - 1 if given is not None and given.isdigit() else None


def _option(lesson: str, step: int, question: Choice, place: int, given: str | None, revealed: bool) -> None:
    option, is_chosen = question.options[place], place == _place(given)
    mark = None
    if revealed and option.right:
        mark = ":material/check_circle:"
    elif revealed and is_chosen:
        mark = ":material/cancel:"
    st.button(
        option.text,
        key=f"option {place + 1}",
        icon=mark,
        type="primary" if is_chosen else "secondary",
        width="stretch",
        on_click=teaching.answer,
        args=(lesson, step, str(place + 1)),
    )


def _counted(lesson: str, step: int, question: Choice, given: str | None) -> None:
    """The options for a teacher, with how many students have chosen each."""
    if teaching.given(lesson, step) != given:  # by a click here, which draws this alone
        st.rerun()
    counts = teaching.counts(lesson, step)
    found = [counts.get(str(place + 1), 0) for place in range(len(question.options))]
    for place, n in enumerate(found):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"counted {place + 1}"):
            _option(lesson, step, question, place, given, given is not None)
            width, said = 3 * n / max(sum(found), 1), f"{n} of {counted(sum(found), 'answer')}"
            bar = f'<i style="width: {width:.2f}rem"></i><b>{n}</b>'
            st.html(f'<div class="count" role="img" aria-label="{said}" title="{said}">{bar}</div>', width=88)
    _n_answers(sum(found))


def _n_answers(n: int) -> None:
    st.caption(f"{counted(n, 'answer')} from {counted(teaching.n_present(), 'student')} in the room.")


def _sketch(lesson: str, step: int, question: Sketch, given: str | None, revealed: bool) -> None:
    # An answer from a link may have been one to another text, or none that was drawn.
    heights = _heights(question, given)
    key = f"sketch {lesson} {step}"
    component("sketch", SOURCE)(
        key=key,
        data=payload(
            question.labels,
            heights,
            question.truth if revealed else None,
            top=question.top,
            unit=question.unit,
            kind=question.kind,
            done="Hand in" if teaching.follows() else "Compare with the model",
        ),
        on_drawn_change=lambda: _drawn(lesson, step, question, st.session_state[key]["drawn"]),
    )
    if revealed and heights is not None:
        _reply(question.reply(heights))


def _heights(question: Sketch, given: str | None) -> tuple[float, ...] | None:
    """The heights of an answer; None for one that was not drawn over these labels."""
    if given is None or not given.startswith("d") or len(given) != len(question.labels) + 1:
        return None
    return fields.heights(given, question.top)


def _drawings(lesson: str, step: int, question: Sketch) -> None:
    """The mean of what students have drawn, for their teacher."""
    found = [
        heights
        for given, n in teaching.counts(lesson, step).items()
        if (heights := _heights(question, given)) is not None
        for _ in range(n)
    ]
    _n_answers(len(found))
    if found:
        means = [float(np.mean(column)) for column in zip(*found, strict=True)]
        written = ".0%" if question.unit == "%" else ".2f"
        figure = bars(question.labels, [("class mean", means)], top=question.top, written=written, dark=is_dark())
        figures.show(figure, "what the class drew", f"learn-{lesson}-{step}-class")


def _drawn(lesson: str, step: int, question: Sketch, heights: object) -> None:
    """Keep what a browser says was drawn, which may be anything: heights for labels that are gone are none."""
    if (
        isinstance(heights, list)
        and len(heights) == len(question.labels)
        and all(isinstance(height, int | float) and isfinite(height) for height in heights)
    ):
        teaching.answer(lesson, step, fields.drawn(heights, question.top))


def _reply(said: str) -> None:
    with st.container(key="reply"):
        st.markdown(worded(said), unsafe_allow_html=True)
