"""A few lines over the same places, such as a number after each layer: where they rise, fall and part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from viz.layout import axis, base_layout, token_text
from viz.marks import LEGEND_ABOVE, line, symbol
from viz.palette import categorical

_HEIGHT: Final = 340  # px
_PLOT: Final = 260  # px at least below the names
_LEGEND_ROW: Final = 22  # px a line: on a phone each name gets a row of its own
_MOST_LABELS: Final = 18
_LONGEST_NAME: Final = 40


def curves(
    labels: Sequence[str],
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    quantity: str,
    across: str = "",
    span: tuple[float, float] = (0, 1),
    share: bool = False,
    dark: bool = False,
) -> go.Figure:
    """A line a series (its name, a number a label), named above the picture, numbers exact on hovering.

    ``quantity`` names the numbers and ``across`` the labels; the numbers' axis reaches over ``span``, further where
    numbers lie outside of it. A line ends where its numbers are nan. With a ``share`` they are written as percentages.
    Raises ValueError where numbers do not fit the labels.
    """
    if not series or any(len(values) != len(labels) for _, values in series):
        raise ValueError(f"the numbers do not fit {len(labels)} labels")
    known = [value for _, values in series for value in values if value == value]  # nan: a line that ends before
    low, high = min([span[0], *known]), max([span[1], *known])
    room = 0.03 * (high - low)
    above = _LEGEND_ROW * len(series) + 12
    places = list(range(len(labels)))
    step = 1 + (len(labels) - 1) // _MOST_LABELS
    return go.Figure(
        data=[
            line(
                token_text(name, _LONGEST_NAME),
                places,
                values,
                colour,
                marked=symbol(number),
                hovertext=[
                    f"{token_text(name)}<br>{token_text(f'{across} {label}'.strip())}: "
                    f"<b>{format(value, '.1%' if share else '.4f')}</b>".replace("<b>-", "<b>−")
                    for label, value in zip(labels, values, strict=True)
                ],
                hover="%{hovertext}<extra></extra>",
            )
            for number, ((name, values), colour) in enumerate(zip(series, categorical(len(series), dark), strict=True))
        ],
        layout=base_layout(
            dark,
            height=max(_HEIGHT, above + _PLOT),
            margin={"l": 8, "r": 16, "t": above, "b": 48},
            xaxis=axis(
                dark,
                token_text(across) if across else "",
                tickvals=places[::step],
                ticktext=[token_text(label) for label in labels[::step]],
                range=[-0.3, len(labels) - 0.7],
            ),
            yaxis=axis(
                dark,
                token_text(quantity),
                grid=True,
                range=[low - room, high + room],
                tickformat=".0%" if share else "",
            ),
            legend=LEGEND_ABOVE | {"orientation": "v"},
        ),
    )
