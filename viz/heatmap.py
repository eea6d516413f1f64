"""One head's attention as a heatmap: queries down the side, keys along the top, drawn by a component.

``heatmap`` makes what the component reads, ``SOURCE`` holds its files. The component carries both themes, says
what a cell holds when it is pointed at or reached by arrow keys, and saves SVG and PNG in the reader's browser.
It reports nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypedDict, Unpack

import numpy as np

from model_zoo.types import FloatArray
from viz import component
from viz.layout import root_title, visible_text, weight_marks
from viz.lit_words import Says
from viz.palette import Colorscale, diverging, sequential

SOURCE = component.source("heatmap", styles=("picture",))


class Number(TypedDict):
    """What one layer of the weights is called; ``signed`` ones are written with their sign."""

    name: str
    signed: bool


class Options(TypedDict, total=False):
    """What a picture may be told beside its numbers."""

    query_segments: Sequence[int]  # of each token, 0 or 1; a line marks where they change
    key_segments: Sequence[int]
    special_queries: Sequence[int]  # places of special tokens; the strongest cells in words are not those between two
    special_keys: Sequence[int]
    says: Says  # what a query does to the keys, on the two sides
    height: int  # CSS px that the picture does not exceed if every row can be labelled, 0 for no limit
    group: str  # of pictures that show together what is pointed at, "" for none


_DEFAULTS: Final = Options(
    query_segments=[], key_segments=[], special_queries=[], special_keys=[], says="attends", height=0, group=""
)


class Payload(Options):
    """What the component reads, with all options.

    Colours run evenly from ``limits[0]`` to ``limits[1]`` of the bent number.
    """

    weights: bytes  # float32 (numbers, queries, keys), C order; the first layer is drawn, all are read out
    numbers: list[Number]
    queries: list[str]
    keys: list[str]
    limits: tuple[float, float]
    bend: Literal["root", "root both ways"]  # colour follows √ from the lower limit, or from the middle both ways
    scale: list[str]  # evenly spaced colours, "#rrggbb"
    dark_scale: list[str]
    marks: list[tuple[float, str]]  # places on the colour bar, 0 to 1, and their names
    title: str  # of the colour bar
    file: str  # name of saved pictures, without their ending


def heatmap(
    weights: FloatArray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    stretch: bool = False,
    quantity: str = "attention weight",
    number: str = "weight",
    file: str = "attention",
    **options: Unpack[Options],
) -> Payload:
    """Attention weights float32 (queries, keys), each row how a query divides its attention among the keys.

    Colours follow √weight on the scale 0..1, the same for every head; ``stretch`` sets the scale's end to the
    matrix's own maximum instead. ``quantity`` names the weights on the colour bar, ``number`` one of them, in a word.
    Segments are ``Encoding.segment_ids`` of the tokens shown. Raises ValueError when the tokens do not fit the matrix.
    """
    maximum = float(weights.max(initial=0.0)) if stretch else 1.0
    maximum = maximum or 1.0  # a matrix of zeros has no maximum to stretch to
    return matrix(
        weights[None],
        queries,
        keys,
        numbers=[Number(name=number, signed=False)],
        limits=(0.0, maximum),
        bend="root",
        scales=(sequential(dark=False), sequential(dark=True)),
        marks=weight_marks(maximum),
        title=root_title(quantity),
        file=file,
        **options,
    )


def matrix(
    weights: FloatArray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    numbers: Sequence[Number],
    limits: tuple[float, float],
    bend: Literal["root", "root both ways"],
    scales: tuple[Colorscale, Colorscale],
    marks: Sequence[tuple[float, str]],
    title: str,
    file: str,
    **options: Unpack[Options],
) -> Payload:
    """``heatmap`` for any numbers of a query and a key, float32 (numbers, queries, keys); the first is drawn.

    ``scales`` are evenly spaced colours for a light and a dark page. Raises ValueError when names or tokens do not
    fit the matrix.
    """
    if weights.shape != (len(numbers), len(queries), len(keys)):
        raise ValueError(
            f"weights of shape {weights.shape[1:]} do not fit {len(queries)} queries "
            f"and {len(keys)} keys for {len(numbers)} numbers"
        )
    options = _DEFAULTS | options
    if len(options["query_segments"]) not in (0, len(queries)) or len(options["key_segments"]) not in (0, len(keys)):
        raise ValueError("segments must be given for every token or for none")
    light, dark = ([colour for _, colour in scale] for scale in scales)
    return Payload(
        weights=np.ascontiguousarray(weights, dtype="<f4").tobytes(),
        numbers=list(numbers),
        queries=[visible_text(token) for token in queries],
        keys=[visible_text(token) for token in keys],
        limits=limits,
        bend=bend,
        scale=light,
        dark_scale=dark,
        marks=list(marks),
        title=title,
        file=file,
        **options,
    )


def difference(
    a: FloatArray,
    b: FloatArray,
    words: Sequence[str],
    keys: Sequence[str],
    *,
    names: tuple[str, str],
    file: str = "difference",
    **options: Unpack[Options],
) -> Payload:
    """Where one model's attention is larger (blue) or smaller (orange) than another's: A − B, float32 (words, keys).

    Colours follow the square root of the difference on the scale −1..1, the same for every pair. A cell also states
    both weights. ``options`` are those of a heatmap. Raises ValueError when the shapes do not fit.
    """
    if a.shape != b.shape:
        raise ValueError(f"weights of shapes {a.shape} and {b.shape} are not on the same words")
    return matrix(
        np.stack([a - b, a, b]),
        words,
        keys,
        numbers=[
            Number(name="difference", signed=True),
            *(Number(name=visible_text(name), signed=False) for name in names),
        ],
        limits=(-1.0, 1.0),
        bend="root both ways",
        scales=(diverging(dark=False), diverging(dark=True)),
        marks=_MARKS,
        title=root_title("{} − {}".format(*(visible_text(name) for name in names))),
        file=file,
        **options,
    )


# Places on the bar and what they stand for: half way on the bar is a quarter.
_MARKS: Final = ((0.0, "−1"), (0.25, "−0.25"), (0.5, "0"), (0.75, "+0.25"), (1.0, "+1"))
