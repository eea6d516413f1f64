"""The figures that lessons draw most: each is shown under a ``name``, which is also the name of its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import viz.bars
import viz.matrix
import viz.strips
from model_zoo.types import DoubleArray, FloatArray, MaskPrediction
from ui import figures
from viz.strips import Strip

Columns = pd.DataFrame | Mapping[str, Any]
"""A table: what each row is called, then the numbers, a column a series."""


def show(name: str, draw: Callable[..., go.Figure]) -> None:
    """Draw a figure of any kind, which ``draw`` makes, being told whether it is ``dark``."""
    figures.show(draw, f"learn {name}", name)


def bars(
    name: str, columns: Columns, *, top: float | None = None, written: str = ".2f", marked: int | None = None
) -> None:
    """Draw the rows of a table as ``viz.bars``."""
    (_, labels), *series = ((str(quantity), values.tolist()) for quantity, values in pd.DataFrame(columns).items())
    show(name, partial(viz.bars.bars, labels, series, top=top, written=written, marked=marked))


def shares(name: str, columns: Columns, *, written: str = ".1%", marked: int | None = None) -> None:
    """Draw bars of numbers from 0 to 1, those below 0 as 0, written as percent."""
    table = pd.DataFrame(columns)
    table.iloc[:, 1:] = table.iloc[:, 1:].clip(lower=0)
    bars(name, table, top=1, written=written, marked=marked)


def strips(name: str, rows: Sequence[Strip], *, unit: str = "dimension") -> None:
    """Draw ``viz.strips``."""
    show(name, partial(viz.strips.strips, rows, unit=unit))


def guesses(answers: Sequence[tuple[str, MaskPrediction]]) -> None:
    """Draw the best guesses of several answers side by side, on one scale, each under what it is called."""
    highest = max(answer.best[0].probability for _, answer in answers)
    for column, (title, answer) in zip(st.columns(len(answers)), answers, strict=True):
        with column:
            figure = partial(viz.bars.predictions, answer, title, highest=highest)
            show(title.lower().replace(" ", "-").replace(",", ""), figure)


def matrices(
    name: str,
    named: Mapping[str, FloatArray | DoubleArray],
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    *,
    quantity: str,
    axes: tuple[str, str],
    signed: bool = False,
    root: bool = False,
) -> None:
    """Draw ``viz.matrix.matrices``; rows and columns without labels have their numbers, from 1."""
    singles = [(title, values.astype(np.float32)) for title, values in named.items()]
    counted = ([str(number) for number in range(1, size + 1)] for size in singles[0][1].shape)
    rows, columns = (names or numbers for names, numbers in zip((rows, columns), counted, strict=True))
    draw = partial(viz.matrix.matrices, singles, rows, columns, quantity=quantity, axes=axes, signed=signed, root=root)
    show(name, draw)
