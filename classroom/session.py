"""What one visitor has to do with rooms: the room they lead or follow, what it displays, what their browser keeps.

A teacher who leads a room displays the page on the screen there, by the fields of its address; several may lead one,
and each follows the others. A student is brought to what the room displays whenever that is something else.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from classroom.rooms import Display, RoomsUnreachable, Snapshot
from classroom.stores import rooms
from classroom.teachers import TEACHERS
from model_zoo.errors import InvalidInput
from ui import address
from ui.appearance import PRESENT
from ui.component import component, on_component_event
from ui.field import Field, pattern
from ui.messages import as_text
from viz.component import linked

HOME: Final = "learn"
"""The page of the lessons, which the link to a room opens."""

ROOM: Field[str] = Field("room", "", pattern("[A-Z2-9]{4,8}", "is not the code of a room.", empty=True), shared=False)

_VISIT: Final = "classroom"
_MOST_ENDED: Final = 10
_TICKET: Final = re.compile(r"([A-Z2-9]{4,8})\.([\w-]{1,64})(\.shared)?", re.ASCII)
_SCRIPT: Final = {"html": "<i hidden></i>", "css": "", "js": linked(Path(__file__).with_name("room.js"))}


@dataclass(frozen=True, slots=True)
class LedRoom:
    """The room that a visitor leads, and what was displayed there last from here or taken over from another teacher.
    ``version`` is that of the room since then; None while it is not known that the room has stored it. A room that is
    ``shared`` is one to which a teacher's key link has led.
    """

    code: str
    key: str
    shared: bool = False
    version: int | None = None
    display: Display | None = None

    @property
    def ticket(self) -> str:
        """What the browser keeps of it."""
        return f"{self.code}.{self.key}{'.shared' * self.shared}"

    @property
    def link(self) -> str:
        """What a teacher's key link holds."""
        return replace(self, shared=True).ticket


@dataclass(slots=True)
class Visit:
    """What a session remembers of rooms."""

    visitor: str = field(default_factory=lambda: secrets.token_hex(8))
    """Tells this visitor from others in a room, and nothing else."""
    led: LedRoom | None = None
    started: LedRoom | None = None
    """The room that this visitor has started."""
    offered: str = ""
    """The ticket of a room that this browser has led in another tab."""
    ended: tuple[str, ...] = ()
    """Tickets of rooms that are over, the last few."""
    answered: set[str] = field(default_factory=set)
    """The codes of the rooms in which this visitor has answered."""
    snapshot: Snapshot | None = None
    """What the room of this visitor displayed when this run began; None outside of any."""
    applied: tuple[str, int] | None = None
    """Code and version of the display that was taken over last from a room that is followed."""
    syncing: bool = False
    """Whether this run takes over what another teacher of the same room displays."""
    unled: bool = False
    """Whether the room had no teacher at the last look."""
    serial: int = 0
    """The number of the last report of the browser."""
    message: str = ""
    """What the next run says."""


def visit() -> Visit:
    """What this session remembers of rooms."""
    if _VISIT not in st.session_state:
        st.session_state[_VISIT] = Visit()
    remembered: Visit = st.session_state[_VISIT]
    return remembered


def follows() -> bool:
    """Whether this visitor is in a room that somebody else leads."""
    return bool(ROOM.value)


def answer(question: str, answer: str) -> None:
    """Answer in the room that is followed."""
    visit().answered.add(ROOM.value)
    rooms().answer(ROOM.value, visit().visitor, question, answer)


def _rename(name: str) -> None:
    """Be another visitor from now on: one who has a name has no answers under a former one."""
    for code in {ROOM.value, *visit().answered}:
        with suppress(InvalidInput):  # which has ended, or is none
            rooms().forget(code, visit().visitor)
    visit().visitor = name


def _session_id() -> str:
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


# ---- once per run -----------------------------------------------------------------------------------------------


def begin(page: str, fields: Collection[Field[Any]], *, bound: bool) -> None:
    """Bring whoever is in a room to what it displays, and let them go if it has ended; before anything is drawn. On a
    page that is ``bound`` a student sees what the room displays and nothing else.
    """
    led = visit().led
    if led is None and not follows():
        visit().snapshot = None
    try:
        if led is not None:
            _begin_to_lead(led, page, fields)
        if follows():
            _begin_to_follow(page, fields, bound)
    except RoomsUnreachable as error:
        visit().message = str(error)
    _mount_script()
    if visit().message:
        st.toast(as_text(visit().message), icon=":material/link_off:", duration="infinite")
        visit().message = ""


def _begin_to_lead(led: LedRoom, page: str, fields: Collection[Field[Any]]) -> None:
    if led.code == ROOM.value:  # a teacher does not follow
        ROOM.value = ""
    try:
        snapshot = rooms().see(led.code)
    except InvalidInput:
        release(led)
        visit().message = f"Your room {led.code} has ended."
        return
    visit().snapshot = snapshot
    rooms().note_present(led.code, visit().visitor, teaches=True)
    if _session_id():
        TEACHERS.add(_session_id(), led.code, visit().visitor)
    if snapshot.display is None or _is_changed_here(led, page, fields):
        visit().syncing = False
    elif visit().syncing:
        visit().led = replace(led, version=snapshot.version)
        _take_over(snapshot.display, page, fields)


def _is_changed_here(led: LedRoom, page: str, fields: Collection[Field[Any]]) -> bool:
    """Whether this visitor has just changed what was displayed: that comes before what another teacher displays."""
    display = led.display
    return display is not None and (
        page != display.page or any(display.about.get(field.name, field.written) != field.written for field in fields)
    )


