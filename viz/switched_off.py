"""What is lost when one head is off: beside other heads of its layer, and beside all of them together."""

from __future__ import annotations

from typing import Any, Final

import plotly.graph_objects as go

from analysis.corpus.importance import Effect, HeadComparison, Mean
from model_zoo.types import format_interval
from viz.layout import PERCENT, axis, token_text
from viz.marks import LEGEND_BELOW, bars_layout, error_bars
from viz.palette import theme

_ROW: Final = 26  # px


def switched_off(effects: HeadComparison, quantity: str, *, right: bool = False, dark: bool = False) -> go.Figure:
    """A row a set of heads, the head itself on top, then others of its layer by themselves, then all of the layer: the
    mean change of a score with its interval, ``quantity`` names it; or with ``right`` the share of right answers, where
    a dotted line is at that with nothing off.

    Trace 0 is the head, 1 the others, 2 the whole layer.
    """
    colours = theme(dark)
    rows = [effects.head, *effects.others, effects.layer]
    ((layer, head),) = effects.head.heads
    names = [
        f"<b>head {head + 1}</b>",
        *(f"head {effect.heads[0][1] + 1}" for effect in effects.others),
        "the whole layer",
    ]
    parts = (
        (f"layer {layer + 1}, head {head + 1}", [0], "circle", colours.primary, 12),
        ("other heads of the layer", list(range(1, len(rows) - 1)), "circle-open", colours.muted, 10),
        ("all heads of the layer", [len(rows) - 1], "square-open", colours.text, 10),
    )
    unit = ".1%" if right else ".3f"

    def points(name: str, places: list[int], form: str, colour: str, size: int) -> dict[str, Any]:
        means = [_mean(rows[place], right=right) for place in places]
        values = [mean.value for mean in means]
        return {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "x": values,
            "y": places,
            "marker": {"symbol": form, "size": size, "color": colour, "line": {"width": 2, "color": colour}},
            "error_x": error_bars(
                values, [effect.low for effect in means], [effect.high for effect in means], colour, 2
            ),
            "hovertext": [
                f"{names[place]} off: {format_interval(mean.value, mean.low, mean.high, unit)}"
                for place, mean in zip(places, means, strict=True)
            ],
            "hovertemplate": "%{hovertext}<extra></extra>",
            "cliponaxis": False,
        }

    figure = go.Figure(
        data=[points(*part) for part in parts],
        layout=bars_layout(
            names,
            dark,
            height=_ROW * len(rows) + 96,
            margin={"l": 8, "r": 16, "t": 8, "b": 88},
            xaxis=axis(dark, token_text(quantity), grid=True, zero=not right, tickformat=PERCENT if right else None),
            legend=LEGEND_BELOW,
        ),
    )
    figure.add_vline(
        effects.right.value if right else 0.0,
        line={"color": colours.muted, "dash": "dot" if right else "solid", "width": 1},
    )
    return figure


def _mean(effect: Effect, *, right: bool) -> Mean:
    return effect.right if right else effect.change
