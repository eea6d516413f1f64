"""Figures of what probes find in the layers: accuracy of tasks x layers, and the curve of one task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import plotly.graph_objects as go

from analysis.probing.results import TaskResult
from viz.layout import columns, layer_names, rows, scale_bar, token_text
from viz.matrix import cells, line_before, matrix_figure
from viz.palette import sequential, theme

_ROW: Final = 44  # px per task
_LONGEST_TITLE: Final = 28  # characters of a task's name beside the picture


def layers_by_tasks(results: Sequence[TaskResult], titles: Sequence[str], *, dark: bool = False) -> go.Figure:
    """Accuracy of every task at every layer, with its interval, beside the baselines.

    The first columns are the majority baseline and the best judge that has no vectors. A cell says the accuracy and the
    95 % interval in percent; its colour is how far the layer gets from the majority (0) to no mistakes (1), so that
    tasks with different baselines compare. Cells of layers a model does not have stay empty. The best layer, chosen on
    the development items, is written in bold.
    """
    colours = theme(dark)
    n_layers = max((len(result.layers) for result in results), default=1)
    baselines = ["majority", "no model"]
    names = [*baselines, *layer_names(n_layers)]
    small = 10 if len(names) <= 16 else 8  # px: what an interval may take in a narrow cell
    shades = np.full((len(results), len(names)), np.nan, dtype=np.float32)
    written = [["" for _ in names] for _ in results]
    hover = [["" for _ in names] for _ in results]
    for row, result in enumerate(results):
        name = token_text(titles[row])
        judges = [f"{judge.name}: {100 * judge.accuracy:.1f} %" for judge in result.baselines]
        highest = result.without_model.accuracy
        for column, (value, lines) in enumerate([(result.majority, judges[:1]), (highest, judges)]):
            shades[row, column] = _gain(value, result.majority)
            written[row][column] = f"{100 * value:.0f}"
            hover[row][column] = "<br>".join([name, *lines])
        for layer in result.layers:
            column = len(baselines) + layer.layer
            shades[row, column] = _gain(layer.accuracy, result.majority)
            ends = dict.fromkeys((f"{100 * layer.low:.0f}", f"{100 * layer.high:.0f}"))
            right = f"{100 * layer.accuracy:.0f}"
            if layer.layer == result.best.layer:
                right = f"<b>{right}</b>"
            written[row][column] = f"{right}<br><span style='font-size:{small}px'>{'–'.join(ends)}</span>"
            lines = [
                name,
                f"{names[column] if layer.layer == 0 else 'layer ' + names[column]}",
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
        for row, of_task in enumerate(written)
        for column, cell in enumerate(of_task)
        if cell
    ]
    marks = [(0.0, "majority"), (1.0, "100%")]
    gaps = {"xgap": 2, "ygap": 2, "hoverongaps": False}
    safe_titles = [token_text(title, _LONGEST_TITLE) for title in titles]
    return matrix_figure(
        [cells(shades, sequential(dark), 0.0, 1.0, "%{text}<extra></extra>", text=hover, **gaps)],
        columns(names, dark, "layer", range=[-0.5, len(names) - 0.5], fixedrange=False),
        rows(safe_titles, dark, "task", fixedrange=False, ticklabelstandoff=0),
        scale_bar(sequential(dark), marks, "accuracy, from each task's majority baseline", dark),
        dark,
        height=_ROW * max(len(results), 1) + 60,
        shapes=[line_before(len(baselines), colours.muted)],
        annotations=numbers,
        dragmode="zoom",
    )


def _gain(accuracy: float, majority: float) -> float:
    """0 at the majority baseline and below, 1 without mistakes."""
    return max(accuracy - majority, 0.0) / (1 - majority) if majority < 1 else 0.0
