"""A sum as a waterfall: each part begins where the one before it ended, and the last bar is what they come to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from viz.layout import axis_style, base_layout, token_text
from viz.palette import categorical, diverging, theme

_BAR: Final = 24  # px
_LONGEST_LABEL: Final = 26
_ROOM: Final = 0.12  # of the span on each side, for the numbers


def waterfall(
    parts: Sequence[tuple[str, float, str]], total: str, *, what: str = "logit", dark: bool = False
) -> go.Figure:
    """A bar a part, from top to bottom: its name, what it adds, and what is said of it when it is pointed at. ``total``
    names their sum. Trace 0; ``customdata`` is the place of a part. Raises ValueError where there are no parts.
    """
    if not parts:
        raise ValueError("there are no parts to add up")
    colours = theme(dark)
    scale = diverging(dark)
    down, up = scale[len(scale) // 5][1], scale[-1 - len(scale) // 5][1]
    (whole,) = categorical(1, dark)
    starts, at = [], 0.0
    for _, value, _ in parts:
        starts.append(at)
        at += value
    ends = [start + value for start, (_, value, _) in zip(starts, parts, strict=True)]
    low, high = min(0.0, *ends), max(0.0, *ends)
    room = _ROOM * (high - low or 1.0)
    names = [*(name for name, _, _ in parts), total]
    values = [*(value for _, value, _ in parts), at]
    places = list(range(len(names)))
    style = axis_style(colours) | {"fixedrange": True}
    return go.Figure(
        data=[
            {
                "type": "bar",
                "orientation": "h",
                "base": [*starts, 0.0],
                "x": values,
                "y": places,
                "marker": {"color": [*(up if value > 0 else down for value in values[:-1]), whole]},
                "text": [_signed(value) for value in values[:-1]] + [f"{at:.2f}".replace("-", "−")],
                "textposition": "outside",
                "textfont": {"color": colours.text, "size": 12},
                "cliponaxis": False,
                "customdata": places,
                "hovertext": [
                    f"{token_text(name)}: <b>{_signed(value)}</b>" + (f"<br>{token_text(said)}" if said else "")
                    for name, value, said in parts
                ]
                + [f"{token_text(total)}: <b>{at:.4f}</b>".replace("-", "−")],
                "hovertemplate": "%{hovertext}<extra></extra>",
            }
        ],
        layout=base_layout(
            dark,
            bargap=0.25,
            dragmode=False,
            height=_BAR * len(names) + 60,
            margin={"l": 8, "r": 16, "t": 8, "b": 44},
            xaxis=style
            | {
                "range": [low - room, high + room],
                "title": style["title"] | {"text": token_text(what)},
                "zeroline": True,
                "zerolinecolor": colours.line,
                "automargin": True,
            },
            yaxis=style
            | {
                "tickvals": places,
                "ticktext": [token_text(name, _LONGEST_LABEL) for name in names],
                "range": [len(names) - 0.5, -0.5],
                "ticklabelstandoff": 6,
                "automargin": True,
            },
        ),
    )


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
