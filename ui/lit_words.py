"""The text as words that light up: how much each gets of the one that is pointed at, in a head or a mean of heads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from analysis.filters import Filtered, combine, head_weights
from model_zoo.types import AttentionRun, FloatArray
from ui import save
from ui.attended_text import AttendedText
from ui.component import component, hearing
from ui.widgets import HEAD, LAYER
from viz import lit_words
from viz.component import pack
from viz.standalone import standalone_html
from web.engine import engine

_KEY = "lit_words"
GROUP = "attention"


def choose(layer: int, head: int) -> None:
    """Open a head, both from 0."""
    LAYER.value, HEAD.value = layer + 1, head + 1


def draw(attended: AttendedText, layer: int, head: int, choose: Callable[[int, int], None] = choose) -> None:
    """The words of a text, lit by a head (both from 0), the mean of its layer, and the mean of all heads.

    Nothing where the filter leaves no tokens: whoever draws the head says why. The reader's steps lead to another head
    by ``choose``.
    """
    shown = _filtered(attended, layer, head)
    if 0 in shown.weights.shape:
        return
    heads = all_heads(attended.run)
    payload = _payload(attended, shown, layer, head)
    payload["head"], payload["n_heads"], payload["group"] = heads.index((layer, head)), len(heads), GROUP
    payload["file"] = _file(layer, head)
    save.picture(payload["file"])
    mount = component("words", lit_words.SOURCE)
    mount(key=_KEY, data=pack(payload), on_head_change=hearing(_KEY, "head", partial(_step, attended.run, choose)))


def _step(run: AttentionRun, choose: Callable[[int, int], None], place: object) -> None:
    """Open the head that the reader stepped to."""
    heads = all_heads(run)
    if isinstance(place, int) and 0 <= place < len(heads):
        choose(*heads[place])


def file(attended: AttendedText, layer: int, head: int) -> str:
    """The same as an HTML file that works by itself, for one head (both from 0) and the means.

    Raises InvalidInput when the filter leaves no tokens.
    """
    shown = _filtered(attended, layer, head)
    payload = _payload(attended, shown, layer, head)
    payload["file"] = _file(layer, head)
    return standalone_html(
        lit_words.SOURCE,
        payload,
        title="Attention, word by word",
        caption=shown.summary(),
        meta={
            "Model": attended.run.model.id,
            "Revision": attended.run.model.revision,
            "Head": f"layer {layer + 1} head {head + 1}",
            **attended.texts,
            "Numbers": attended.what,
        },
    )


def _file(layer: int, head: int) -> str:
    return f"words_L{layer + 1}H{head + 1}"


def _payload(attended: AttendedText, shown: Filtered, layer: int, head: int) -> lit_words.Payload:
    run = attended.run
    queries, keys = lit_words.words(run.encoding, shown.queries), lit_words.words(run.key_encoding, shown.keys)
    alike = run.stack != "cross" and shown.queries == shown.keys
    return lit_words.payload(
        shown.weights,
        queries,
        None if alike else keys,
        names=[
            f"Layer {layer + 1}, head {head + 1}",
            f"Mean of layer {layer + 1}",
            f"Mean of all {len(all_heads(run))} heads",
        ],
        shares=not attended.value_weighted,
    )


def _filtered(attended: AttendedText, layer: int, head: int) -> Filtered:
    """The filter applied to the three matrices (3, n, m), as it is to a head and to a mean of heads elsewhere."""
    run, weighted = attended.run, attended.value_weighted
    of_layer = combine(run, heads_of_layer(run, layer), "mean", value_weighted=weighted)
    return attended.filtered(np.stack([head_weights(run, layer, head, weighted), of_layer, _mean_of_all(attended)]))


def _mean_of_all(attended: AttendedText) -> FloatArray:
    """Computed once per text and model, whatever the filter."""
    run = attended.run
    return engine().derived(
        ("mean of all heads", *attended.run_key, attended.value_weighted),
        lambda: combine(run, all_heads(run), "mean", value_weighted=attended.value_weighted),
    )


def all_heads(run: AttentionRun) -> list[tuple[int, int]]:
    """All heads of a model (layer, head), from 0, in their order."""
    return [head for layer in range(run.n_layers) for head in heads_of_layer(run, layer)]


def heads_of_layer(run: AttentionRun, layer: int) -> list[tuple[int, int]]:
    """All heads of a layer (layer, head), from 0, in their order."""
    return [(layer, head) for head in range(run.layers[layer].n_heads)]
