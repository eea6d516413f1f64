"""The words of the text to click on, and beside them a view's controls: what views about masks begin with."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.masked_words.fields import MASKS, WORDS
from pages.masked_words.scene import Scene
from ui import widgets


def row(scene: Scene, *, switch: bool = True) -> DeltaGenerator:
    """The words, and the line of controls beside them, which begins with the ``switch`` between words and tokens; a
    model without masks has no such words.
    """
    if scene.causal:
        st.caption("This model has no mask. It guesses what comes next from what came before, never from what follows.")
        return widgets.controls()
    controls = scene.ask_words(scene.units, MASKS)
    if switch:
        with controls:
            whole()
    return controls


def whole() -> None:
    """Whether a word is one or its pieces are."""
    st.toggle(
        "Whole words",
        **WORDS.bound,
        help="When on, a word made of several tokens counts as one; when off, each token stands by itself.",
    )
