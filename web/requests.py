"""Requests of Streamlit's protocol that any browser may send and that would reach beyond the visitor who sends them."""

from __future__ import annotations

from streamlit.runtime.app_session import AppSession

CLEAR_CACHE = "_handle_clear_cache_request"


def refuse() -> None:
    """From now on the request to empty Streamlit's caches, which are everybody's, does nothing.

    Raises AttributeError where Streamlit calls its handler something else.
    """
    getattr(AppSession, CLEAR_CACHE)
    setattr(AppSession, CLEAR_CACHE, lambda _session: None)
