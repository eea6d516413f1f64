"""A question and its answers: chosen or drawn before the model's own is shown, each with an answer of its own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import isfinite
from typing import Literal

import numpy as np
import streamlit as st

from model_zoo.types import counted
from pages.learn import fields, teaching
from pages.learn.lesson import Choice, Sketch
from ui import figures, room
from ui.component import component, on_component_event
from ui.glossary import plain, worded
from viz.bars import bars
from viz.sketch import SOURCE, payload
from web.rooms import Seen


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
    votes = teaching.shows_votes(lesson, step)
    if teaching.teaches():
        st.button(
            "Hide votes" if votes else "Show votes",
            key="show votes",
            type="tertiary",
            icon=":material/bar_chart:",
            help="Let everybody see how many have given which answer. Hidden again on the next step.",
            on_click=teaching.show_votes,
            args=(lesson, step, not votes),
        )
    if isinstance(question, Sketch) and (teaching.teaches() or votes):
        room.live(_drawings)(lesson, step, question, votes)


def _choice(lesson: str, step: int, question: Choice, given: str | None, revealed: bool) -> None:
    if teaching.teaches():
        room.live(_counted)(lesson, step, question, given, teaching.shows_votes(lesson, step))
    elif teaching.shows_votes(lesson, step):
        _with_votes(lesson, step, question, given, revealed, teaching.now().counts)
    else:
        for place in range(len(question.options)):
            _option(lesson, step, question, place, given, revealed)
    chosen = _place(given)
    answer = question.options[chosen] if chosen is not None and chosen < len(question.options) else None
    if not revealed:
        return
    right = answer is not None and answer.right
    said = "Right." if right else f"The right answer is: {plain(question.options[question.right].text)}"
    # What changes in buttons no screen reader tells by itself.
    st.markdown(f'<span role="alert" class="heard">{said}</span>', unsafe_allow_html=True)
    if answer is not None:
        _reply(("Right. " if right else "Not quite. ") + answer.reply)


def _place(given: str | None) -> int | None:
    """That of the option that was chosen, from 0."""
    return int(given) - 1 if given is not None and given.isdigit() else None


def _option(lesson: str, step: int, question: Choice, place: int, given: str | None, revealed: bool) -> None:
    option, is_chosen = question.options[place], place == _place(given)
    label, mark = option.text, None
    kind: Literal["primary", "secondary", "tertiary"] = "primary" if is_chosen else "secondary"
    if revealed and (option.right or is_chosen):
        whose = "your answer, " if is_chosen else ""
        label += f" · **{whose}{'right' if option.right else 'wrong'}**"
        # The right one is filled; a wrong one has a border of its own (see learn.css).
        mark, kind = (":material/check_circle:", "primary") if option.right else (":material/cancel:", "tertiary")
    st.button(
        label,
        key=f"option {place + 1}",
        icon=mark,
        type=kind,
        width="stretch",
        on_click=teaching.answer,
        args=(lesson, step, str(place + 1)),
    )


def _counted(lesson: str, step: int, question: Choice, given: str | None, votes: bool) -> None:
    """The options for a teacher, and how many have answered."""
    if teaching.given(lesson, step) != given:  # by a click here, which draws this alone
        st.rerun()
    now = teaching.now()
    if votes:
        _with_votes(lesson, step, question, given, given is not None, now.counts)
    else:
        for place in range(len(question.options)):
            _option(lesson, step, question, place, given, given is not None)
    _n_answers(now)


def _with_votes(
    lesson: str, step: int, question: Choice, given: str | None, revealed: bool, counts: Mapping[str, int]
) -> None:
    """The options, with how many students have chosen each."""
    found = [counts.get(str(place + 1), 0) for place in range(len(question.options))]
    for place, n in enumerate(found):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"counted {place + 1}"):
            _option(lesson, step, question, place, given, revealed)
            width, said = 3 * n / max(sum(found), 1), f"{n} of {counted(sum(found), 'answer')}"
            bar = f'<i style="width: {width:.2f}rem"></i><b>{n}</b>'
            st.html(f'<div class="count" role="img" aria-label="{said}" title="{said}">{bar}</div>', width=88)


def _n_answers(now: Seen) -> None:
    n = counted(sum(now.counts.values()), "answer")
    st.caption(f"{n} from {counted(now.n_present, 'student')} in the room.")


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
        on_drawn_change=on_component_event(key, "drawn", partial(_drawn, lesson, step, question)),
    )
    if revealed and heights is not None:
        _reply(question.reply(heights))


def _heights(question: Sketch, given: str | None) -> tuple[float, ...] | None:
    """The heights of an answer; None for one that was not drawn over these labels."""
    if given is None or not given.startswith("d") or len(given) != len(question.labels) + 1:
        return None
    return fields.heights(given, question.top)


def _drawings(lesson: str, step: int, question: Sketch, votes: bool) -> None:
    """How many have drawn, and the mean of it once that is to be seen."""
    now = teaching.now()
    _n_answers(now)
    found = [
        heights
        for given, n in now.counts.items()
        if (heights := _heights(question, given)) is not None
        for _ in range(n)
    ]
    if votes and found:
        means = [float(np.mean(column)) for column in zip(*found, strict=True)]
        written = ".0%" if question.unit == "%" else ".2f"
        figure = partial(bars, question.labels, [("class mean", means)], top=question.top, written=written)
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
