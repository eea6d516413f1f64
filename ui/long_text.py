"""Texts that take a run of the model for every word: short ones at once, long ones when asked, with the time left."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import closing
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.field import Field
from ui.messages import as_text

Part = TypeVar("Part")

LONG = 128  # tokens; beyond, running every word takes seconds and waits to be asked for
_MINUTE = 90  # seconds; beyond, time left is said in minutes


def agreed(asked: Field[bool], n_tokens: int, what: str) -> bool:
    """Whether the runs may begin: those of a short text at once, those of a long one by a button that says ``what``
    it does.
    """

    def start() -> None:
        asked.value = True

    if n_tokens <= LONG or asked.value:
        return True
    st.button(as_text(what), on_click=start, type="primary", icon=":material/play_arrow:")
    st.caption("How long that takes is said once it has begun, and it can be stopped.")
    return False


def collected(asked: Field[bool], n_tokens: int, parts: Generator[Part, None, None], n_parts: int) -> list[Part]:
    """The parts of an answer, of which there are ``n_parts``. Those of a long text come with a bar that says how long
    the rest will take at the speed so far, and a button that stops. A click anywhere ends the wait between two parts;
    what the engine remembers need not be run again.
    """
    if n_tokens <= LONG:
        with st.spinner("Running the model …", show_time=True):
            return list(parts)

    def stop() -> None:
        asked.value = False

    found: list[Part] = []
    begun = time.monotonic()
    place = st.empty()
    with place.container(), closing(parts):
        bar = st.progress(0.0, "The first words are being run: that says how long the rest will take.")
        st.button("Stop", on_click=stop, icon=":material/stop:")
        for part in parts:
            found.append(part)
            done = len(found) / n_parts
            left = (time.monotonic() - begun) * (1 - done) / done
            _say(bar, min(done, 1.0), f"{done:.0%} done, about {duration(left)} left")
    place.empty()
    return found


def _say(bar: DeltaGenerator, share: float, words: str) -> None:
    bar.progress(share, words)


def duration(seconds: float) -> str:
    """A time as one says it: "40 s", "3 min"."""
    return f"{seconds / 60:.0f} min" if seconds > _MINUTE else f"{max(1, round(seconds))} s"
