"""A number for every row and column, above or below nothing: what each head, word or place does, to be clicked on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from viz.layout import axis_style, base_layout, token_text
from viz.palette import Colorscale, diverging, sequential, theme
from viz.token_line import filled

_ROW: Final = 28  # px
_LONGEST_LABEL: Final = 12
_LONGEST_ROW: Final = 26
_MOST_NUMBERED: Final = 14  # columns; with more the numbers would print over each other
_LEGEND: Final = 40  # px: the names of the columns, and what is along them


def signed_map(
    values: npt.NDArray[np.floating[Any]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    what: str,
    across: str = "",
    down: str = "",
    end: float | None = None,
    each_row: bool = False,
    marked: Collection[tuple[int, int]] = (),
    mark: str = "off",
    unsigned: bool = False,
    dark: bool = False,
) -> go.Figure:
    """Numbers (rows, columns), coloured on a scale that is centred at 0 and ends at ``end``, by default the largest
    size there is; with ``each_row`` at each row's own. For ``unsigned`` numbers, none below 0, it begins at 0.

    nan stands for what could not be had. Cells in ``marked`` are outlined, and said to be ``mark``. Trace 0 holds the
    cells; ``customdata`` is their row and column, so that a click can say which was meant. Raises ValueError where
    labels do not fit.
    """
    if values.shape != (len(rows), len(columns)):
        raise ValueError(f"{len(rows)} rows and {len(columns)} columns are wanted; got {values.shape}")
    colours = theme(dark)
    scale = sequential(dark) if unsigned else diverging(dark)
    sizes = np.abs(np.nan_to_num(values))
    ends = sizes.max(axis=1, initial=0) if each_row else np.full(len(rows), end or sizes.max(initial=0))
    ends[ends == 0] = 1
    cells = [(row, column, float(values[row, column])) for row in range(len(rows)) for column in range(len(columns))]
    painted = [_cell(value, ends[row], scale, unsigned) for row, _, value in cells]
    style: dict[str, Any] = axis_style(colours) | {"fixedrange": True, "automargin": True}
    numbered = len(columns) <= _MOST_NUMBERED
    return go.Figure(
        data=[
            {
                "type": "bar",  # and no heatmap, whose cells cannot be chosen
                "orientation": "h",
                "base": [column - 0.5 for _, column, _ in cells],
                "x": [1.0] * len(cells),
                "y": [row for row, _, _ in cells],
                "width": 0.94,
                "marker": {
                    "color": [fill or colours.surface for fill, _ in painted],
                    "line": {"color": colours.background, "width": 1},
                },
                "text": [_number(value) if numbered else "" for _, _, value in cells],
                "textposition": "inside",
                "insidetextanchor": "middle",
                "textangle": 0,
                "constraintext": "none",
                "insidetextfont": {"size": 10, "color": [ink or colours.muted for _, ink in painted]},
                "customdata": [[row, column] for row, column, _ in cells],
                "hovertext": [
                    f"{token_text(f'{down} {rows[row]}'.strip())}, {token_text(f'{across} {columns[column]}'.strip())}"
                    f"<br>{token_text(what)}: <b>{_exact(value)}</b>"
                    + (f"<br>{mark}" if (row, column) in marked else "")
                    for row, column, value in cells
                ],
                "hovertemplate": "%{hovertext}<extra></extra>",
                "selected": {"marker": {"opacity": 1}},
                "unselected": {"marker": {"opacity": 1}},
            }
        ],
        layout=base_layout(
            dark,
            barmode="overlay",
            shapes=[
                {
                    "type": "rect",
                    "x0": column - 0.48,
                    "x1": column + 0.48,
                    "y0": row - 0.46,
                    "y1": row + 0.46,
                    "line": {"color": colours.text, "width": 2.5},
                }
                for row, column in sorted(marked)
            ],
            dragmode=False,
            clickmode="event+select",
            height=_ROW * len(rows) + _LEGEND + (20 if across else 0),
            margin={"l": 8, "r": 8, "t": 8, "b": 8},
            xaxis=style
            | {
                "side": "top",
                "range": [-0.5, len(columns) - 0.5],
                "tickvals": list(range(len(columns))),
                "ticktext": [token_text(name, _LONGEST_LABEL) for name in columns],
                "title": style["title"] | {"text": token_text(across) if across else ""},
            },
            yaxis=style
            | {
                "range": [len(rows) - 0.5, -0.5],
                "tickvals": list(range(len(rows))),
                "ticktext": [token_text(name, _LONGEST_ROW) for name in rows],
                "title": style["title"] | {"text": token_text(down) if down else ""},
            },
        ),
    )


def _cell(value: float, end: float, scale: Colorscale, unsigned: bool) -> tuple[str | None, str | None]:
    """Fill and ink; None for a cell without a number."""
    if np.isnan(value):
        return None, None
    cell = filled("", scale, value / end if unsigned else 0.5 + value / (2 * end))
    return cell.fill, cell.ink


def _number(value: float) -> str:
    """Two digits that count, in the room of a cell."""
    if np.isnan(value):
        return "–"
    size = abs(value)
    if size < 0.005:
        return "0"
    written = f"{size:.0f}" if size >= 10 else f"{size:.1f}" if size >= 1 else f"{size:.2f}".removeprefix("0")
    return written if value > 0 else f"−{written}"


def _exact(value: float) -> str:
    return "none" if np.isnan(value) else f"{value:+.4f}".replace("-", "−")
