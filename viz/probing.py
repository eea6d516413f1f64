"""Figures of what probes find in the layers: accuracy of tasks x layers, and the curve of one task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import plotly.graph_objects as go

from analysis.probing.results import TaskResult
from viz.layout import axis_style, base_layout, layer_names, token_text
from viz.palette import categorical, sequential, theme

_ROW: Final = 44  # px per task
_LONGEST_TITLE: Final = 28  # characters of a task's name beside the picture


def layers_by_tasks(results: Sequence[TaskResult], titles: Sequence[str], *, dark: bool = False) -> go.Figure:
    """Accuracy of every task at every layer, with its interval, beside the baselines.

    The first columns are the majority baseline and the best judge that has no vectors. A cell says the accuracy and the
    95 % interval in per cent; its colour is how far the layer gets from the majority (0) to no mistakes (1), so that
    tasks with different baselines compare. Cells of layers a model does not have stay empty. The best layer, chosen on
    the development items, is written in bold.
    """
    colours = theme(dark)
    n_layers = max((len(result.layers) for result in results), default=1)
    baselines = ["majority", "no model"]
    columns = [*baselines, *layer_names(n_layers)]
    small = 10 if len(columns) <= 16 else 8  # px: what an interval may take in a narrow cell
    shades = np.full((len(results), len(columns)), np.nan, dtype=np.float32)
    cells = [["" for _ in columns] for _ in results]
    hover = [["" for _ in columns] for _ in results]
    for row, result in enumerate(results):
        name = token_text(titles[row])
        judges = [f"{judge.name}: {100 * judge.accuracy:.1f} %" for judge in result.baselines]
        highest = result.without_model.accuracy
        for column, (value, lines) in enumerate([(result.majority, judges[:1]), (highest, judges)]):
            shades[row, column] = _gain(value, result.majority)
            cells[row][column] = f"{100 * value:.0f}"
            hover[row][column] = "<br>".join([name, *lines])
        for layer in result.layers:
            column = len(baselines) + layer.layer
            shades[row, column] = _gain(layer.accuracy, result.majority)
            ends = dict.fromkeys((f"{100 * layer.low:.0f}", f"{100 * layer.high:.0f}"))
            right = f"{100 * layer.accuracy:.0f}"
            if layer.layer == result.best.layer:
                right = f"<b>{right}</b>"
            cells[row][column] = f"{right}<br><span style='font-size:{small}px'>{'–'.join(ends)}</span>"
            lines = [
                name,
                f"{columns[column] if layer.layer == 0 else 'layer ' + columns[column]}",
                f"accuracy {100 * layer.accuracy:.1f} % ({100 * layer.low:.1f}–{100 * layer.high:.1f})",
                f"majority {100 * result.majority:.1f} %, best without a model {100 * highest:.1f} %",
            ]
            if layer.untrained_accuracy is not None:
                lines += [f"random weights {100 * layer.untrained_accuracy:.1f} %"]
            if len(result.accuracies) > 1:
                seeds = [row[layer.layer] for row in result.accuracies]
                lines += [f"{len(seeds)} seeds: {100 * min(seeds):.1f}–{100 * max(seeds):.1f} %"]
            if layer.control_accuracy is not None:
                lines += [
                    f"control task {100 * layer.control_accuracy:.1f} %, "
                    f"selectivity {100 * (layer.selectivity or 0):+.1f}"
                ]
            if layer.bits is not None:
                lines += [f"description length {layer.bits:,.0f} bits, {layer.compression:.2f} × shorter"]
            hover[row][column] = "<br>".join(lines)
    scale = sequential(dark)
    # White on dark cells and the reverse: text is set per cell, because a heatmap's own text has one colour.
    # All at once: Plotly checks all annotations again whenever one is added.
    numbers = [
        {
            "x": column,
            "y": row,
            "text": cell,
            "showarrow": False,
            "font": {"color": colours.background if shades[row, column] > 0.5 else colours.text, "size": 13},
        }
        for row, of_task in enumerate(cells)
        for column, cell in enumerate(of_task)
        if cell
    ]
    after_baselines = {
        "type": "line",
        "x0": len(baselines) - 0.5,
        "x1": len(baselines) - 0.5,
        "y0": 0,
        "y1": 1,
        "xref": "x",
        "yref": "y domain",
        "line": {"color": colours.muted, "width": 1},
    }
    axis = axis_style(colours)
    return go.Figure(
        data=go.Heatmap(
            z=shades,
            x=list(range(len(columns))),
            y=list(range(len(results))),
            zmin=0.0,
            zmax=1.0,
            colorscale=scale,
            xgap=2,
            ygap=2,
            text=hover,
            hovertemplate="%{text}<extra></extra>",
            hoverongaps=False,
            colorbar={
                "orientation": "h",
                "yref": "container",
                "y": 0.0,
                "yanchor": "bottom",
                "x": 0.5,
                "lenmode": "pixels",
                "len": 220,
                "thickness": 10,
                "outlinewidth": 0,
                "tickvals": [0, 1],
                "ticktext": ["majority", "no mistakes"],
                "tickfont": {"size": 11, "color": colours.muted},
            },
        ),
        layout=base_layout(
            dark,
            annotations=numbers,
            shapes=[after_baselines],
            height=_ROW * max(len(results), 1) + 120,
            margin={"l": 10, "r": 10, "t": 60, "b": 60},
            xaxis={
                **axis,
                "side": "top",
                "tickvals": list(range(len(columns))),
                "ticktext": columns,
                "title": {**axis["title"], "text": "layer"},
                "range": [-0.5, len(columns) - 0.5],
            },
            yaxis={
                **axis,
                "tickvals": list(range(len(results))),
                "ticktext": [token_text(title, _LONGEST_TITLE) for title in titles],
                "range": [len(results) - 0.5, -0.5],
                "automargin": True,
            },
        ),
    )


def _gain(accuracy: float, majority: float) -> float:
    """0 at the majority baseline and below, 1 without mistakes."""
    return max(accuracy - majority, 0.0) / (1 - majority) if majority < 1 else 0.0


def curve(result: TaskResult, title: str, *, dark: bool = False) -> go.Figure:
    """One task's accuracy over the layers with its intervals, the baselines, the control task and random weights; with
    several seeds, the band that they span.
    """
    colours = theme(dark)
    judges = result.baselines[1:]
    real, untrained, control, *others = categorical(3 + len(judges), dark)
    x = [layer.layer for layer in result.layers]
    accuracy = np.array([layer.accuracy for layer in result.layers])
    figure = go.Figure()
    if len(result.accuracies) > 1:
        seeds = np.array(result.accuracies)
        figure.add_scatter(
            x=[*x, *reversed(x)],
            y=[*seeds.max(axis=0), *seeds.min(axis=0)[::-1]],
            name=f"{len(seeds)} seeds",
            mode="lines",
            line={"width": 0},
            fill="toself",
            fillcolor=_faint(real),
            hoverinfo="skip",
        )
    figure.add_trace(
        go.Scatter(
            x=x,
            y=accuracy,
            name="accuracy",
            mode="lines+markers",
            line={"color": real, "width": 2},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": np.array([layer.high for layer in result.layers]) - accuracy,
                "arrayminus": accuracy - np.array([layer.low for layer in result.layers]),
                "color": real,
                "thickness": 1,
            },
            hovertemplate="%{y:.1%}<extra>accuracy</extra>",
        )
    )
    for judge, colour in zip(result.baselines, [colours.muted, *others], strict=True):
        figure.add_scatter(
            x=[x[0], x[-1]],
            y=[judge.accuracy, judge.accuracy],
            name=judge.name,
            mode="lines",
            line={"color": colour, "dash": "dash", "width": 1.5},
            hovertemplate=f"%{{y:.1%}}<extra>{judge.name}</extra>",
        )
    series = [
        ("random weights", [layer.untrained_accuracy for layer in result.layers], untrained),
        ("control task", [layer.control_accuracy for layer in result.layers], control),
    ]
    for name, values, colour in series:
        if all(value is not None for value in values):
            figure.add_scatter(
                x=x,
                y=values,
                name=name,
                mode="lines+markers",
                line={"color": colour, "dash": "dot", "width": 1.5},
                hovertemplate=f"%{{y:.1%}}<extra>{name}</extra>",
            )
    axis = axis_style(colours)
    figure.update_layout(
        base_layout(
            dark,
            title={"text": token_text(title)},
            height=360,
            margin={"l": 10, "r": 10, "t": 50, "b": 10},
            hovermode="x unified",
            xaxis={
                **axis,
                "tickvals": x,
                "ticktext": layer_names(len(x)),
                "title": {**axis["title"], "text": "layer"},
            },
            yaxis={
                **axis,
                "range": [0, 1.03],
                "tickformat": ".0%",
                "showgrid": True,
                "gridcolor": colours.line,
                "automargin": True,
                "title": {**axis["title"], "text": "accuracy"},
            },
        )
    )
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.2})
    return figure


def _faint(colour: str) -> str:
    """A colour "#rrggbb" that lets what is behind it through."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.15)"
