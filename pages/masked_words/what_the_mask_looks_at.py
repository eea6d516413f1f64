"""View "What the mask looks at": a mask's attention in every layer, and the heads that look at one word most."""

from __future__ import annotations

from functools import partial

import streamlit as st

from analysis import focus
from model_zoo.errors import InvalidInput
from pages.masked_words.fields import HEAD
from pages.masked_words.scene import Scene, remember_sent
from ui import MASK, View, as_python, as_text, figures, page_link
from ui.mask_strip import choose_mask
from viz.matrix import layer_attention
from web.engine import engine


def draw(scene: Scene) -> None:
    controls = scene.row(switch=False)  # a telephone has no room for it
    if controls is None:
        return
    written = engine().masked_text(scene.model, scene.text, scene.masked)
    run = engine().attend(scene.model, written)
    masks = [p for p, token in enumerate(run.encoding.ids) if token == scene.vocabulary.mask_id]
    if len(masks) != len(scene.masks):
        raise InvalidInput("Some masks are beyond what the model reads. Shorten the text.")
    with controls:
        position = masks[choose_mask(MASK, scene.names)]
    weights = focus.attention_from_token(run, position)
    names = ["mean of all heads", *(f"head {head + 1}" for head in range(run.n_heads))]
    if HEAD.value not in range(len(names)):
        HEAD.value = 0
    with controls:
        heads = HEAD.offering(dict(enumerate(names)))
        head = st.selectbox("Heads", **heads, label_visibility="collapsed", width=170)
    attention = weights.mean(axis=1) if head == 0 else weights[:, head - 1]
    as_python.put(
        f"""
        run = engine.attend({as_python.arguments(scene.model, written)})
        weights = attention_from_token(run, {position})  # layers, heads, tokens: how the mask divides its attention
        numbers = {"weights.mean(axis=1)" if head == 0 else f"weights[:, {head - 1}]  # head {head} on the page"}
        """,
        lambda: attention,
        focus.attention_from_token,
    )
    figures.show(partial(layer_attention, attention, run.encoding.tokens), "mask attention", "mask-attention")
    st.markdown("**Heads that attend most to a single other token**")
    remember_sent(scene, written)
    with st.container(horizontal=True, gap="small"):
        for look in focus.strongest(weights, run, position):
            layer, head = look.layer + 1, look.head + 1
            page_link(
                "attention",
                as_text(f"layer {layer}, head {head}: {run.encoding.tokens[look.key]} {look.weight:.0%}"),
                ":material/visibility:",
                text=written,
                pair="",
                model=scene.model,
                layer=layer,
                head=head,
            )
    caution = "What a mask attends to does not by itself explain the prediction."
    if run.model.cross_attention:
        caution += (
            " This shows the encoder; this model fills masks in its decoder, which attends to the encoder's text, too."
        )
    st.caption(caution)


VIEW = View(
    "attention",
    "What the mask looks at",
    draw,
    "Where the mask looks in every layer: the stronger a cell's colour, the more of its attention goes to that token.",
    fields=(MASK, HEAD),
    needs=("mlm",),
    tab=60,
    terms=("attention weight",),
)
