"""What a teacher and a student see of their room on every page: who is there, the way in, and the way out."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

import segno
import streamlit as st

from classroom import session
from classroom.rooms import RoomsUnreachable, Snapshot
from classroom.session import HOME, ROOM, LedRoom, follows, visit
from classroom.stores import rooms
from model_zoo.errors import InvalidInput
from model_zoo.types import counted
from ui import browser
from ui.messages import as_text, caption, fragment, say
from ui.page import Companion
from ui.widgets import popover
from web import local_network
from web.paths import start
from web.process import process_cache

SECONDS_BETWEEN_LOOKS: Final = 2.0
_TYPED: Final = "room_code"


def companion() -> Companion:
    """What the class has to do with every page."""
    return Companion(
        (ROOM,),
        lambda page: session.begin(page.name, page.all_fields, bound=page.body is not None),
        lambda page: status_line(page.name),
        lambda page: session.show(page.name, page.all_fields),
    )


def live(draw: Callable[..., None]) -> Callable[..., Any]:
    """A part of the page that is drawn again and again by itself; all of the page, if the room has ended."""

    def drawn(*args: Any) -> None:
        try:
            draw(*args)
        except RoomsUnreachable as error:
            caption(str(error))
        except InvalidInput:
            st.rerun()

    return fragment(drawn, run_every=SECONDS_BETWEEN_LOOKS)


def status_line(page: str) -> None:
    """The line above a page in a room: for a student whose room it is, and a way out; for a teacher, who is there. The
    page of the lessons has its own place for what a teacher needs.
    """
    place = st.empty()  # also if it stays empty: else all that is below would be another element
    if follows():
        with place.container(horizontal=True, vertical_alignment="center", gap="small", key="room"):
            live(_look)(ROOM.value, visit().snapshot)
            st.button("Leave", key="leave-the-room", icon=":material/logout:", type="tertiary", on_click=session.leave)
    elif visit().led is not None:
        with place.container(horizontal=True, vertical_alignment="center", gap="small", key="room-led"):
            if page != HOME:
                teacher_menu()
            live(_look_at_others)(page != HOME)


def _look(code: str, before: Snapshot | None) -> None:
    """A student's line; the page is drawn again when the room displays something else."""
    rooms().note_present(code, visit().visitor)
    now = rooms().see(code)
    votes = now.display is not None and now.display.votes
    if before is None or now.version != before.version or (votes and now.counts != before.counts):
        st.rerun()
    was_unled, visit().unled = visit().unled, not now.led
    line = f":material/cast_for_education: You are in room **{code}**."
    if now.display is not None and now.display.question and not now.display.revealed:
        line += f" {counted(sum(now.counts.values()), 'answer')} so far."
    if not now.led:
        line += " **Your teacher has left; you can go on by yourself:** press “Leave”, or wait here."
    elif was_unled:
        st.toast("Your teacher is here.", icon=":material/cast_for_education:")
    st.markdown(line, width="content")


def _look_at_others(with_count: bool) -> None:
    """A teacher's line, ``with_count`` of the students; the page is drawn again when another teacher of the room
    displays something else.
    """
    led = visit().led
    if led is None:
        return
    now = rooms().see(led.code)
    if led.version not in (None, now.version) and now.display is not None:
        visit().syncing = True
        st.rerun()
    if with_count:
        caption(f"{counted(now.n_present, 'student')} in the room.")


# ---- the teacher's room -----------------------------------------------------------------------------------------


def teacher_menu() -> None:
    """What a teacher needs: a room to start, or its code and link, and how many are there."""
    led = visit().led
    with popover(f"Room {led.code}" if led else "Teach", ":material/cast_for_education:", "teach"):
        if led is None:
            _offer()
        else:
            _draw_room(led)


