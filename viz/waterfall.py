"""A sum as a waterfall: each part begins where the one before it ended, and the last bar is what they come to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from model_zoo.types import signed
from viz.layout import axis, token_text
from viz.marks import bars_layout, horizontal_bars
from viz.palette import by_sign, categorical

_BAR: Final = 24  # px
_LONGEST_LABEL: Final = 26
_ROOM: Final = 0.12  # of the span on each side, for the numbers


def waterfall(
    parts: Sequence[tuple[str, float, str]], total: str, *, quantity: str = "logit", dark: bool = False
) -> go.Figure:
    """A bar a part, from top to bottom: its name, what it adds, and what is said of it when it is pointed at. ``total``
    names their sum. Trace 0; ``customdata`` is the place of a part. Raises ValueError where there are no parts.
    """
    if not parts:
        raise ValueError("there are no parts to add up")
    (total_colour,) = categorical(1, dark)
    starts, at = [], 0.0
    for _, value, _ in parts:
        starts.append(at)
        at += value
    ends = [start + value for start, (_, value, _) in zip(starts, parts, strict=True)]
    low, high = min(0.0, *ends), max(0.0, *ends)
    room = _ROOM * (high - low or 1.0)
    names = [*(name for name, _, _ in parts), total]
    values = [*(value for _, value, _ in parts), at]
    return go.Figure(
        data=[
            horizontal_bars(
                values,
                [*by_sign(values[:-1], dark), total_colour],
                [
                    f"{token_text(name)}: <b>{signed(value, plus=True)}</b>"
                    + (f"<br>{token_text(note)}" if note else "")
                    for name, value, note in parts
                ]
                + [f"{token_text(total)}: <b>{signed(at, 4)}</b>"],
                dark=dark,
                texts=[signed(value, plus=True) for value in values[:-1]] + [signed(at)],
                base=[*starts, 0.0],
                customdata=list(range(len(names))),
            )
        ],
        layout=bars_layout(
            [token_text(name, _LONGEST_LABEL) for name in names],
            dark,
            height=_BAR * len(names) + 60,
            margin={"l": 8, "r": 16, "t": 8, "b": 44},
            xaxis=axis(dark, token_text(quantity), zero=True, range=[low - room, high + room]),
        ),
    )
