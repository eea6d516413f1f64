"""Which predictions moved when a word was replaced: ln P after less ln P before, as bars."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from model_zoo.types import Shift, signed
from viz.layout import axis, headline, token_text
from viz.marks import bars_layout, horizontal_bars
from viz.palette import by_sign


def shifts(moved: Sequence[Shift], title: str = "", *, reach: float = 0.0, dark: bool = False) -> go.Figure:
    """Bars to the right became more likely, to the left less likely; probabilities before and after when pointed at.
    ``title`` says of which mask, ``reach`` how far the axis goes at least, so that neighbours can share it.
    """
    reach = max(reach, *(abs(shift.difference) for shift in moved), 0.0) or 1.0
    return go.Figure(
        data=[
            horizontal_bars(
                [shift.difference for shift in moved],
                by_sign((shift.difference for shift in moved), dark),
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
            xaxis=axis(dark, "← less likely · ln P · more likely →", zero=True, range=[-1.25 * reach, 1.25 * reach]),
        ),
    )
