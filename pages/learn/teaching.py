"""“Follow me”: a teacher starts a room, students open its link, see what the teacher shows, and their answers count.

Whoever is in a room has answers of their own elsewhere: a teacher's are put aside while there is a room, and a
student's come from the room until the teacher reveals the answer.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from model_zoo.errors import InvalidInput
from model_zoo.types import counted
from pages.learn import fields
from pages.learn.fields import ANSWERS, FOLLOWED, LESSON, ROOM, SHOWN, STEP
from pages.learn.live_sessions import Rooms, Shown
from ui import address, as_text, browser, fragment, say
from ui.widgets import HEAD, LAYER, MODEL, PAIR, TEXT, popover
from web.process import kept
from web.settings import settings

SECONDS_BETWEEN_LOOKS: Final = 2.0
_ABOUT = (TEXT, PAIR, MODEL, LAYER, HEAD, FOLLOWED)
_VISITOR, _TAUGHT = "visitor of rooms", "room that is taught"
_NOW, _TOLD = "what the room shows in this run", "what of a room was told"
_TYPED, _SAID = "code of a room", "what went wrong with a room"


@dataclass(frozen=True, slots=True)
class _Taught:
    """A teacher's room, and the answers that were there before it."""

    code: str
    key: str
    before: tuple[str, ...]


@kept()
def rooms() -> Rooms:
    """The rooms of this process."""
    return Rooms(settings().longest_text)


def follows() -> bool:
    """Whether this visitor follows a room."""
    return bool(ROOM.value)


def teaches() -> bool:
    """Whether this visitor has a room."""
    return _TAUGHT in st.session_state


def _mine() -> _Taught:
    """The room of a visitor who has one."""
    found: _Taught = st.session_state[_TAUGHT]
    return found


def begin() -> None:
    """Bring who follows a room to what it shows, and let them go where it has ended; called once a run, before anything
    is drawn.
    """
    if teaches():
        _begin_to_teach()
    if follows():
        _begin_to_follow()
    said = st.session_state.pop(_SAID, None)
    if said is not None:
        st.toast(as_text(said), icon=":material/link_off:", duration="infinite")


def _begin_to_follow() -> None:
    code = ROOM.value
    try:
        version, shown = rooms().state(code)
    except InvalidInput as error:
        ROOM.value, st.session_state[_SAID] = "", str(error)
        return
    st.session_state[_NOW] = version, shown
    if shown is None:
        fields.go("")
        return
    fields.go(shown.lesson, shown.step)
    for each in _ABOUT:
        with suppress(ValueError):  # a control in which nothing is chosen
            address.put({each: each.codec.read(shown.about[each.name])})
    if shown.revealed and st.session_state.get(_TOLD) != (code, version):
        st.session_state[_TOLD] = code, version
        fields.answer(shown.lesson, shown.step, _counted(shown.lesson, shown.step) or SHOWN)


def _begin_to_teach() -> None:
    mine = _mine()
    try:
        rooms().state(mine.code)
    except InvalidInput:
        _let_go(mine)
        st.session_state[_SAID] = f"Your room {mine.code} has ended."
        return
    if mine.code == ROOM.value:  # a teacher does not follow
        ROOM.value = ""


@contextmanager
def _failures_told() -> Iterator[None]:
    """Let the next run say what went wrong: the page would draw over a message of a callback."""
    try:
        yield
    except InvalidInput as error:
        st.session_state[_SAID] = str(error)


def show() -> None:
    """Show in this visitor's room, if there is one, what is on the screen; called once a run, before it is drawn."""
    if not teaches() or follows():
        return
    mine = _mine()
    step = (LESSON.value, STEP.value) if LESSON.value else ("", 1)
    about = {each.name: each.written for each in _ABOUT}
    rooms().show(mine.code, mine.key, Shown(*step, about, step in fields.answers()))


def live(draw: Callable[..., None]) -> Callable[..., Any]:
    """A part of the page that is drawn again and again by itself; all of it, where the room has ended."""

    def drawn(*args: Any) -> None:
        try:
            draw(*args)
        except InvalidInput:
            st.rerun()

    return fragment(drawn, run_every=SECONDS_BETWEEN_LOOKS)


def _visitor() -> str:
    """Tells this visitor from others in a room, and nothing else."""
    found: str = st.session_state.setdefault(_VISITOR, secrets.token_hex(8))
    return found


# ---- answers ----------------------------------------------------------------------------------------------------


def given(lesson: str, step: int) -> str | None:
    """What this visitor has answered to a step (from 1); None for nothing."""
    held_back = follows() and not revealed(lesson, step)
    return _counted(lesson, step) if held_back else fields.answers().get((lesson, step))


