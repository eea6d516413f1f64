"""The button that empties the caches, and the code that it asks for."""

from __future__ import annotations

import hmac
import threading
import time
from collections.abc import Callable

import streamlit as st

from pages.status import words
from web.engine import engine
from web.monitoring import look
from web.process import process_cache
from web.settings import PREFIX, settings

_CODE = "status_code"
_OUTCOME = "cache_emptying_result"
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
                return f"A wrong code was typed. Try again in {self._next - now + 0.5:.0f} s."
            if hmac.compare_digest(typed.encode(errors="surrogatepass"), code.encode()):
                self._n_wrong = 0
                return None
            self._n_wrong += 1
            pause = min(2.0**self._n_wrong, _LONGEST_PAUSE)
            self._next = now + pause
            return f"Wrong code. Try again in {pause:.0f} s."


@process_cache()
def guard() -> Guard:
    return Guard()


def draw() -> None:
    st.header("Empty the caches")
    code = settings().status_code
    if settings().hosted and not code:
        st.caption(
            "The app is hosted, so its caches can only be emptied with a code, and none is set. Set "
            f"`{PREFIX}STATUS_CODE` in the environment, or `status_code` in `.streamlit/secrets.toml`, and restart it."
        )
        return
    st.caption(
        "Clears all cached answers and all models that nobody is using. Nobody loses what they typed; the next click "
        "takes a few seconds longer."
    )
    with st.form("empty the caches", clear_on_submit=True, border=False):
        if code:
            st.text_input("Code", type="password", key=_CODE, max_chars=200, autocomplete="off", width=280)
        st.form_submit_button("Empty the caches", on_click=_empty, icon=":material/cleaning_services:")
    done, sentence = st.session_state.pop(_OUTCOME, (False, ""))
    if done:
        st.success(sentence, icon=":material/check_circle:")
    elif sentence:
        st.warning(sentence, icon=":material/lock:")


def _empty() -> None:
    """Empty the caches; where a code is set, for who typed it alone."""
    code = settings().status_code
    refusal = guard().refusal(st.session_state[_CODE], code) if code else None
    if refusal is not None:
        st.session_state[_OUTCOME] = False, refusal
        return
    before = look()
    engine().close()
    st.session_state[_OUTCOME] = True, words.freed(before, look())
