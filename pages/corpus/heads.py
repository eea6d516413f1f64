"""Opening a head that a view found, in the view "A head"."""

from __future__ import annotations

import streamlit as st

from pages.corpus.fields import SHOWN_VIEW
from ui.lit_words import choose

_OPENED = "a head was opened on Corpus"


def open_head(layer: int, head: int) -> None:
    """Open a head, layer and head from 0; a callback of a widget."""
    choose(layer, head)
    SHOWN_VIEW.value = "head"
    st.session_state[_OPENED] = True


def go_there() -> None:
    """What a view that calls ``open_head`` draws first: the view is chosen outside the part of the page that has just
    run.
    """
    if st.session_state.pop(_OPENED, False):
        st.rerun(scope="app")
