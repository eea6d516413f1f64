"""A room in which a class follows its teacher, on every page: who leads it or follows it, what it shows, the way in.

A teacher who leads a room shows the page on the screen there, by the fields of its address; several may lead one, and
each follows the others. A student is brought to what the room shows whenever that is something else. What answers are,
and when they are seen, the lessons say (pages/learn/teaching.py).
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

import segno
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from model_zoo.errors import InvalidInput
from model_zoo.types import counted
from ui import address, browser
from ui.appearance import PRESENT
from ui.field import Field, pattern
from ui.messages import as_text, caption, fragment, say
from ui.widgets import popover
from web import local_network
from web.leading import LEADERS
from web.paths import start
from web.process import kept
from web.room_stores import rooms
from web.rooms import RoomsUnreachable, Seen, Shown

SECONDS_BETWEEN_LOOKS: Final = 2.0
HOME: Final = "learn"
"""The page of the lessons, which the link to a room opens."""

ROOM: Field[str] = Field("room", "", pattern("[A-Z2-9]{4,8}", "is not the code of a room.", empty=True))

_VISITOR, _LEADS, _SEEN = "visitor of rooms", "room that is led", "what the room shows in this run"
_TAKEN, _ADOPTS = "what of a room was taken over last", "another teacher of the room has shown something else"
_OVER, _OFFERED = "rooms that are over", "room that this browser has led"
_MOST_OVER = 10
_OWN, _ANSWERED = "room that this visitor has started", "rooms in which this visitor has answered"
_HEARD = "what the browser told last of rooms"
_TYPED, _SAID, _UNLED = "code of a room", "what is to be said of a room", "room without its teacher"

_TICKET: Final = re.compile(r"([A-Z2-9]{4,8})\.([\w-]{1,64})(\.shared)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Lead:
    """The room that a visitor leads, and what was shown there last from here or taken over from another teacher.
    ``version`` is that of the room since then; None while it is not known that the room has taken it. A room that is
    ``shared`` is one to which a teacher's own link has led.
    """

    code: str
    key: str
    shared: bool = False
    version: int | None = None
    shown: Shown | None = None

    @property
    def ticket(self) -> str:
        """What the browser keeps of it."""
        return f"{self.code}.{self.key}{'.shared' * self.shared}"

    @property
    def link(self) -> str:
        """What a teacher's own link holds."""
        return replace(self, shared=True).ticket


def follows() -> bool:
    """Whether this visitor is in a room that somebody else leads."""
    return bool(ROOM.value)


def leads() -> Lead | None:
    """The room that this visitor leads, if any."""
    found: Lead | None = st.session_state.get(_LEADS)
    return found


def seen() -> Seen | None:
    """What the room of this visitor showed when this run began, or when it answered last; None outside of any."""
    found: Seen | None = st.session_state.get(_SEEN)
    return found


def adopts() -> bool:
    """Whether this run takes over what another teacher of the same room shows."""
    return _ADOPTS in st.session_state


def visitor() -> str:
    """Tells this visitor from others in a room, and nothing else."""
    found: str = st.session_state.setdefault(_VISITOR, secrets.token_hex(8))
    return found


def answer(question: str, answer: str) -> None:
    """Answer in the room that is followed."""
    st.session_state.setdefault(_ANSWERED, set()).add(ROOM.value)
    rooms().answer(ROOM.value, visitor(), question, answer)


def _rename(name: str) -> None:
    """Be another visitor from now on: one who has a name has no answers under a former one."""
    for code in {ROOM.value, *st.session_state.get(_ANSWERED, ())}:
        with suppress(InvalidInput):  # which has ended, or is none
            rooms().forget(code, visitor())
    st.session_state[_VISITOR] = name


# ---- once a run -------------------------------------------------------------------------------------------------


