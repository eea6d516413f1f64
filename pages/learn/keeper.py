"""What outlasts a visit to the lessons, in the visitor's browser and never on the server: answers, place, sentence."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import streamlit as st

from pages.learn import fields, teaching
from pages.learn.fields import ANSWERS, LESSON, STEP
from pages.learn.lessons import LESSONS
from ui import PAIR, TEXT, address, browser

_PLACE = "lesson_open_last"
_NAMED = "lesson_address_has_text"
_TAKEN = "lesson_state_taken"


def begin() -> None:
    """Remember what is open; called once a run, before anything is drawn or the address is written."""
    st.session_state.setdefault(_NAMED, bool({TEXT.name, PAIR.name} & set(st.query_params)))
    if LESSON.value and not fields.looks():
        st.session_state[_PLACE] = LESSON.value, min(STEP.value, len(LESSONS[LESSON.value].steps))


def keep() -> None:
    """Keep what there is now, and take once what was kept before; called once a run, when all is drawn."""
    lesson, step = place() or ("", 1)
    browser.keep(
        {"answers": ANSWERS.written, "lesson": lesson, "step": step, "text": TEXT.value, "pair": PAIR.value},
        _TAKEN in st.session_state,
        _take,
    )


def place() -> tuple[str, int] | None:
    """The lesson and the step (from 1) that were open or answered last, but for what was only looked up; None before
    the first.
    """
    answered = list(_answers(ANSWERS.written))
    last: tuple[str, int] | None = st.session_state.get(_PLACE, answered[-1] if answered else None)
    return last


def forget() -> None:
    """No answers, and no place to go on from."""
    fields.keep({})
    st.session_state.pop(_PLACE, None)


def _take(kept: object) -> None:
    """Add what was kept to what the address said, which comes first; once, though the browser may give it again. What
    cannot be used is ignored.
    """
    if _TAKEN in st.session_state:
        return
    st.session_state[_TAKEN] = True
    if not isinstance(kept, Mapping):
        return
    saved = {name: str(value).encode(errors="ignore").decode() for name, value in kept.items()}
    kept_answers = _answers(saved.get("answers", ""))
    if teaching.teaches():
        teaching.put_aside(kept_answers)
    else:
        fields.keep(kept_answers | fields.answers())
    with suppress(ValueError):
        lesson, step = LESSON.codec.read(saved.get("lesson", "")), STEP.codec.read(saved.get("step", ""))
        if lesson:
            st.session_state.setdefault(_PLACE, (lesson, min(step, len(LESSONS[lesson].steps))))
    if "text" in saved and not st.session_state[_NAMED] and not fields.own_sentence():
        address.put({TEXT: saved["text"], PAIR: saved.get("pair", "")})


def _answers(written: str) -> dict[tuple[str, int], str]:
    """Read written answers, by lesson and step; those to steps that there are not are left out."""
    by_step = {}
    for entry in written.split(","):
        with suppress(ValueError):
            for item in ANSWERS.codec.read(entry):
                lesson, step, answer = item.split(".")
                if lesson in LESSONS and int(step) <= len(LESSONS[lesson].steps):
                    by_step[lesson, int(step)] = answer
    return by_step
