"""From what a text's attention is to the pictures of it: the steps that a page and a notebook share."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

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
    """What a measure and its numbers are called; attended.toml says what each text is for."""

    title: str
    quantity: str
    number: str
    says: Says
    about: str
    lacks: str = ""


_TEXTS: Any = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
WORDS: Final[dict[Measure, Words]] = {
    measure: Words(**{name: text.format(most=MOST_ZEROED) for name, text in texts.items()})
    for measure, texts in _TEXTS.items()
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