def begin(page: str, fields: Collection[Field[Any]], *, bound: bool) -> None:
    """Bring who is in a room to what it shows, and let them go where it has ended; before anything is drawn. On a page
    that is ``bound`` a student sees what the room shows and nothing else.
    """
    lead = leads()
    if lead is None and not follows():
        st.session_state.pop(_SEEN, None)
    try:
        if lead is not None:
            _begin_to_lead(lead, page, fields)
        if follows():
            _begin_to_follow(page, fields, bound)
    except RoomsUnreachable as error:
        st.session_state[_SAID] = str(error)
    _tell_the_browser()
    said = st.session_state.pop(_SAID, None)
    if said is not None:
        st.toast(as_text(said), icon=":material/link_off:", duration="infinite")


def _begin_to_lead(lead: Lead, page: str, fields: Collection[Field[Any]]) -> None:
    if lead.code == ROOM.value:  # a teacher does not follow
        ROOM.value = ""
    try:
        found = rooms().see(lead.code)
    except InvalidInput:
        _let_go(lead, f"Your room {lead.code} has ended.")
        return
    st.session_state[_SEEN] = found
    rooms().here(lead.code, visitor(), teaches=True)
    context = get_script_run_ctx()
    if context is not None:
        LEADERS.lead(context.session_id, lead.code, visitor())
    if found.shown is None or _is_changed_here(lead, page, fields):
        st.session_state.pop(_ADOPTS, None)
    elif adopts():
        st.session_state[_LEADS] = replace(lead, version=found.version)
        _take_over(found.shown, page, fields)


def _is_changed_here(lead: Lead, page: str, fields: Collection[Field[Any]]) -> bool:
    """Whether this visitor has just changed what was shown: that comes before what another teacher shows."""
    shown = lead.shown
    if shown is None:
        return False
    return page != shown.page or any(shown.about.get(each.name, each.written) != each.written for each in fields)


def acted() -> None:
    """What this visitor has just done comes before what another teacher of the room shows, or what it showed before
    this teacher's browser came back. For the callback of a widget.
    """
    st.session_state.pop(_ADOPTS, None)


def _begin_to_follow(page: str, fields: Collection[Field[Any]], bound: bool) -> None:
    code = ROOM.value
    try:
        found = rooms().see(code)
    except InvalidInput as error:
        ROOM.value, st.session_state[_SAID] = "", str(error)
        return
    rooms().here(code, visitor())
    st.session_state[_SEEN] = found
    is_new = st.session_state.get(_TAKEN) != (code, found.version)
    st.session_state[_TAKEN] = code, found.version
    if found.shown is not None and (is_new or (bound and found.shown.page == page)):
        _take_over(found.shown, page, fields)


def _take_over(shown: Shown, page: str, fields: Collection[Field[Any]]) -> None:
    """Set the fields of what is shown, and go to its page. What cannot be read stays as it is."""
    known = {field.name: field for field in (fields if shown.page == page else address.fields_of(shown.page))}
    for name, text in shown.about.items():
        with suppress(ValueError, KeyError):  # a control in which nothing is chosen; another version of the app
            address.put({known[name]: known[name].codec.read(text)})
    if shown.page != page and known:
        st.switch_page(address.path(shown.page))


def show(
    page: str, fields: Iterable[Field[Any]], question: str = "", *, revealed: bool = False, votes: bool = False
) -> None:
    """Show in the room that this visitor leads, if any, what is on the screen. Raises InvalidInput for what is too
    long.
    """
    lead = leads()
    if lead is None or follows():
        return
    about = {field.name: field.written for field in fields if not field.stays and field not in (ROOM, PRESENT)}
    mine = Shown(page, about, question, revealed, votes)
    if st.session_state.pop(_ADOPTS, False):
        st.session_state[_LEADS] = replace(lead, shown=mine)
    elif mine != lead.shown or lead.version is None:
        # First, since this run may be ended between the two by a newer one, which then shows it again.
        st.session_state[_LEADS] = replace(lead, version=None, shown=mine)
        with suppress(RoomsUnreachable):  # which is said already; the next run tries again
            version = rooms().show(lead.code, lead.key, mine)
            st.session_state[_LEADS] = replace(lead, version=version, shown=mine)


