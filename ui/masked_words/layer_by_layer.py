"""View "Layer by layer": the logit lens, the head on a mask's vector after every layer."""

from __future__ import annotations

import streamlit as st

from ui import figures, token_line
from ui.appearance import is_dark
from ui.engine import engine
from ui.masked_words.fields import MASK
from ui.masked_words.scene import Scene
from ui.page import View
from ui.word_strip import one_mask
from viz.lens_ranks import lens_ranks
from viz.lens_table import lens_table


def draw(scene: Scene) -> None:
    if scene.causal:
        (lens,) = engine().next_lens(scene.model, scene.text)
        original = None
        st.markdown("**The token after the last one**")
    else:
        place = one_mask(MASK, scene.names)
        lens = engine().mask_lens(scene.model, scene.text, masked=scene.masked)[place]
        original = scene.encoding.tokens[lens.position]
    st.caption(
        "The head that makes the guess was trained on the last layer only. Here it reads the earlier ones too (the "
        "logit lens). What it does not find there may still be there, in a form that it cannot read."
    )
    table, curve = st.columns([3, 2], gap="large")
    with table:
        st.markdown("**Best tokens after every layer**")
        token_line.draw(lens_table(lens, dark=is_dark()), key="lens")
    with curve:
        st.markdown("**Rank of the final answer**")
        figures.show(lens_ranks(lens, original, dark=is_dark()), "lens ranks", "ranks")


VIEW = View("layers", "Layer by layer", draw, fields=(MASK,), needs=("mask",))
