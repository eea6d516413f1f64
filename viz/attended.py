"""From what a text's attention is to the pictures of it: the steps that a page and a notebook share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from analysis.filters import Filtered
from analysis.views import OF_HEADS, AttentionView, Measure, all_maps
from model_zoo.types import MOST_ZEROED, FloatArray
from viz import heatmap, lines, lit_words
from viz.lit_words import Says
from viz.palette import MOST_COLOURS, categorical

Head = tuple[int, int]  # layer and head, from 0
LONGEST: Final = 1024  # tokens: what a browser can show as text
_HEIGHT: Final = 440  # px of a heatmap: what is left of a projector's screen


@dataclass(frozen=True, slots=True)
class Words:
    """``title`` is what the switch calls a measure, ``quantity`` what its numbers are on a colour bar, ``number`` one
    of them, in a word. ``says`` is what a word that lights up does, ``about`` what is measured, and whether of heads or
    layers, and ``lacks`` where it is not there.
    """

    title: str
    quantity: str
    number: str
    says: Says
    about: str
    lacks: str = ""


_UNKNOWN: Final = "for models with a decoder beside an encoder, nor for families that are not known part by part."

WORDS: dict[Measure, Words] = {
    "weights": Words(
        "Weights",
        "attention weight",
        "weight",
        "attends",
        "For each head: how it divides the attention of each token.",
    ),
    "value-weighted": Words(
        "Weights × values",
        "‖αf(x)‖",
        "‖αf(x)‖",
        "takes",
        "For each head: the weight times the length of the value that it passes on, ‖αf(x)‖ (Kobayashi et al. 2020). "
        "Rows do not sum to 100%.",
        "Not for models whose values are not known.",
    ),
    "ALTI": Words(
        "Contributions (ALTI)",
        "contribution (ALTI)",
        "contribution",
        "takes",
        "For each layer, all heads and the residual stream together: how much of a token’s vector after attention came "
        "from each token (ALTI, Ferrando et al. 2022).",
        f"Not {_UNKNOWN}",
    ),
    "value zeroing": Words(
        "Value zeroing",
        "value zeroing, cosine distance",
        "distance",
        "changes",
        "For each layer, all heads together: how far the vector of a token turns (cosine distance) when the value of "
        "another token is set to zero (Mohebbi et al. 2023).",
        f"Up to {MOST_ZEROED} tokens. Not {_UNKNOWN}",
    ),
}


def has_head_maps(measure: Measure) -> bool:
    """Whether every head has a map of its own."""
    return measure in OF_HEADS


def map_name(measure: Measure, layer: int, number: int, counts: int = 1) -> str:
    """What a map is called: "layer 3, head 5", or "layer 3" where there is one of all heads together. It ``counts``
    from 1, as the pages do, or from 0, as Python does.
    """
    return f"layer {layer + counts}, head {number + counts}" if has_head_maps(measure) else f"layer {layer + counts}"


def file_name(measure: Measure, name: str, layer: int, number: int, counts: int = 1) -> str:
    """The name of a file about a map: "attention_L3H5", or "attention_L3"."""
    return f"{name}_L{layer + counts}H{number + counts}" if has_head_maps(measure) else f"{name}_L{layer + counts}"


def heatmap_payload(
    filtered: Filtered,
    measure: Measure,
    *,
    file: str,
    stretch: bool = False,
    quantity: str = "",
    number: str = "",
    group: str = "",
) -> heatmap.Payload:
    """A filtered matrix with its tokens; ``quantity`` says what its numbers are, and ``number`` one of them, in a word,
    where they are not those of the measure.
    """
    words = WORDS[measure]
    return heatmap.heatmap(
        filtered.weights,
        filtered.query_labels,
        filtered.key_labels,
        stretch=stretch,
        quantity=quantity or words.quantity,
        number=number or words.number,
        file=file,
        query_segments=[unit.segment for unit in filtered.queries],
        key_segments=[unit.segment for unit in filtered.keys],
        special_queries=[place for place, unit in enumerate(filtered.queries) if unit.special],
        special_keys=[place for place, unit in enumerate(filtered.keys) if unit.special],
        says=words.says,
        height=_HEIGHT,
        group=group,
    )


def word_maps(attention: AttentionView, layer: int, number: int, mean: FloatArray) -> FloatArray:
    """What words are lit by, (3 or 2, n, m): a map, the mean of its layer where that has several heads, and the
    ``mean`` of all there are.
    """
    of_layer = [attention.layer(layer).mean(axis=0)] if has_head_maps(attention.measure) else []
    return np.stack([attention.map(layer, number), *of_layer, mean])


def words_payload(
    attention: AttentionView,
    filtered: Filtered,
    layer: int,
    number: int,
    *,
    steps: bool,
    group: str = "",
    file: str = "",
    counts: int = 1,
) -> lit_words.Payload:
    """Words lit by ``word_maps``, filtered. With ``steps`` the reader may go on to another head, or layer."""
    queries, keys = (
        lit_words.words(encoding, units)
        for encoding, units in ((attention.encoding, filtered.queries), (attention.key_encoding, filtered.keys))
    )
    alike = attention.key_encoding is attention.encoding and filtered.queries == filtered.keys
    maps, heads = all_maps(attention), has_head_maps(attention.measure)
    return lit_words.payload(
        filtered.weights,
        queries,
        None if alike else keys,
        names=[
            map_name(attention.measure, layer, number, counts).capitalize(),
            *([f"Mean of layer {layer + counts}"] if heads else []),
            f"Mean of all {len(maps)} {'heads' if heads else 'layers'}",
        ],
        shares=attention.shares,
        says=WORDS[attention.measure].says,
        head=maps.index((layer, number)) if steps else 0,
        n_heads=len(maps) if steps else 1,
        group=group,
        file=file,
    )


def distinguishable(heads: Sequence[Head], front: Head | None) -> list[Head]:
    """No more heads than can be told apart by colour; the one in ``front`` is among them."""
    drawn = list(heads[:MOST_COLOURS])
    if front is not None and front not in drawn:
        drawn[-1] = front
    return drawn


def lines_payload(
    filtered: Filtered,
    measure: Measure,
    drawn: Sequence[Head],
    front: Head | None,
    *,
    selected: lines.Selected | None = None,
    off: Sequence[int] = (),
    group: str = "",
    file: str = "",
    counts: int = 1,
) -> lines.Payload:
    """The lines of the ``drawn`` heads, filtered (heads, n, m), a colour a head; those of the one in ``front`` lie over
    the others.
    """
    if not has_head_maps(measure):
        names = [f"{layer + counts}" for layer, _ in drawn]
    elif len({layer for layer, _ in drawn}) == 1:
        names = [f"{head + counts}" for _, head in drawn]
    else:
        names = [f"{layer + counts}.{head + counts}" for layer, head in drawn]
    return lines.payload(
        filtered.weights,
        filtered.query_labels,
        filtered.key_labels,
        head_names=names,
        says=WORDS[measure].says,
        colours=categorical(len(drawn), dark=False),
        dark_colours=categorical(len(drawn), dark=True),
        query_segments=[unit.segment for unit in filtered.queries],
        key_segments=[unit.segment for unit in filtered.keys],
        off=off,
        selected=selected,
        in_front=None if front is None else list(drawn).index(front),
        group=group,
        file=file,
    )
