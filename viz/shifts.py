"""Which predictions moved when a word was replaced: ln P after less ln P before, as bars."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from model_zoo.types import Shift
from viz.layout import axis_style, base_layout, headline, token_text
from viz.palette import diverging, theme


def shifts(moved: Sequence[Shift], title: str = "", *, dark: bool = False) -> go.Figure:
    """Bars to the right became more likely, to the left less likely; probabilities before and after beside them.
    ``title`` says of which mask.
    """
    colours = theme(dark)
    scale = diverging(dark)
    down, up = scale[len(scale) // 4][1], scale[-1 - len(scale) // 4][1]
    style = axis_style(colours) | {"fixedrange": True}
    reach = max((abs(shift.difference) for shift in moved), default=1.0) or 1.0
    places = list(range(len(moved)))
    return go.Figure(
        data=[
            go.Bar(
                x=[shift.difference for shift in moved],
                y=places,
                orientation="h",
                marker={"color": [up if shift.difference > 0 else down for shift in moved]},
                text=[f"{shift.difference:+.2f}" for shift in moved],
                textposition="outside",
                textfont={"color": colours.text, "size": 12},
                cliponaxis=False,
                hovertext=[
                    f"{token_text(shift.token)}: {math.exp(shift.before):.3g} → {math.exp(shift.after):.3g}"
                    for shift in moved
                ],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        ],
        layout=base_layout(
            dark,
            bargap=0.25,
            dragmode=False,
            title=headline(title, dark),
            height=25 * len(moved) + 80,
            margin={"l": 8, "r": 16, "t": 28, "b": 44},
            xaxis=style
            | {
                "range": [-1.25 * reach, 1.25 * reach],
                "title": style["title"] | {"text": "change of ln P"},
                "zeroline": True,
                "zerolinecolor": colours.line,
            },
            yaxis=style
            | {
                "tickvals": places,
                "ticktext": [token_text(shift.token, 18) for shift in moved],
                "range": [len(moved) - 0.5, -0.5],
                "ticklabelstandoff": 6,
                "automargin": True,
            },
        ),
    )
