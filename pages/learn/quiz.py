"""A question and its answers: chosen or drawn before the model's own is shown, each with an answer of its own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import isfinite
from typing import Literal

import numpy as np
import streamlit as st

from classroom.rooms import Snapshot
from classroom.widgets import live
from model_zoo.types import counted
from pages.learn import fields, teaching
from pages.learn.lesson import Choice, Sketch
from ui import figures
from ui.component import component, on_component_event
from ui.glossary import link_terms, strip_terms
from viz.bars import bars
from viz.sketch import SOURCE, payload


def draw(lesson: str, step: int, question: Choice | Sketch) -> None:
    """The question of a step (from 1) and what is said to the answer that was given."""
    answer, revealed = teaching.find_answer(lesson, step), teaching.revealed(lesson, step)
    st.markdown(link_terms(f"**{question.question}**"), unsafe_allow_html=True)
    if isinstance(question, Choice):
        _choice(lesson, step, question, answer, revealed)
    else:
        _sketch(lesson, step, question, answer, revealed)
    if answer is not None and not revealed:
        st.caption("Recorded. You can still change it until your teacher shows the answer.")
    votes = teaching.shows_votes(lesson, step)
    if teaching.teaches():
        st.button(
            "Hide votes" if votes else "Show votes",
            key="show-votes",
            type="tertiary",
            icon=":material/bar_chart:",
            help="Let everybody see how many have given which answer. Hidden again on the next step.",
            on_click=teaching.show_votes,
            args=(lesson, step, not votes),
        )
    if isinstance(question, Sketch) and (teaching.teaches() or votes):
        live(_drawings)(lesson, step, question, votes)


def _choice(lesson: str, step: int, question: Choice, value: str | None, revealed: bool) -> None:
    votes = teaching.shows_votes(lesson, step)
    if teaching.teaches():
        live(_counted)(lesson, step, question, value, votes)
    else:
        counts = teaching.look_at_room().counts if votes else None
        _options(lesson, step, question, value, revealed, counts)
    chosen = _place(value)
    answer = question.options[chosen] if chosen is not None and chosen < len(question.options) else None
    if not revealed:
        return
    right = answer is not None and answer.right
    verdict = "Right." if right else f"The right answer is: {strip_terms(question.options[question.right].text)}"
    # What changes in buttons no screen reader tells by itself.
    st.markdown(f'<span role="alert" class="heard">{verdict}</span>', unsafe_allow_html=True)
    if answer is not None:
        _reply(("Right. " if right else "Not quite. ") + answer.reply)


def _place(answer: str | None) -> int | None:
    """That of the option that was chosen, from 0."""
    return int(answer) - 1 if answer is not None and answer.isdigit() else None


def _option(lesson: str, step: int, question: Choice, place: int, answer: str | None, revealed: bool) -> None:
    option, is_chosen = question.options[place], place == _place(answer)
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


def _counted(lesson: str, step: int, question: Choice, answer: str | None, votes: bool) -> None:
    """The options for a teacher, and how many have answered."""
    if teaching.find_answer(lesson, step) != answer:  # by a click here, which draws this alone
        st.rerun()
    now = teaching.look_at_room()
    _options(lesson, step, question, answer, answer is not None, now.counts if votes else None)
    _n_answers(now)


def _options(
    lesson: str, step: int, question: Choice, answer: str | None, revealed: bool, counts: Mapping[str, int] | None
) -> None:
    """The options; with ``counts`` of the answers, how many students have chosen each."""
    votes = [0 if counts is None else counts.get(str(place + 1), 0) for place in range(len(question.options))]
    for place, n in enumerate(votes):
        if counts is None:
            _option(lesson, step, question, place, answer, revealed)
            continue
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"counted {place + 1}"):
            _option(lesson, step, question, place, answer, revealed)
            width, label = 3 * n / max(sum(votes), 1), f"{n} of {counted(sum(votes), 'answer')}"
            bar = f'<i style="width: {width:.2f}rem"></i><b>{n}</b>'
            st.html(f'<div class="count" role="img" aria-label="{label}" title="{label}">{bar}</div>', width=88)


def _n_answers(now: Snapshot) -> None:
    n = counted(sum(now.counts.values()), "answer")
    st.caption(f"{n} from {counted(now.n_present, 'student')} in the room.")


def _sketch(lesson: str, step: int, question: Sketch, answer: str | None, revealed: bool) -> None:
    # An answer from a link may have been one to another text, or none that was drawn.
    heights = _heights(question, answer)
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


def _heights(question: Sketch, answer: str | None) -> tuple[float, ...] | None:
    """The heights of an answer; None for one that was not drawn over these labels."""
    if answer is None or not answer.startswith("d") or len(answer) != len(question.labels) + 1:
        return None
    return fields.heights(answer, question.top)


def _drawings(lesson: str, step: int, question: Sketch, votes: bool) -> None:
    """How many have drawn, and the mean of it once that is to be seen."""
    now = teaching.look_at_room()
    _n_answers(now)
    drawings = [
        heights
        for answer, n in now.counts.items()
        if (heights := _heights(question, answer)) is not None
        for _ in range(n)
    ]
    if votes and drawings:
        means = [float(np.mean(column)) for column in zip(*drawings, strict=True)]
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


def _reply(text: str) -> None:
    with st.container(key="reply"):
        st.markdown(link_terms(text), unsafe_allow_html=True)
