"""Numbers as bars, one or two a name: what is longer, what is more, and how much a change changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from viz.layout import axis, token_text
from viz.marks import LEGEND_ABOVE, bars_layout, horizontal_bars
from viz.palette import categorical

_BAR: Final = 26  # px, of one name with one number
_SECOND: Final = 14  # px more, for two
_LONGEST_LABEL: Final = 30


def bars(
    names: Sequence[str],
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    top: float | None = None,
    written: str = ".2f",
    marked: int | None = None,
    dark: bool = False,
) -> go.Figure:
    """A bar a name and number, from 0 to ``top`` (default: the largest number), names as given from top to bottom.

    ``series`` are one or more (what the numbers are, a number a name, none below 0); a legend tells two or more apart.
    ``written`` is the format of the numbers beside the bars. ``marked`` is the place of a name to stand out where there
    is one series. Raises ValueError where numbers do not fit the names.
    """
    if not series or any(len(values) != len(names) for _, values in series):
        raise ValueError(f"the numbers do not fit {len(names)} names")
    highest = top or max(max(values, default=0.0) for _, values in series) or 1.0
    palette = categorical(max(2, len(series)), dark)
    several = len(series) > 1
    return go.Figure(
        data=[
            horizontal_bars(
                values,
                [palette[1] if place == marked else colour for place in range(len(names))],
                [
                    f"{token_text(name)}<br>{token_text(quantity)}: <b>{value:.6g}</b>"
                    for name, value in zip(names, values, strict=True)
                ],
                dark=dark,
                texts=[format(value, written) for value in values],
                name=quantity,
            )
            for (quantity, values), colour in zip(series, palette, strict=False)
        ],
        layout=bars_layout(
            [token_text(name, _LONGEST_LABEL) for name in names],
            dark,
            height=(_BAR + _SECOND * (len(series) - 1)) * len(names) + 68,
            margin={"l": 8, "r": 60, "t": 28, "b": 30 if several else 40},
            xaxis=axis(
                dark,
                "" if several else token_text(series[0][0]),
                range=[0, highest * 1.02],
                showticklabels=False,
            ),
            legend=LEGEND_ABOVE if several else None,
        ),
    )
