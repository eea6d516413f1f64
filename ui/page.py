"""How every page begins: its title, what it is about, and what its address asks for."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from ui import notes, state
from ui.theme import is_dark
from viz.palette import DARK


def begin(title: str, about: str, fields: Sequence[state.Field] = ()) -> None:
    """First call of a page. ``fields`` are what its address holds."""
    _through_app()
    if is_dark():
        # Streamlit writes white on what is chosen in a list of many, which on this theme's light primary colour
        # nobody can read (2.3:1).
        st.html(f"<style>.stMultiSelect [data-tag] * {{ color: {DARK.background} }}</style>")
    st.title(title)
    st.markdown(about)
    notes.complaints(state.enter(title, fields))


def _through_app() -> None:
    """A fresh Streamlit that is first asked for a page's own address takes pages/ for an old-style app and runs
    the page's file without app.py. Tell it that this app has a router, and start over.
    """
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()