def _counted(lesson: str, step: int) -> str | None:
    with suppress(InvalidInput):  # the room has ended in this moment, which the next run says
        return rooms().given(ROOM.value, _visitor(), lesson, step)
    return None


def revealed(lesson: str, step: int) -> bool:
    """Whether the answer to a step is seen: alone when one has answered, in a room when the teacher has."""
    if not follows():
        return (lesson, step) in fields.answers()
    shown: Shown | None = st.session_state[_NOW][1]
    return shown is not None and (shown.lesson, shown.step, shown.revealed) == (lesson, step, True)


def answer(lesson: str, step: int, answer: str) -> None:
    """Keep an answer; one in a room counts there. For the callback of a widget."""
    with _failures_told():
        if follows() and not revealed(lesson, step):
            rooms().answer(ROOM.value, _visitor(), lesson, step, answer)
        else:
            fields.answer(lesson, step, answer)


def counts(lesson: str, step: int) -> Mapping[str, int]:
    """How many students have given each answer to a step in the room that this visitor has."""
    return rooms().counts(_mine().code, lesson, step)


def n_present() -> int:
    """How many students are in the room that this visitor has."""
    return rooms().n_present(_mine().code, _mine().key)


def ask_again(lesson: str, step: int) -> None:
    """Hide the answer to a step again, so that it is asked anew."""
    fields.keep({each: answer for each, answer in fields.answers().items() if each != (lesson, step)})


# ---- the teacher's room -----------------------------------------------------------------------------------------


def draw() -> None:
    """Draw what a teacher needs: a room to start, or its code and link, and how many are there."""
    mine: _Taught | None = st.session_state.get(_TAUGHT)
    with popover(f"Room {mine.code}" if mine else "Teach", ":material/cast_for_education:"):
        if mine is None:
            _offer()
        else:
            _room(mine)


def _offer() -> None:
    st.markdown(
        "Start a room and your class can follow along: students see your sentence and your step on their own "
        "screens, and you see how they answer. Nobody is asked for a name, and nothing is stored."
    )
    st.button("Start a room", type="primary", icon=":material/cast_for_education:", on_click=_start)


def _start() -> None:
    """The answers so far are put aside: a teacher who has tried the lessons at home would reveal them all."""
    with _failures_told():
        st.session_state[_TAUGHT] = _Taught(*rooms().open(), ANSWERS.value)
        fields.keep({})


def join() -> None:
    """Draw where a code is typed that was read from a board."""
    with popover("Join a room", ":material/login:"):
        st.text_input("Room code", key=_TYPED, on_change=_join, width=260)


def _join() -> None:
    typed = st.session_state[_TYPED].strip().upper()
    st.session_state[_TYPED] = ""
    with _failures_told():
        rooms().state(typed)
        ROOM.value = typed


def _room(mine: _Taught) -> None:
    where = (st.context.url or "").partition("?")[0].partition("://")[2]
    with st.container(key="room code"):
        st.markdown(f"**{mine.code}**")
        if where:
            say(f"{where}?{ROOM.name}={mine.code}")
    st.markdown("Students open this link or type the code on the page Learn.")
    browser.copy_link({ROOM.name: mine.code}, key="link to the room")
    live(_present)()
    st.caption(
        "They see what you see, and the answer to a question once you answer it or press “Show the answer”. Your own "
        "answers so far are set aside until you end the room."
    )
    st.button("End the room", icon=":material/stop:", on_click=_end)


def _present() -> None:
    n, what = counted(n_present(), "student").split()
    st.markdown(f"**{n}** {what} in the room")


def _end() -> None:
    mine = _mine()
    with suppress(InvalidInput):  # which has ended by itself
        rooms().end(mine.code, mine.key)
    _let_go(mine)


def _let_go(mine: _Taught) -> None:
    """The answers from before the room are back, beside those that were given in it."""
    now = fields.answers()
    ANSWERS.value = mine.before
    fields.keep(fields.answers() | now)
    del st.session_state[_TAUGHT]


# ---- the student ------------------------------------------------------------------------------------------------


def following() -> None:
    """Draw what a student sees above the step: whom one follows, and a way out."""
    code = ROOM.value
    version, shown = st.session_state[_NOW]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="room"):
        st.markdown(f":material/cast_for_education: You are in room **{code}**.", width="content")
        st.button("Leave", key="leave the room", icon=":material/logout:", type="tertiary", on_click=_leave)
    live(_look)(code, version)
    if shown is None or not shown.lesson:
        st.info("No lesson is open in this room yet. It will open here automatically.", icon=":material/hourglass_top:")


def _look(code: str, version: int) -> None:
    """Draw the page again when the room shows something else."""
    if rooms().look(code, _visitor()) != version:
        st.rerun()


def _leave() -> None:
    ROOM.value = ""
