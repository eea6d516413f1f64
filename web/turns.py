"""Pages are drawn a few at a time, first come first served, so that all are drawn sooner; visitors who wait see it.

Threads that draw thirty pages at once fight for one interpreter and two cores, and each of them is late.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model_zoo import tracing
from model_zoo.fair_queue import FairQueue, ReportPlace, report_place
from viz.palette import DARK, LIGHT
from web.settings import settings

PAGES = FairQueue(settings().page_runs)

# Who waits no longer than this is told nothing: it would only flicker.
_SECONDS_UNTOLD = 0.7


@contextmanager
def turn() -> Iterator[None]:
    """Draw what is inside the block when it is this visitor's turn. While it waits, here or inside the block for an
    answer, a note says how many are before; a newer action of the same visitor, or leaving, ends the waiting.
    """
    note = st.empty()  # also where it stays empty: else what a fragment draws alone would stand one place further down
    if PAGES.held_here:  # a fragment that is drawn with its page
        yield
        return
    token, number = report_place.set(_teller(note)), tracing.question_id.set(tracing.new_id())
    try:
        with PAGES.turn():
            yield
    finally:
        report_place.reset(token)
        tracing.question_id.reset(number)
    note.empty()


def _teller(note: DeltaGenerator) -> ReportPlace:
    begun: float | None = None
    last: int | None = None

    def tell(before: int) -> None:
        nonlocal begun, last
        begun = begun or time.monotonic()
        if before != last and time.monotonic() - begun > _SECONDS_UNTOLD:
            note.html(_note(before))
            last = before
        _let_go_if_over()

    return tell


def _let_go_if_over() -> None:
    """End this run of the script where Streamlit wants another or none: it looks whenever the session is read."""
    "desk" in st.session_state  # noqa: B015


def _note(before: int) -> str:
    """A note over the page that moves nothing on it."""
    theme = DARK if st.context.theme.type == "dark" else LIGHT
    words = "You are next." if before == 0 else f"{before} ahead of you."
    return (
        '<div role="status" style="position: fixed; bottom: 1rem; left: 50%; transform: translateX(-50%); z-index: 99; '
        f"padding: 0.5rem 1rem; border-radius: 0.6rem; border: 1px solid {theme.line}; background: {theme.surface}; "
        f'color: {theme.text}">Waiting for your turn. {words}</div>'
    )
