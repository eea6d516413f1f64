"""What models cost by length of text: one line per model, with its spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import plotly.graph_objects as go

from analysis.latency import Latency
from viz.layout import axis, base_layout, token_text
from viz.marks import error_bars, line, symbol
from viz.palette import categorical, theme

Measure = Literal["latency", "tokens", "words"]

_TITLES: Final[Mapping[Measure, str]] = {
    "latency": "milliseconds per text",
    "tokens": "tokens per second",
    "words": "words per second",
}
_UNITS: Final[Mapping[Measure, str]] = {"latency": "ms", "tokens": "tokens/s", "words": "words/s"}
_LONGEST_NAME: Final = 32


def by_length(
    curves: Mapping[str, Sequence[Latency]], measure: Measure, *, names: Mapping[str, str], dark: bool = False
) -> go.Figure:
    """Medians by the number of tokens, bars over the middle half of the passes.

    Both axes are logarithmic: lengths double from tick to tick, and models that are far apart are all readable. There,
    a time that grows with the length is a line with the slope of the dotted one, and one that grows with its square
    rises twice as steeply; as a speed, the first is level, and the second falls. Raises ValueError without curves.
    """
    if not any(curves.values()):
        raise ValueError("there is nothing to draw: no model has a length that was measured")
    traces = [
        _line(curve, measure, token_text(names[model], _LONGEST_NAME), colour, symbol(place))
        for place, ((model, curve), colour) in enumerate(
            zip(curves.items(), categorical(len(curves), dark), strict=True)
        )
    ]
    if measure == "latency":
        traces.append(_guide([latency for curve in curves.values() for latency in curve], theme(dark).muted))
    lengths = sorted({latency.n_tokens for curve in curves.values() for latency in curve})
    return go.Figure(
        data=traces,
        layout=base_layout(
            dark,
            height=420,
            margin={"l": 8, "r": 16, "t": 16, "b": 8},
            xaxis=axis(
                dark,
                "tokens in the text",
                grid=True,
                type="log",
                tickvals=lengths,
                ticktext=[str(length) for length in lengths],
            ),
            yaxis=axis(
                dark,
                _TITLES[measure],
                grid=True,
                type="log",
                tickvals=_round_numbers(),
                ticktext=[f"{number:,g}" for number in _round_numbers()],
            ),
            legend={"orientation": "h", "x": 0, "y": -0.2, "yanchor": "top"},
        ),
    )


def _values(latency: Latency, measure: Measure) -> tuple[float, float, float]:
    """Median, lower and upper end of the spread in the unit of the measure."""
    if measure == "latency":
        return 1000 * latency.median, 1000 * latency.low, 1000 * latency.high
    n = latency.n_tokens if measure == "tokens" else latency.n_words
    return n / latency.median, n / latency.high, n / latency.low


def _line(curve: Sequence[Latency], measure: Measure, name: str, colour: str, marked: str) -> dict[str, Any]:
    medians, lows, highs = zip(*(_values(latency, measure) for latency in curve), strict=True)
    return line(
        name,
        [latency.n_tokens for latency in curve],
        medians,
        colour,
        marked=marked,
        size=9,
        error_y=error_bars(medians, lows, highs, colour),
        customdata=[
            [low, high, latency.n, latency.n_words] for latency, low, high in zip(curve, lows, highs, strict=True)
        ],
        hover=f"%{{x}} tokens, %{{customdata[3]}} words<br><b>%{{y:,.4~g}} {_UNITS[measure]}</b>"
        "<br>middle half %{customdata[0]:,.4~g} to %{customdata[1]:,.4~g}<br>%{customdata[2]} passes"
        f"<extra>{name}</extra>",
    )


def _guide(latencies: Sequence[Latency], colour: str) -> dict[str, Any]:
    """A dotted line on which twice the tokens take twice the time, from the last point of the slowest model down."""
    longest = max(latency.n_tokens for latency in latencies)
    shortest = min(latency.n_tokens for latency in latencies)
    top = 1000 * max(latency.median for latency in latencies if latency.n_tokens == longest)
    ends = [top * shortest / longest, top]
    return line("twice the tokens, twice the time", [shortest, longest], ends, colour, width=1, dash="dot")


def _round_numbers() -> list[float]:
    """1, 2, 5, 10 ... over all magnitudes a computer has; Plotly's own ticks on such an axis lack their zeros."""
    return [digit * 10.0**power for power in range(-3, 8) for digit in (1, 2, 5)]
