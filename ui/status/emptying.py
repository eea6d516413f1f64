"""The button that empties the caches, and the code that it asks for."""

from __future__ import annotations

import hmac
import threading
import time
from collections.abc import Callable

import streamlit as st

from ui.engine import engine
from ui.monitoring import look
from ui.settings import PREFIX, settings
from ui.status import words

_CODE = "code of the page Status"
_LONGEST_PAUSE = 60.0


class Guard:
    """Tells whether a code is right. After each wrong one nobody can try for a while, twice as long every time: many
    tabs guess no faster than one.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._n_wrong = 0
        self._next = float("-inf")

    def refusal(self, typed: str, code: str) -> str | None:
        """Why this was not accepted, in a sentence; None for the right code."""
        with self._lock:
            now = self._clock()
            if now < self._next:
                return f"Somebody typed a wrong code. Try again in {self._next - now + 0.5:.0f} s."
            if hmac.compare_digest(typed.encode(), code.encode()):
                self._n_wrong = 0
                return None
            self._n_wrong += 1
            pause = min(2.0**self._n_wrong, _LONGEST_PAUSE)
            self._next = now + pause
            return f"That is not the code. Try again in {pause:.0f} s."


@st.cache_resource(show_spinner=False)
def guard() -> Guard:
    return Guard()


def draw() -> None:
    st.subheader("Empty the caches")
    code = settings().status_code
    if settings().hosted and not code:
        st.caption(
            "The app is hosted, so its caches can only be emptied with a code, and none is set. Set "
            f"`{PREFIX}STATUS_CODE` in the environment, or `status_code` in `.streamlit/secrets.toml`, and restart it."
        )
        return
    st.caption(
        "Forgets every answer, and every model that nobody is using. Nobody loses what they typed; the next click "
        "takes a few seconds longer."
    )
    typed = ""
    with st.form("empty the caches", clear_on_submit=True, border=False):
        if code:
            typed = st.text_input("Code", type="password", key=_CODE, max_chars=200, autocomplete="off")
        pressed = st.form_submit_button("Empty the caches", icon=":material/cleaning_services:")
    if not pressed:
        return
    refusal = guard().refusal(typed, code) if code else None
    if refusal:
        st.warning(refusal, icon=":material/lock:")
        return
    before = look()
    engine().close()
    st.success(words.freed(before, look()), icon=":material/check_circle:")
