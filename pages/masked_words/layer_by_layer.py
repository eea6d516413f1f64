"""View "Layer by layer": the logit lens, the head on a mask's vector after every layer."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.masked_words.scene import Scene
from ui import MASK, View, figures, token_line
from ui.mask_strip import one_mask
from viz.lens_ranks import lens_ranks
from viz.lens_table import lens_table
from web.engine import engine


def draw(scene: Scene) -> None:
    controls = scene.row()
    if controls is None:
        return
    if scene.causal:
        (lens,) = engine().next_lens(scene.model, scene.text)
        original = None
    else:
        with controls:
            place = one_mask(MASK, scene.names)
        lens = engine().mask_lens(scene.model, scene.text, masked=scene.masked)[place]
        original = scene.encoding.tokens[lens.position]
    table, curve = st.columns([3, 2], gap="large")
    with table:
        token_line.show(partial(lens_table, lens), "lens", "lens")
        of = "The token after the last one: best" if scene.causal else "Best"
        st.caption(f"{of} tokens after every layer, with their probabilities; the final prediction is outlined.")
    with curve:
        figures.show(partial(lens_ranks, lens, original), "lens ranks", "ranks")
    st.caption(
        "The prediction head was trained on the last layer only. Here it reads the earlier ones, too (the logit "
        "lens). What it does not find there may still be there, in a form that it cannot read."
    )


VIEW = View(
    "layers",
    "Layer by layer",
    draw,
    "How the prediction forms: what the model would predict after each layer, and the rank of the final prediction.",
    fields=(MASK,),
    tab=30,
    terms=("logit lens",),
)