def _offer() -> None:
    st.markdown(
        "Start a room and your class can follow along: students see your sentence and your step on their own "
        "screens, and you see how they answer. Nobody is asked for a name."
    )
    started = visit().started
    offered = visit().offered or (started.ticket if started else "")
    if offered:
        code = offered.partition(".")[0]
        st.markdown(f"This browser has led room **{code}**, which is still open.")
        st.button(f"Lead room {code} again", icon=":material/replay:", on_click=session.resume, args=(offered,))
    label = "Start a room"
    if started:
        st.markdown(f"A new room ends room **{started.code}**: you can lead one at a time.")
        label = f"End room {started.code} and start a new one"
    st.button(label, type="primary", icon=":material/cast_for_education:", on_click=session.start, args=(started,))


def _draw_room(led: LedRoom) -> None:
    url = _browser_url()
    base = _base(url)
    link = f"{base}{HOME}?{ROOM.name}={led.code}"
    code, picture = st.columns(2)
    with code, st.container(key="room-code"):
        st.markdown(f"**{led.code}**")
        say(link.partition("://")[2] or link)
    with picture:
        st.html(f'<img class="qr" alt="QR code of the link to the room" src="{_qr(link)}">')
    st.markdown("Students scan the picture, open this link, or type the code on the page Learn.")
    _warn_of_loopback(url)
    browser.copy_link({ROOM.name: led.code}, key="room-link", base=base, page=HOME)
    live(_draw_count)(led)
    caption(
        "They see what you see, and the answer to a question once you answer it or press “Show the answer”. Your own "
        "answers so far are set aside until you end the room."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        browser.copy_link({}, key="key-link", base=base, page=HOME, hash=f"teach={led.link}", label="Copy key link")
        caption(
            "Your key link: opens this room as its teacher on another device, such as your phone. Whoever has it can "
            "lead the room, so keep it to yourself."
        )
    st.button("End the room", icon=":material/stop:", on_click=session.say_failures()(session.end), args=(led,))


def _draw_count(led: LedRoom) -> None:
    n, noun = counted(rooms().see(led.code).n_present, "student").split()
    st.markdown(f"**{n}** {noun} in the room")


def _browser_url() -> str:
    """The address that the browser has opened; "" if what it says is none."""
    url = str(st.context.url or "")
    with suppress(ValueError):  # no port, no number of a computer
        parts = urlsplit(url)
        if re.match(r"https?:", url) and re.fullmatch(r"[\w.:-]{1,253}", parts.hostname or "") and parts.port != 0:
            return url
    return ""


def _base(url: str) -> str:
    """The address of the app as students reach it, which ends with a slash."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if local_network.is_loopback(host) and local_network.listens_to_others():
        host = local_network.network_address() or host
    return f"{parts.scheme}://{_netloc(host, parts.port)}{start()}" if url else start()


def _warn_of_loopback(url: str) -> None:
    parts = urlsplit(url)
    if not local_network.is_loopback(parts.hostname or ""):
        return
    outside = local_network.network_address()
    warning = f"You have opened the app as {parts.hostname}, an address that works on this computer alone. "
    if outside is None:
        warning += "This computer is not in a network that others could reach it through."
    elif local_network.listens_to_others():
        warning += f"The link above has its address in your network, {outside}, for devices in the same network."
    else:
        warning += (
            "The app answers this computer alone, too: for a class, start it with --server.address=0.0.0.0 and open it "
            f"at {_netloc(outside, parts.port)}."
        )
    st.warning(as_text(warning), icon=":material/wifi_off:")


def _netloc(host: str, port: int | None) -> str:
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{port}" if port else host


@process_cache(most=200)  # the rooms that there may be
def _qr(link: str) -> str:
    return str(segno.make(link, error="m", micro=False).svg_data_uri(scale=8, border=3, light="white"))


# ---- the way in -------------------------------------------------------------------------------------------------


def join_menu() -> None:
    """A button that opens the form for a room's code."""
    with popover("Join a room", ":material/login:"):
        code_form()


def code_form() -> None:
    """A form for the code of a room, as it was read from a board."""
    with st.form("join a room", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Room code", key=_TYPED, width=180)
        st.form_submit_button("Join", type="primary", on_click=_join)


def _join() -> None:
    session.join("".join(filter(str.isprintable, st.session_state[_TYPED])).strip().upper())
