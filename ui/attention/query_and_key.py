"""View "Query and key": where one token's attention weights come from."""

from __future__ import annotations

import numpy as np
import streamlit as st

from analysis.neuron import neuron_table, query_numbers
from model_zoo.types import QueryKeyLayer
from ui import figures, save, widgets
from ui.attention.fields import TOKEN
from ui.attention.scene import Scene
from ui.messages import as_text
from ui.page import View
from viz.neuron import neuron, neuron_caption


def draw(scene: Scene) -> None:
    run, tokens, key_tokens = scene.run, scene.run.encoding.tokens, scene.run.key_encoding.tokens
    with widgets.controls():
        layer, head = widgets.head(run)
        position = _position(scene)
    query, keys, scores = run.query_key(layer, head)
    captured = run.layers[layer]
    assert isinstance(captured, QueryKeyLayer)
    at = position - 1
    numbers = query_numbers(query[at], keys, scores[at], captured.scaling)
    strongest = int(np.argmax(numbers.weights))
    figures.show(
        neuron(numbers, query_label=tokens[at], key_labels=key_tokens, dark=scene.dark), "neuron", "attention-query-key"
    )
    st.caption(as_text(neuron_caption(numbers, query_label=tokens[at], key_labels=key_tokens, key=strongest)))
    save.table("Numbers", lambda: neuron_table(numbers, key_tokens), "attention-query-key")


def _position(scene: Scene) -> int:
    """Asks for the token that looks, from 1."""
    run, tokens = scene.run, scene.run.encoding.tokens
    asked = TOKEN.value
    complaint = widgets.clamp(TOKEN, run.n_tokens, "token", "This text")
    if complaint and asked != TOKEN.default:  # a text of one token is no reason to complain
        st.warning(complaint, icon=":material/link_off:")
    position = st.selectbox(
        "Token that looks (its query)",
        range(1, run.n_tokens + 1),
        **TOKEN.bound,
        format_func=lambda place: f"{place} · {tokens[place - 1]}",
        width=380,
    )
    return int(position)


VIEW = View(
    "neuron",
    "Query and key",
    draw,
    "How one token's weights come about: query times key, number by number, summed, scaled, and shared out by softmax.",
    fields=(TOKEN,),
    needs=("attention",),
)
