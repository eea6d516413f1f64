"""Lines: two columns of tokens and a line a pair, any number of heads at once, drawn by a component.

``payload`` makes the numbers, ``SOURCE`` holds the component's files. What the component reports:

- ``selected``: ``{"side": "query" | "key", "index": i}`` for the token that was locked, None when unlocked;
- ``off``: places of the heads switched off in the legend.

What is shown can be saved as a picture under the name of the ``file``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

import numpy as np

from model_zoo.errors import InvalidInput
from model_zoo.types import FloatArray
from viz import component
from viz.lit_words import Says

SOURCE = component.source("lines", styles=("picture",))


class Selected(TypedDict):
    """A token of one of the two columns."""

    side: Literal["query", "key"]
    index: int


class Payload(TypedDict):
    """What the component reads. A line's weight is ``weights[...] * scale / 255``."""

    weights: bytes  # uint8 (heads, n_q, n_k), C order
    scale: float
    says: Says
    queries: list[str]
    keys: list[str]
    query_segments: list[int]
    key_segments: list[int]
    head_names: list[str]
    colours: list[str]
    dark_colours: list[str]
    off: list[int]
    selected: Selected | None
    in_front: int | None  # place of the head whose lines lie in front of the others, which are dimmed
    group: str  # of pictures that show together what is pointed at, "" for none
    file: str  # name of the picture where it can be saved


def payload(
    weights: FloatArray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    head_names: Sequence[str],
    says: Says = "attends",
    colours: Sequence[str],
    dark_colours: Sequence[str],
    query_segments: Sequence[int] | None = None,
    key_segments: Sequence[int] | None = None,
    off: Sequence[int] = (),
    selected: Selected | None = None,
    in_front: int | None = None,
    group: str = "",
    file: str = "",
) -> Payload:
    """The lines of weights (heads, n_q, n_k), rows are queries; all finite and none below zero.

    Weights are rounded to 256 steps between 0 and their maximum (``scale``; value-weighted attention may
    pass 1), so that what is drawn and named differs from ``weights`` by at most ``scale / 510``, float32
    rounding aside. ``colours`` holds one CSS colour per head on a light background, ``dark_colours`` on a
    dark one. Segments are ``Encoding.segment_ids`` of the tokens left; a line marks where they change.
    ``off`` are places of heads whose lines are hidden at first. ``selected`` is locked from the start;
    one that is not among the tokens is dropped, because filters and links may well outlive a token. ``in_front`` is the
    place of the head that stands out, dropped if there is none; a single head stands out anyway. ``says`` is what a
    token does, for those who do not see the lines.

    Raises InvalidInput when no head or no token is left to draw, ValueError when lengths do not fit together.
    """
    n_heads, n_queries, n_keys = weights.shape
    if 0 in weights.shape:
        lack = "head is chosen" if n_heads == 0 else "token is left"
        raise InvalidInput(f"No {lack}, so there is nothing to draw. Choose a head, or loosen the filters.")
    query_segments = [0] * n_queries if query_segments is None else query_segments
    key_segments = [0] * n_keys if key_segments is None else key_segments
    lengths = (len(head_names), len(colours), len(dark_colours)), (len(queries), len(query_segments))
    if lengths != ((n_heads,) * 3, (n_queries,) * 2) or (len(keys), len(key_segments)) != (n_keys, n_keys):
        raise ValueError(f"names, colours, tokens and segments must fit weights of shape {weights.shape}")
    highest = float(weights.max())
    if not (np.isfinite(highest) and weights.min() >= 0):
        raise ValueError("weights must be finite and not below zero")
    scale = highest or 1.0
    if selected is not None:
        n_side = n_queries if selected["side"] == "query" else n_keys
        selected = selected if 0 <= selected["index"] < n_side else None
    return Payload(
        weights=np.rint(weights * np.float32(255 / scale)).astype(np.uint8).tobytes(),
        scale=scale,
        says=says,
        queries=list(queries),
        keys=list(keys),
        query_segments=[int(segment) for segment in query_segments],
        key_segments=[int(segment) for segment in key_segments],
        head_names=list(head_names),
        colours=list(colours),
        dark_colours=list(dark_colours),
        off=sorted(head for head in off if 0 <= head < n_heads),
        selected=selected,
        in_front=in_front if in_front is not None and 0 <= in_front < n_heads else None,
        group=group,
        file=file,
    )