# ---- what the browser keeps -------------------------------------------------------------------------------------


def _tell_the_browser() -> None:
    lead = leads()
    context = get_script_run_ctx()
    browser.room(
        {
            "session": context.session_id if context else "",
            "heard": st.session_state.get(_HEARD, 0),
            "visitor": visitor() if follows() else "",
            "led": lead.ticket if lead else "",
            "over": st.session_state.get(_OVER, []),
        },
        _told,
    )


def _told(kept: object) -> None:
    """What the browser knows, which may be anything: the visitor's name in rooms, the room that this tab has led or a
    link opens, or one that was led in another tab.
    """
    if not isinstance(kept, Mapping):
        return
    serial = kept.get("serial")
    st.session_state[_HEARD] = serial if isinstance(serial, int) else 0
    name, resumed, offered = (str(kept.get(each, "")) for each in ("visitor", "lead", "offer"))
    with suppress(RoomsUnreachable):
        if re.fullmatch(r"[0-9a-f]{16}", name) and name != visitor():
            _rename(name)
        if resumed:
            resume(resumed)
        elif offered and _held(offered):
            st.session_state[_OFFERED] = offered


def _held(ticket: str) -> Lead | None:
    """The room of a ticket; None where there is none, which the browser is told."""
    match = _TICKET.fullmatch(ticket)
    if match is None:
        return None
    lead = Lead(match[1], match[2], shared=bool(match[3]))
    if not rooms().holds(lead.code, lead.key):
        _note_over(ticket)
        return None
    if not lead.shared:
        st.session_state.setdefault(_OWN, lead)
    return lead


def _note_over(ticket: str) -> None:
    """The browser is told that this room is over; of many, the last."""
    st.session_state[_OVER] = [*dict.fromkeys((*st.session_state.get(_OVER, ()), ticket))][-_MOST_OVER:]


def resume(ticket: str) -> None:
    """Lead a room again, or from another device, as it is now. For the callback of a widget."""
    with failures_told():
        lead = _held(ticket)
        if lead is None:
            raise InvalidInput("There is no such room, or it has ended. Start a new one with “Teach”.")
        st.session_state.pop(_OFFERED, None)
        st.session_state[_LEADS], st.session_state[_ADOPTS] = lead, True
        ROOM.value = ""


@contextmanager
def failures_told() -> Iterator[None]:
    """Let the next run say what went wrong: the page would draw over a message of a callback."""
    try:
        yield
    except (InvalidInput, RoomsUnreachable) as error:
        st.session_state[_SAID] = str(error)


# ---- the line of who is in a room ---------------------------------------------------------------------------------


def live(draw: Callable[..., None]) -> Callable[..., Any]:
    """A part of the page that is drawn again and again by itself; all of it, where the room has ended."""

    def drawn(*args: Any) -> None:
        try:
            draw(*args)
        except RoomsUnreachable as error:
            caption(str(error))
        except InvalidInput:
            st.rerun()

    return fragment(drawn, run_every=SECONDS_BETWEEN_LOOKS)


def query() -> dict[str, str]:
    """The parameters of the address that restores the page on screen, without its room."""
    return {name: value for name, value in address.query().items() if name != ROOM.name}


def link() -> str:
    """That address, from the server's name on; "" where the server does not know it."""
    return address.full_url(query())


