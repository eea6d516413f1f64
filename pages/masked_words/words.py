"""The words of the text to click on, and beside them a view's controls: what views about masks begin with."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.masked_words.fields import MASKS, WORDS
from pages.masked_words.scene import Scene
from ui import widgets, word_strip


def row(scene: Scene, *, switch: bool = True) -> DeltaGenerator:
    """A click masks a word, another one unmasks it, and what stood there stays in view. Returns the line of controls
    beside them, which begins with the ``switch`` between words and tokens; a model without masks has no such words.
    """
    if scene.causal:
        st.caption("This model has no mask. It guesses what comes next from what came before, never from what follows.")
        return widgets.controls()

    def choose(clicked: list[int]) -> None:
        tokens = {token for place in clicked for token in range(scene.units[place].start, scene.units[place].stop)}
        MASKS.value = tuple(sorted(tokens - set(scene.typed)))

    shown = [place for place, unit in enumerate(scene.units) if scene.has_mask(unit)]
    with st.container(horizontal=True, vertical_alignment="top", gap="small", key="words"):
        word_strip.draw([unit.label for unit in scene.units], shown, "mask_strip", choose)
        controls = widgets.controls()
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
