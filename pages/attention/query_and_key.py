"""View "Query and key": where one token's attention weights come from."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from analysis.neuron import neuron_table, query_numbers
from model_zoo.types import QueryKeyLayer
from pages.attention.fields import TOKEN
from pages.attention.scene import Scene
from ui import View, caption, figures, save, widgets
from viz.neuron import neuron, neuron_caption


def draw(scene: Scene) -> None:
    run, tokens, key_tokens = scene.run, scene.run.encoding.tokens, scene.run.key_encoding.tokens
    requested = TOKEN.value
    complaint = widgets.clamp(TOKEN, run.n_tokens, "token", "This text")
    if complaint and requested != TOKEN.default:  # a text of one token is no reason to complain
        st.warning(complaint, icon=":material/link_off:")
    with widgets.controls():
        layer, head = widgets.head(run)
        position = st.selectbox(
            "Query token",
            **TOKEN.offering({place: f"{place} · {token}" for place, token in enumerate(tokens, start=1)}),
            width=330,
        )
    query, keys, scores = run.query_key(layer, head)
    captured = run.layers[layer].load()
    assert isinstance(captured, QueryKeyLayer)
    at = position - 1
    numbers = query_numbers(query[at], keys, scores[at], captured.scaling)
    strongest = int(np.argmax(numbers.weights))
    figures.show(
        partial(neuron, numbers, query_label=tokens[at], key_labels=key_tokens), "neuron", "attention-query-key"
    )
    caption(neuron_caption(numbers, query_label=tokens[at], key_labels=key_tokens, key=strongest))
    name = scene.called(layer, head)
    scene.put_python(
        "neuron_table(parts, run.key_encoding.tokens)",
        lambda: neuron_table(numbers, key_tokens),
        before=f"layer, head, token = {layer}, {head}, {at}  # {name}, token {position} on the page\n"
        "query, keys, scores = run.query_key(layer, head)\n"
        "scaling = run.layers[layer].load().scaling\n"
        "parts = query_numbers(query[token], keys, scores[token], scaling)\n",
    )
    save.table("Numbers", lambda: neuron_table(numbers, key_tokens), "attention-query-key")


VIEW = View(
    "neuron",
    "Query and key",
    draw,
    (
        "Where a token's weights come from: its query times each key, summed and scaled; softmax turns the scores "
        "into weights."
    ),
    "Read a row from left to right: the key's vector; its products with the query's vector, number by number; their "
    "sum, the score; and the weight that softmax over all scores gives it.",
    fields=(TOKEN,),
    needs=("attention",),
    tab=50,
    terms=("query", "key", "softmax"),
)
