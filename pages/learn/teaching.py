"""Answers in a room: a teacher's are put aside while there is one, and a student's come from the room until the teacher
reveals the answer. Rooms themselves are in classroom/.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import streamlit as st

from classroom import session
from classroom.rooms import Display, RoomsUnreachable, Snapshot
from classroom.session import HOME, ROOM, visit
from classroom.stores import rooms
from model_zoo.errors import InvalidInput
from pages.learn import fields
from pages.learn.fields import ANSWERS, FOLLOWED, LESSON, SHOWN, STEP
from pages.learn.lessons import LESSONS
from ui.widgets import HEAD, LAYER, MODEL, PAIR, TEXT

_ABOUT: Final = (TEXT, PAIR, MODEL, LAYER, HEAD, FOLLOWED, LESSON, STEP)
_BEFORE, _REVEALED, _VOTES = "answers_before_room", "revealed_in_room", "votes_question"


def _display() -> Display | None:
    """What the room of this visitor displays; None outside of any, and before it displays anything."""
    snapshot = visit().snapshot
    return snapshot.display if snapshot else None


def follows() -> bool:
    """Whether this visitor sees the lessons as a room displays them, with nothing to change."""
    display = _display()
    return session.follows() and (display is None or display.page == HOME)


def teaches() -> bool:
    """Whether this visitor leads a room."""
    return visit().led is not None


def question_name(lesson: str, step: int) -> str:
    """What a room calls the question of a step (from 1)."""
    return f"{lesson}.{step}" if lesson else ""


def begin() -> None:
    """Answers as the room has them; called once per run, before anything is drawn."""
    if teaches():
        if _BEFORE not in st.session_state:  # a teacher who has tried the lessons at home would reveal them all
            st.session_state[_BEFORE] = ANSWERS.value
            fields.keep({})
        if visit().syncing:
            _sync()
    elif _BEFORE in st.session_state:  # they are back, beside those that were given in the room
        in_room = fields.answers()
        ANSWERS.value = st.session_state.pop(_BEFORE)
        fields.keep(fields.answers() | in_room)
    if follows():
        _begin_to_follow()


def _sync() -> None:
    """What another device of the teacher, or this one before it was loaded again, has revealed."""
    snapshot = visit().snapshot
    if snapshot is None or snapshot.display is None:
        return
    mine = fields.answers()
    steps = [(name, step) for name, lesson in LESSONS.items() for step in range(1, len(lesson.steps) + 1)]
    fields.keep({step: mine.get(step, SHOWN) for step in steps if question_name(*step) in snapshot.revealed})
    st.session_state[_VOTES] = snapshot.display.question if snapshot.display.votes else ""


def _begin_to_follow() -> None:
    snapshot = visit().snapshot
    if snapshot is None:
        return
    if snapshot.display is None:
        fields.go("")
        return
    lesson, step = LESSON.value, STEP.value
    if snapshot.display.revealed and st.session_state.get(_REVEALED) != (ROOM.value, snapshot.version):
        st.session_state[_REVEALED] = ROOM.value, snapshot.version
        fields.answer(lesson, step, _recorded(lesson, step) or SHOWN)


def put_aside(answers: Mapping[tuple[str, int], str]) -> None:
    """Answers that come while there is a room, and are not of it."""
    now = fields.answers()
    ANSWERS.value = st.session_state.get(_BEFORE, ())
    fields.keep({**answers, **fields.answers()})
    st.session_state[_BEFORE] = ANSWERS.value
    fields.keep(now)


def show() -> None:
    """Display in the room that this visitor leads, if any, what is on the screen; called before it is drawn."""
    lesson, step = LESSON.value, STEP.value
    question = question_name(lesson, step)
    if st.session_state.get(_VOTES) != question:  # hidden again on the next step
        st.session_state[_VOTES] = ""
    revealed = bool(question) and (lesson, step) in fields.answers()
    votes = bool(question) and st.session_state[_VOTES] == question
    session.show(HOME, _ABOUT, question, revealed=revealed, votes=votes)


def draw_waiting() -> None:
    """What a student sees before there is a step to follow."""
    if visit().snapshot is not None and (_display() is None or not LESSON.value):
        st.info("No lesson is open in this room yet. It will open here automatically.", icon=":material/hourglass_top:")


# ---- answers ----------------------------------------------------------------------------------------------------


def find_answer(lesson: str, step: int) -> str | None:
    """What this visitor has answered to a step (from 1); None for nothing."""
    held_back = follows() and not revealed(lesson, step)
    return _recorded(lesson, step) if held_back else fields.answers().get((lesson, step))


def _recorded(lesson: str, step: int) -> str | None:
    with suppress(InvalidInput, RoomsUnreachable):  # which the next run says
        return rooms().find_answer(ROOM.value, visit().visitor, question_name(lesson, step))
    return None


def revealed(lesson: str, step: int) -> bool:
    """Whether the answer to a step is seen: alone when one has answered, in a room when the teacher has."""
    if not follows():
        return (lesson, step) in fields.answers()
    display = _display()
    return display is not None and display.revealed and display.question == question_name(lesson, step)


def answer(lesson: str, step: int, answer: str) -> None:
    """Keep an answer; one in a room counts there. For the callback of a widget."""
    session.cancel_sync()
    with session.say_failures():
        if follows() and not revealed(lesson, step):
            session.answer(question_name(lesson, step), answer)
        else:
            fields.answer(lesson, step, answer)


def shows_votes(lesson: str, step: int) -> bool:
    """Whether it is seen in the room how many have given which answer to a step."""
    if teaches():
        return st.session_state.get(_VOTES) == question_name(lesson, step)
    display = _display()
    return follows() and display is not None and display.votes and display.question == question_name(lesson, step)


def show_votes(lesson: str, step: int, on: bool) -> None:
    """Let the class see, or not any more, how many have given which answer. For the callback of a widget."""
    session.cancel_sync()
    st.session_state[_VOTES] = question_name(lesson, step) if on else ""


def look_at_room() -> Snapshot:
    """The room that this visitor is in, as it is now. Raises InvalidInput if it has ended."""
    led = visit().led
    return rooms().see(ROOM.value if led is None else led.code)


def ask_again(lesson: str, step: int) -> None:
    """Hide the answer to a step again, so that it is asked anew. For the callback of a widget."""
    session.cancel_sync()
    fields.keep({place: answer for place, answer in fields.answers().items() if place != (lesson, step)})
