"""Texts that take a run of the model for every word: short ones at once, long ones when asked, with the time left."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import closing
from typing import TypeVar

import streamlit as st

from model_zoo.types import duration
from ui.field import Field
from ui.messages import as_text

Piece = TypeVar("Piece")

LONG = 128  # tokens; beyond, running every word takes seconds and waits to be asked for
_AT_ONCE = 16  # words or tokens of a long text that are run between two looks at the bar
_A_RUN = 0.1  # seconds at least between the parts of one run and those of the next


def portions(n_tokens: int, n: int) -> list[range]:
    """The places of ``n`` words or tokens of a text, as many together as are run between two looks at the bar: all of a
    short text, and a few of a long one.
    """
    at_once = _AT_ONCE if n_tokens > LONG else max(n, 1)
    return [range(first, min(first + at_once, n)) for first in range(0, n, at_once)]


def may_run(requested: Field[bool], n_tokens: int, label: str) -> bool:
    """Whether the runs may begin: those of a short text at once, those of a long one by a button with this label."""

    def start() -> None:
        requested.value = True

    if n_tokens <= LONG or requested.value:
        return True
    st.button(as_text(label), on_click=start, type="primary", icon=":material/play_arrow:")
    st.caption("The remaining time appears once it starts, and you can stop it.")
    return False


def collect_parts(
    requested: Field[bool], n_tokens: int, parts: Generator[Piece, None, None], n_parts: int
) -> list[Piece]:
    """The parts of an answer, of which there are ``n_parts``. Those of a long text come with a bar that says how long
    the rest will take at the speed so far, and a button that stops. A click anywhere ends the wait between two parts;
    what the engine remembers need not be run again.
    """
    if n_tokens <= LONG:
        with st.spinner("Running the model …", show_time=True):
            return list(parts)

    def stop() -> None:
        requested.value = False

    collected: list[Piece] = []
    last = time.monotonic()
    n_runs, first = 0, (0, last)  # how many parts there were and when, as the first run whose speed counts began
    place = st.empty()
    with place.container(), closing(parts):
        bar = st.progress(0.0, "Estimating the time left.")
        st.button("Stop", on_click=stop, icon=":material/stop:")
        for part in parts:
            now = time.monotonic()
            if now - last >= _A_RUN:  # parts come in bunches, a run each, after those that the engine remembers
                n_runs += 1
                if n_runs == 2:  # of the first the engine hands out a single part, before the others
                    first = len(collected), last
                elif n_runs > 2:
                    seconds = (last - first[1]) / (len(collected) - first[0])
                    share, left = len(collected) / n_parts, duration((n_parts - len(collected)) * seconds)
                    bar.progress(share, f"{share:.0%} done, about {left} left")
            collected.append(part)
            last = now
    place.empty()
    return collected
