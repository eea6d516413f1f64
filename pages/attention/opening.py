"""Opening a head in the view "All heads" from a view that found it."""

from __future__ import annotations

import streamlit as st

from pages.attention.fields import SHOWN_VIEW
from ui import HEAD, LAYER

_OPENED = "a head was opened from another view"


def open_head(layer: int, head: int) -> None:
    """Open a head, layer and head from 0; a callback of a widget."""
    LAYER.value, HEAD.value = layer + 1, head + 1
    SHOWN_VIEW.value = "grid"
    st.session_state[_OPENED] = True


def go_there() -> None:
    """What a view that calls ``open_head`` draws first: the view is chosen outside the part of the page that has just
    run.
    """
    if st.session_state.pop(_OPENED, False):
        st.rerun(scope="app")
