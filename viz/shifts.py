"""Which predictions moved when a word was replaced: ln P after less ln P before, as bars."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from model_zoo.types import Shift, signed
from viz.layout import axis, headline, token_text
from viz.marks import bars_layout, horizontal_bars
from viz.palette import opposed


def shifts(moved: Sequence[Shift], title: str = "", *, dark: bool = False) -> go.Figure:
    """Bars to the right became more likely, to the left less likely; probabilities before and after beside them.
    ``title`` says of which mask.
    """
    up, down = opposed(dark)
    reach = max((abs(shift.difference) for shift in moved), default=1.0) or 1.0
    return go.Figure(
        data=[
            horizontal_bars(
                [shift.difference for shift in moved],
                [up if shift.difference > 0 else down for shift in moved],
                [
                    f"{token_text(shift.token)}: {math.exp(shift.before):.3g} → {math.exp(shift.after):.3g}"
                    for shift in moved
                ],
                dark=dark,
                texts=[signed(shift.difference, plus=True) for shift in moved],
            )
        ],
        layout=bars_layout(
            [token_text(shift.token, 18) for shift in moved],
            dark,
            title=headline(title, dark),
            height=25 * len(moved) + 80,
            margin={"l": 8, "r": 16, "t": 28, "b": 44},
            xaxis=axis(dark, "change of ln P", zero=True, range=[-1.25 * reach, 1.25 * reach]),
        ),
    )
