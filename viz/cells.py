"""A number for every row and column, above or below nothing: what each head, word or place does. Drawn by a component.

``cells`` makes what the component reads, ``SOURCE`` holds its files. It carries both themes, says what a cell holds
when it is pointed at or reached by arrow keys, and saves SVG and PNG in the reader's browser. It reports one thing, by
a trigger: ``picks``, with all ``cells`` (row, column) from 0 that are picked, in the order of picking, and the
``serial`` number of the click; what a page says is listened to when it knows of the last click.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from viz import component
from viz.layout import even_marks, visible_text
from viz.palette import diverging, sequential
from viz.token_line import INKS

SOURCE = component.source("cells", styles=("picture",))


class Payload(TypedDict):
    """What the component reads."""

    weights: bytes  # float32 (rows, columns), C order; nan for what could not be had
    rows: list[str]
    columns: list[str]
    down: str  # what the rows are
    across: str
    quantity: str  # what a number is, with its unit
    title: str  # of the colour bar
    ends: list[float]  # the size at which the colour of each row is full
    signed: bool  # whether the scale is centred at 0, or begins there
    scale: list[str]  # evenly spaced colours, "#rrggbb"
    dark_scale: list[str]
    inks: tuple[str, str]  # of numbers on light colours and on dark ones
    marks: list[tuple[float, str]]  # places on the colour bar, 0 to 1, and their names
    picked: list[tuple[int, int]]
    known: int  # serial number of the last click that the page knows of
    pick: bool  # whether cells can be picked
    mark: str  # what is said of a picked one
    file: str  # name of saved pictures, without their ending


def cells(
    values: npt.NDArray[np.floating[Any]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    quantity: str,
    down: str,
    across: str,
    end: float | None = None,
    each_row: bool = False,
    signed: bool = True,
    signs: tuple[str, str] = ("", ""),
    picked: Sequence[tuple[int, int]] = (),
    pick: bool = False,
    mark: str = "",
    file: str = "map",
) -> Payload:
    """Numbers (rows, columns), coloured on a scale that ends at ``end``, by default the largest size there is; with
    ``each_row`` at each row's own.

    ``signed`` numbers have a scale centred at 0, of which ``signs`` say in a word what is below 0 and above; others,
    none below 0, have one that begins there. Raises ValueError where names do not fit the numbers, or there are none.
    """
    if values.shape != (len(rows), len(columns)) or 0 in values.shape:
        raise ValueError(f"{len(rows)} rows and {len(columns)} columns are wanted; got {values.shape}")
    sizes = np.abs(np.nan_to_num(values))
    ends = sizes.max(axis=1) if each_row else np.full(len(rows), end or sizes.max())
    ends = np.where(ends == 0, 1.0, ends)
    light, dark = ([colour for _, colour in (diverging if signed else sequential)(dark)] for dark in (False, True))
    marks = even_marks(float(ends[0]), signed=signed)
    if each_row:
        marks = [(0.0, "−largest"), (0.5, "0"), (1.0, "+largest")] if signed else [(0.0, "0"), (1.0, "largest")]
    if signed:
        (_, least), zero, (_, most) = marks
        marks = [(0.0, f"{least} {signs[0]}".rstrip()), zero, (1.0, f"{signs[1]} {most}".lstrip())]
    return Payload(
        weights=np.ascontiguousarray(values, dtype="<f4").tobytes(),
        rows=[visible_text(name) for name in rows],
        columns=[visible_text(name) for name in columns],
        down=down,
        across=across,
        quantity=quantity,
        ends=[float(end_of_row) for end_of_row in ends],
        signed=signed,
        scale=light,
        dark_scale=dark,
        inks=INKS,
        marks=marks,
        title=f"{quantity}, in each row up to its largest" if each_row else quantity,
        picked=list(picked),
        known=0,
        pick=pick,
        mark=mark,
        file=file,
    )
