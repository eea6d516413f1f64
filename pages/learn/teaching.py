"""Answers in a room: a teacher's are put aside while there is one, and a student's come from the room until the teacher
reveals the answer. Rooms themselves are in ui/room.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import streamlit as st

from model_zoo.errors import InvalidInput
from pages.learn import fields
from pages.learn.fields import ANSWERS, FOLLOWED, LESSON, SHOWN, STEP
from pages.learn.lessons import LESSONS
from ui import room
from ui.widgets import HEAD, LAYER, MODEL, PAIR, TEXT
from web.room_stores import rooms
from web.rooms import RoomsUnreachable, Seen

_ABOUT: Final = (TEXT, PAIR, MODEL, LAYER, HEAD, FOLLOWED, LESSON, STEP)
_BEFORE, _TOLD, _VOTES = "answers from before the room", "what of a room was told", "question whose votes are shown"


def follows() -> bool:
    """Whether this visitor sees the lessons as a room shows them, with nothing to change."""
    now = room.seen()
    return room.follows() and (now is None or now.shown is None or now.shown.page == room.HOME)


def teaches() -> bool:
    """Whether this visitor leads a room."""
    return room.leads() is not None


def question(lesson: str, step: int) -> str:
    """What a room calls the question of a step (from 1)."""
    return f"{lesson}.{step}" if lesson else ""


def begin() -> None:
    """Answers as the room has them; called once a run, before anything is drawn."""
    if teaches():
        if _BEFORE not in st.session_state:  # a teacher who has tried the lessons at home would reveal them all
            st.session_state[_BEFORE] = ANSWERS.value
            fields.keep({})
        if room.adopts():
            _adopt()
    elif _BEFORE in st.session_state:  # they are back, beside those that were given in the room
        given = fields.answers()
        ANSWERS.value = st.session_state.pop(_BEFORE)
        fields.keep(fields.answers() | given)
    if follows():
        _begin_to_follow()


def _adopt() -> None:
    """What another device of the teacher, or this one before it was loaded again, has revealed."""
    now = room.seen()
    if now is None or now.shown is None:
        return
    mine = fields.answers()
    fields.keep(
        {
            (name, step): mine.get((name, step), SHOWN)
            for name, lesson in LESSONS.items()
            for step in range(1, len(lesson.steps) + 1)
            if question(name, step) in now.revealed
        }
    )
    st.session_state[_VOTES] = now.shown.question if now.shown.votes else ""


def _begin_to_follow() -> None:
    now = room.seen()
    if now is None:
        return
    if now.shown is None:
        fields.go("")
        return
    lesson, step = LESSON.value, STEP.value
    if now.shown.revealed and st.session_state.get(_TOLD) != (room.ROOM.value, now.version):
        st.session_state[_TOLD] = room.ROOM.value, now.version
        fields.answer(lesson, step, _recorded(lesson, step) or SHOWN)


def put_aside(found: Mapping[tuple[str, int], str]) -> None:
    """Answers that come while there is a room, and are not of it."""
    now = fields.answers()
    ANSWERS.value = st.session_state.get(_BEFORE, ())
    fields.keep({**found, **fields.answers()})
    st.session_state[_BEFORE] = ANSWERS.value
    fields.keep(now)


def show() -> None:
    """Show in the room that this visitor leads, if any, what is on the screen; called before it is drawn."""
    lesson, step = LESSON.value, STEP.value
    asked = question(lesson, step)
    if st.session_state.get(_VOTES) != asked:  # hidden again on the next step
        st.session_state[_VOTES] = ""
    revealed = bool(asked) and (lesson, step) in fields.answers()
    room.show(room.HOME, _ABOUT, asked, revealed=revealed, votes=bool(asked) and st.session_state[_VOTES] == asked)


def following() -> None:
    """Draw what a student sees before there is a step to follow."""
    now = room.seen()
    if now is not None and (now.shown is None or not LESSON.value):
        st.info("No lesson is open in this room yet. It will open here automatically.", icon=":material/hourglass_top:")


# ---- answers ----------------------------------------------------------------------------------------------------


def given(lesson: str, step: int) -> str | None:
    """What this visitor has answered to a step (from 1); None for nothing."""
    held_back = follows() and not revealed(lesson, step)
    return _recorded(lesson, step) if held_back else fields.answers().get((lesson, step))


def _recorded(lesson: str, step: int) -> str | None:
    with suppress(InvalidInput, RoomsUnreachable):  # which the next run says
        return rooms().given(room.ROOM.value, room.visitor(), question(lesson, step))
    return None


def revealed(lesson: str, step: int) -> bool:
    """Whether the answer to a step is seen: alone when one has answered, in a room when the teacher has."""
    if not follows():
        return (lesson, step) in fields.answers()
    now = room.seen()
    return now is not None and now.shown is not None and now.shown.revealed and _is_shown(lesson, step)


def _is_shown(lesson: str, step: int) -> bool:
    """Whether the room shows this step."""
    now = room.seen()
    return now is not None and now.shown is not None and now.shown.question == question(lesson, step)


def answer(lesson: str, step: int, answer: str) -> None:
    """Keep an answer; one in a room counts there. For the callback of a widget."""
    room.acted()
    with room.failures_told():
        if follows() and not revealed(lesson, step):
            room.answer(question(lesson, step), answer)
        else:
            fields.answer(lesson, step, answer)


def shows_votes(lesson: str, step: int) -> bool:
    """Whether it is seen in the room how many have given which answer to a step."""
    if teaches():
        return st.session_state.get(_VOTES) == question(lesson, step)
    now = room.seen()
    return follows() and now is not None and now.shown is not None and now.shown.votes and _is_shown(lesson, step)


def show_votes(lesson: str, step: int, on: bool) -> None:
    """Let the class see, or not any more, how many have given which answer. For the callback of a widget."""
    room.acted()
    st.session_state[_VOTES] = question(lesson, step) if on else ""


def now() -> Seen:
    """The room that this visitor is in, as it is now. Raises InvalidInput where it has ended."""
    lead = room.leads()
    return rooms().see(room.ROOM.value if lead is None else lead.code)


def ask_again(lesson: str, step: int) -> None:
    """Hide the answer to a step again, so that it is asked anew. For the callback of a widget."""
    room.acted()
    fields.keep({each: answer for each, answer in fields.answers().items() if each != (lesson, step)})
