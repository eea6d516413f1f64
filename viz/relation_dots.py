"""How well each relation is found: its best head with an interval, beside what it is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import plotly.graph_objects as go

from viz.head_measure import Head, names_of
from viz.layout import axis, base_layout, rows, token_text
from viz.marks import CLICKED_AS_BEFORE, error_bars
from viz.palette import categorical, theme

_ROW: Final = 24  # px
_AXIS: Final = 44  # px
_LINE: Final = 20  # px of an entry of the legend; on a phone each has a line of its own
_LONGEST_NAME: Final = 34
_FORMS: Final = ("line-ns-open", "x-thin-open", "triangle-up-open", "square-open", "star-open")


@dataclass(frozen=True, slots=True)
class Found:
    """A relation: its best head, in how many of ``n`` words that head found the partner, as a share with its interval;
    the same of all that it is compared with, by name, and of several heads together where these were tried.
    """

    relation: str
    head: Head
    n: int
    value: float
    low: float
    high: float
    beside: Mapping[str, float] = field(default_factory=dict)
    ensemble: float | None = None


def relation_dots(
    relations: Sequence[Found], *, quantity: str = "found", whose: str = "best head", dark: bool = False
) -> go.Figure:
    """A row a relation, those found best on top: a point with its interval for the best head, other marks for what it
    is compared with, which are the same of all relations. ``quantity`` names a share, ``whose`` the head.

    Trace 0 has the best heads; its ``customdata`` is (place of the relation in the order given, layer, head), from 0.
    Raises ValueError without relations.
    """
    if not relations:
        raise ValueError("there is no relation to draw")
    order = sorted(range(len(relations)), key=lambda at: -relations[at].value)
    ordered = [relations[at] for at in order]
    colours = theme(dark)
    several, *inks = categorical(2, dark)[1:] + [colours.text, colours.muted] * 3
    values = [relation.value for relation in ordered]
    heads = names_of([relation.head for relation in ordered])
    best = _points(whose, values, "circle", 10, colours.primary) | {
        "error_x": error_bars(
            values, [relation.low for relation in ordered], [relation.high for relation in ordered], colours.primary
        ),
        "hovertext": [
            f"{token_text(relation.relation)}<br>{head}: <b>{relation.value:.1%}</b> of {relation.n:,} "
            f"({relation.low:.1%} to {relation.high:.1%})"
            for relation, head in zip(ordered, heads, strict=True)
        ],
        "customdata": [(at, *relations[at].head) for at in order],
    }
    data = [
        best,
        *(
            _points(
                token_text(name), [relation.beside.get(name) for relation in ordered], _FORMS[place], 11, inks[place]
            )
            for place, name in enumerate(dict.fromkeys(name for relation in ordered for name in relation.beside))
        ),
    ]
    if any(relation.ensemble is not None for relation in ordered):
        data.append(_points("several heads", [relation.ensemble for relation in ordered], "diamond-open", 12, several))
    above = _AXIS + _LINE * max(2, len(data))
    names = [
        f"{token_text(relation.relation, _LONGEST_NAME)}  {relation.head[0] + 1}.{relation.head[1] + 1}"
        for relation in ordered
    ]
    return go.Figure(
        data=data,
        layout=base_layout(
            dark,
            clickmode="event+select",
            hovermode="closest",
            height=_ROW * len(ordered) + above + 8,
            margin={"l": 8, "r": 16, "t": above, "b": 8},
            xaxis=axis(dark, quantity, grid=True, range=[-0.02, 1.02], tickformat=".0%", side="top"),
            yaxis=rows(names, dark, showgrid=True),
            legend={"orientation": "h", "x": 0, "xref": "container", "y": 1, "yref": "container", "yanchor": "top"}
            | {"maxheight": 1},  # else it is cut where rows are few
        ),
    )


def _points(name: str, values: Sequence[float | None], form: str, size: int, colour: str) -> dict[str, Any]:
    """A mark in every row that has a number."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": list(values),
        "y": list(range(len(values))),
        "marker": {"symbol": form, "size": size, "color": colour, "line": {"width": 2, "color": colour}},
        "hovertext": [name if value is None else f"{name}: <b>{value:.1%}</b>" for value in values],
        "hovertemplate": "%{hovertext}<extra></extra>",
        **CLICKED_AS_BEFORE,
    }