def line(*, own: bool) -> None:
    """What stands above a page in a room: for a student whose room it is, and a way out; for a teacher, who is there.
    ``own``: the page has a place of its own for what a teacher needs.
    """
    place = st.empty()  # also where it stays empty: else all that is below would be another element
    if follows():
        with place.container(horizontal=True, vertical_alignment="center", gap="small", key="room"):
            live(_look)(ROOM.value, seen())
            st.button("Leave", key="leave the room", icon=":material/logout:", type="tertiary", on_click=_leave)
    elif leads() is not None:
        with place.container(horizontal=True, vertical_alignment="center", gap="small", key="room led"):
            if not own:
                draw()
            live(_look_at_others)(own)


def _look(code: str, before: Seen | None) -> None:
    """The line itself; the page is drawn again when the room shows something else."""
    rooms().here(code, visitor())
    now = rooms().see(code)
    if before is None or now.version != before.version or (_shows_votes(now) and now.counts != before.counts):
        st.rerun()
    was_unled, st.session_state[_UNLED] = st.session_state.get(_UNLED, False), not now.led
    said = f":material/cast_for_education: You are in room **{code}**."
    if now.shown is not None and now.shown.question and not now.shown.revealed:
        said += f" {counted(sum(now.counts.values()), 'answer')} so far."
    if not now.led:
        said += " **Your teacher has left; you can go on by yourself:** press “Leave”, or wait here."
    elif was_unled:
        st.toast("Your teacher is here.", icon=":material/cast_for_education:")
    st.markdown(said, width="content")


def _shows_votes(now: Seen) -> bool:
    return now.shown is not None and now.shown.votes


def _look_at_others(own: bool) -> None:
    """How many students there are, unless the page has a place of its ``own`` for that; the page is drawn again when
    another teacher of the room shows something else.
    """
    lead = leads()
    if lead is None:
        return
    now = rooms().see(lead.code)
    if lead.version not in (None, now.version) and now.shown is not None:
        st.session_state[_ADOPTS] = True
        st.rerun()
    if not own:
        caption(f"{counted(now.n_present, 'student')} in the room.")


def _leave() -> None:
    with suppress(RoomsUnreachable):
        rooms().gone(ROOM.value, visitor())
    ROOM.value = ""


# ---- the teacher's room -----------------------------------------------------------------------------------------


def draw() -> None:
    """Draw what a teacher needs: a room to start, or its code and link, and how many are there."""
    lead = leads()
    with popover(f"Room {lead.code}" if lead else "Teach", ":material/cast_for_education:", "teach"):
        if lead is None:
            _offer()
        else:
            _room(lead)


def _offer() -> None:
    st.markdown(
        "Start a room and your class can follow along: students see your sentence and your step on their own "
        "screens, and you see how they answer. Nobody is asked for a name."
    )
    own: Lead | None = st.session_state.get(_OWN)
    offered: str = st.session_state.get(_OFFERED, own.ticket if own else "")
    if offered:
        code = offered.partition(".")[0]
        st.markdown(f"This browser has led room **{code}**, which is still open.")
        st.button(f"Lead room {code} again", icon=":material/replay:", on_click=resume, args=(offered,))
    start = "Start a room"
    if own:
        st.markdown(f"A new room ends room **{own.code}**: you can lead one at a time.")
        start = f"End room {own.code} and start a new one"
    st.button(start, type="primary", icon=":material/cast_for_education:", on_click=_start, args=(own,))


def _start(own: Lead | None) -> None:
    """Start a room in place of the ``own`` one, if any; not where another one than that was heard of since."""
    with failures_told():
        if own == st.session_state.get(_OWN):
            if own:
                _end(own)
            st.session_state[_LEADS] = st.session_state[_OWN] = Lead(*rooms().open())
            ROOM.value = ""


