"""All heads of all layers as small pictures, a row per layer, drawn by a component in which one opens a head; or all
layers in a row, where each has one picture.

``grid`` makes what the component reads, ``SOURCE`` holds its files. The component carries both themes, shows what other
pictures of its group point at, and saves SVG and PNG in the reader's browser. What it reports:

- ``head``: ``[row, column]``, counted from 0, once each time a picture is opened. Its frame has moved by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from analysis.thumbnails import Thumbnails
from viz import component
from viz.layout import root_title, weight_marks
from viz.palette import sequential

SOURCE = component.source("grid", styles=("picture",))


class Payload(TypedDict):
    """What the component reads."""

    weights: bytes  # uint8 (layers, heads, s_q, s_k), C order: places on the scale
    shape: tuple[int, ...]
    heads: list[int]  # of each layer; the pictures beyond are empty
    tokens: tuple[int, int]  # queries and keys, of which a pixel may hold several
    counts: int  # what the first row and the first column are called, 0 or 1
    names: list[str]  # of what the rows and the columns are; of the columns alone where there is one row
    selected: tuple[int, int]  # row and column, counted from 0
    serial: int  # another number where the same one is selected again
    scale: list[str]  # evenly spaced colours, "#rrggbb"
    dark_scale: list[str]
    marks: list[tuple[float, str]]  # places on the colour bar, 0 to 1, and their names
    title: str  # of the colour bar
    group: str  # of pictures that point together, "" for none
    height: int  # px that the whole is to keep to, as long as heads are large enough to be tapped
    file: str  # name of saved pictures, without their ending


def grid(
    thumbnails: Thumbnails,
    selected: tuple[int, int],
    *,
    names: Sequence[str] = ("layer", "head"),
    serial: int = 0,
    quantity: str = "attention weight",
    group: str = "",
    height: int = 350,
    file: str = "attention-all-heads",
    counts: int = 1,
) -> Payload:
    """Pictures of all heads with a frame around the ``selected`` one, (layer, head) counted from 0; of other rows and
    columns, or of the columns of a single row, by their ``names``; what is written ``counts`` from 1, or from 0.

    Colours are those of ``heatmap``, one scale for all; ``quantity`` names the weights on the colour bar. The component
    keeps the frame that its reader moved until ``selected`` or ``serial`` changes. Raises ValueError where there is
    nothing to draw.
    """
    if 0 in thumbnails.pixels.shape:
        raise ValueError(f"no head or no token to draw: thumbnails have shape {thumbnails.pixels.shape}")
    light, dark = ([colour for _, colour in sequential(dark)] for dark in (False, True))
    return Payload(
        weights=thumbnails.pixels.tobytes(),
        shape=thumbnails.pixels.shape,
        heads=list(thumbnails.n_heads),
        tokens=(thumbnails.n_queries, thumbnails.n_keys),
        counts=counts,
        names=list(names),
        selected=selected,
        serial=serial,
        scale=light,
        dark_scale=dark,
        marks=weight_marks(thumbnails.maximum),
        title=root_title(quantity),
        group=group,
        height=height,
        file=file,
    )