def cancel_sync() -> None:
    """What this visitor has just done comes before what another teacher of the room displays, or what it displayed
    before this teacher's browser came back. For the callback of a widget.
    """
    visit().syncing = False


def _begin_to_follow(page: str, fields: Collection[Field[Any]], bound: bool) -> None:
    code = ROOM.value
    try:
        snapshot = rooms().see(code)
    except InvalidInput as error:
        ROOM.value, visit().message = "", str(error)
        return
    rooms().note_present(code, visit().visitor)
    visit().snapshot = snapshot
    is_new = visit().applied != (code, snapshot.version)
    visit().applied = code, snapshot.version
    if snapshot.display is not None and (is_new or (bound and snapshot.display.page == page)):
        _take_over(snapshot.display, page, fields)


def _take_over(display: Display, page: str, fields: Collection[Field[Any]]) -> None:
    """Set the fields of what is displayed, and go to its page. What cannot be read stays as it is."""
    known = {field.name: field for field in (fields if display.page == page else address.fields_of(display.page))}
    for name, text in display.about.items():
        with suppress(ValueError, KeyError):  # a control in which nothing is chosen; another version of the app
            address.put({known[name]: known[name].codec.read(text)})
    if display.page != page and known:
        st.switch_page(address.path(display.page))


def show(
    page: str, fields: Iterable[Field[Any]], question: str = "", *, revealed: bool = False, votes: bool = False
) -> None:
    """Display in the room that this visitor leads, if any, what is on the screen. Raises InvalidInput for what is too
    long.
    """
    led = visit().led
    if led is None or follows():
        return
    about = {field.name: field.written for field in fields if not field.stays and field not in (ROOM, PRESENT)}
    display = Display(page, about, question, revealed, votes)
    if visit().syncing:
        visit().led, visit().syncing = replace(led, display=display), False
    elif display != led.display or led.version is None:
        # First, since this run may be ended between the two by a newer one, which then displays it again.
        visit().led = replace(led, version=None, display=display)
        with suppress(RoomsUnreachable):  # which is said already; the next run tries again
            version = rooms().show(led.code, led.key, display)
            visit().led = replace(led, version=version, display=display)


# ---- what the browser keeps -------------------------------------------------------------------------------------


def _mount_script() -> None:
    key, led = "room-script", visit().led
    data = {
        "session": _session_id(),
        "heard": visit().serial,
        "visitor": visit().visitor if follows() else "",
        "led": led.ticket if led else "",
        "over": list(visit().ended),
    }
    component("room", _SCRIPT)(key=key, data=data, on_kept_change=on_component_event(key, "kept", on_browser_report))


def on_browser_report(report: object) -> None:
    """Use what the browser knows, which may be anything: the visitor's name in rooms, the room that this tab has led or
    a link opens, or one that was led in another tab.
    """
    if not isinstance(report, Mapping):
        return
    serial = report.get("serial")
    visit().serial = serial if isinstance(serial, int) else 0
    name, resumed, offered = (str(report.get(key, "")) for key in ("visitor", "lead", "offer"))
    with suppress(RoomsUnreachable):
        if re.fullmatch(r"[0-9a-f]{16}", name) and name != visit().visitor:
            _rename(name)
        if resumed:
            resume(resumed)
        elif offered and _find_room(offered):
            visit().offered = offered


def _find_room(ticket: str) -> LedRoom | None:
    """The room of a ticket; None if there is none, which the browser is told."""
    match = _TICKET.fullmatch(ticket)
    if match is None:
        return None
    room = LedRoom(match[1], match[2], shared=bool(match[3]))
    if not rooms().holds(room.code, room.key):
        _note_ended(ticket)
        return None
    if not room.shared and visit().started is None:
        visit().started = room
    return room


def _note_ended(ticket: str) -> None:
    visit().ended = tuple(dict.fromkeys((*visit().ended, ticket)))[-_MOST_ENDED:]


def resume(ticket: str) -> None:
    """Lead a room again, or from another device, as it is now. For the callback of a widget."""
    with say_failures():
        room = _find_room(ticket)
        if room is None:
            raise InvalidInput("There is no such room, or it has ended. Start a new one with “Teach”.")
        visit().offered = ""
        visit().led, visit().syncing = room, True
        ROOM.value = ""


# ---- rooms that begin and end -----------------------------------------------------------------------------------


@contextmanager
def say_failures() -> Iterator[None]:
    """Let the next run say what went wrong: the page would draw over a message of a callback."""
    try:
        yield
    except (InvalidInput, RoomsUnreachable) as error:
        visit().message = str(error)


def start(before: LedRoom | None) -> None:
    """Start a room in place of the one ``before``, if any, unless this visitor has started another one since."""
    with say_failures():
        if before == visit().started:
            if before:
                end(before)
            visit().led = visit().started = LedRoom(*rooms().open())
            ROOM.value = ""


def end(room: LedRoom) -> None:
    """End a room, and lead none."""
    with suppress(InvalidInput):  # which has ended by itself
        rooms().end(room.code, room.key)
    release(room)


def release(room: LedRoom) -> None:
    """Lead no room any more; this one is over."""
    _note_ended(room.ticket)
    started = visit().started
    if started and started.code == room.code:
        visit().started = None
    visit().led, visit().syncing, visit().offered = None, False, ""
    TEACHERS.remove(_session_id())


def join(code: str) -> None:
    """Follow the room of this code. For the callback of a widget."""
    with say_failures():
        rooms().see(code)
        ROOM.value = code


def leave() -> None:
    """Follow no room any more. For the callback of a widget."""
    with suppress(RoomsUnreachable):
        rooms().note_left(ROOM.value, visit().visitor)
    ROOM.value = ""