def _room(lead: Lead) -> None:
    url = _url()
    base = _base(url)
    link = f"{base}{HOME}?{ROOM.name}={lead.code}"
    code, picture = st.columns(2)
    with code, st.container(key="room code"):
        st.markdown(f"**{lead.code}**")
        say(link.partition("://")[2] or link)
    with picture:
        st.html(f'<img class="qr" alt="QR code of the link to the room" src="{_qr(link)}">')
    st.markdown("Students scan the picture, open this link, or type the code on the page Learn.")
    _warn_of_own_address(url)
    browser.copy_link({ROOM.name: lead.code}, key="link to the room", base=base, page=HOME)
    live(_present)(lead)
    caption(
        "They see what you see, and the answer to a question once you answer it or press “Show the answer”. Your own "
        "answers so far are set aside until you end the room."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        browser.copy_link(
            {}, key="link of the teacher", base=base, page=HOME, hash=f"teach={lead.link}", label="Copy key link"
        )
        caption(
            "Your key link: opens this room as its teacher on another device, such as your phone. Whoever has it can "
            "lead the room, so keep it to yourself."
        )
    st.button("End the room", icon=":material/stop:", on_click=failures_told()(_end), args=(lead,))


def _url() -> str:
    """The address that the browser has opened; "" where what it says is none."""
    url = str(st.context.url or "")
    with suppress(ValueError):  # no port, no number of a computer
        found = urlsplit(url)
        if re.match(r"https?:", url) and re.fullmatch(r"[\w.:-]{1,253}", found.hostname or "") and found.port != 0:
            return url
    return ""


def _base(url: str) -> str:
    """The address of the app as students reach it, which ends with a slash."""
    found = urlsplit(url)
    host = found.hostname or ""
    if local_network.is_loopback(host) and local_network.listens_to_others():
        host = local_network.own_address() or host
    return f"{found.scheme}://{_netloc(host, found.port)}{start()}" if url else start()


def _warn_of_own_address(url: str) -> None:
    found = urlsplit(url)
    if not local_network.is_loopback(found.hostname or ""):
        return
    outside = local_network.own_address()
    said = f"You have opened the app as {found.hostname}, an address that works on this computer alone. "
    if outside is None:
        said += "This computer is not in a network that others could reach it through."
    elif local_network.listens_to_others():
        said += f"The link above has its address in your network, {outside}, for devices in the same network."
    else:
        said += (
            "The app answers this computer alone, too: for a class, start it with --server.address=0.0.0.0 and open it "
            f"at {_netloc(outside, found.port)}."
        )
    st.warning(as_text(said), icon=":material/wifi_off:")


def _netloc(host: str, port: int | None) -> str:
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{port}" if port else host


@kept(most=200)  # the rooms that there may be
def _qr(link: str) -> str:
    return str(segno.make(link, error="m", micro=False).svg_data_uri(scale=8, border=3, light="white"))


def _present(lead: Lead) -> None:
    n, what = counted(rooms().see(lead.code).n_present, "student").split()
    st.markdown(f"**{n}** {what} in the room")


def _end(lead: Lead) -> None:
    with suppress(InvalidInput):  # which has ended by itself
        rooms().end(lead.code, lead.key)
    _let_go(lead)


def _let_go(lead: Lead, said: str | None = None) -> None:
    _note_over(lead.ticket)
    own: Lead | None = st.session_state.get(_OWN)
    for key in (_LEADS, _ADOPTS, _OFFERED, *([_OWN] if own and own.code == lead.code else [])):
        st.session_state.pop(key, None)
    context = get_script_run_ctx()
    if context is not None:
        LEADERS.stop(context.session_id)
    if said is not None:
        st.session_state[_SAID] = said


# ---- the way in -------------------------------------------------------------------------------------------------


def join() -> None:
    """Draw where a code is typed, behind a button."""
    with popover("Join a room", ":material/login:"):
        code()


def code() -> None:
    """Draw where a code is typed that was read from a board."""
    with st.form("join a room", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Room code", key=_TYPED, width=180)
        st.form_submit_button("Join", type="primary", on_click=_join)


def _join() -> None:
    typed = "".join(filter(str.isprintable, st.session_state[_TYPED])).strip().upper()
    with failures_told():
        rooms().see(typed)
        ROOM.value = typed
