"""View "Curve": one task's accuracy over the layers, beside baselines, random weights and the control task."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from pages.layers import python_lines
from pages.layers.scene import Scene
from pages.layers.tables import COLUMNS, best_layer_text, depth_sentence, interval
from ui import View, as_python, figures, tables, widgets
from viz.curves import probe_curve
from viz.layout import layer_names


def draw(scene: Scene) -> None:
    with widgets.controls():
        task = scene.ask_task()
    result = task.result
    figures.show(partial(probe_curve, result, task.title), "curve", f"curve-{result.task}")
    lines = python_lines.bind_result(task, scene.choice.user_data)
    as_python.put(lines + "numbers = result.to_frame()", result.to_frame)
    table = pd.DataFrame(
        {
            "layer": layer_names(len(result.layers)),
            "accuracy": [tables.per_cent(layer.accuracy) for layer in result.layers],
            "95% interval": [interval(layer) for layer in result.layers],
            "p against the best": result.p[result.best.layer],
            "development": [tables.per_cent(layer.development_accuracy) for layer in result.layers],
            "random weights": [tables.per_cent(layer.untrained_accuracy) for layer in result.layers],
            "selectivity": [tables.per_cent(layer.selectivity) for layer in result.layers],
            "control task": [tables.per_cent(layer.control_accuracy) for layer in result.layers],
            "bits": [layer.bits for layer in result.layers],
            "times shorter": [layer.compression for layer in result.layers],
        }
    ).dropna(axis="columns", how="all")
    if len(result.accuracies) > 1:
        seeds = 100 * np.array(result.accuracies)
        table = table.assign(**{"lowest seed": seeds.min(axis=0), "highest seed": seeds.max(axis=0)})
    st.caption(
        f"Best on the development items: {best_layer_text(result)} {depth_sentence(result)} "
        f"The probes of all layers have the same C, {result.c:g}."
    )
    st.dataframe(table, hide_index=True, column_config=COLUMNS)


VIEW = View(
    "curve",
    "Curve",
    draw,
    "One task over the layers, compared with word baselines, random weights and a control task.",
    needs=("results",),
    tab=20,
    terms=("control task", "selectivity"),
)
