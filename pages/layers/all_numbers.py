"""View "All numbers": one row for each task, with its baselines, best layer, controls and depth."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.layers import python_lines
from pages.layers.scene import Scene
from pages.layers.tables import COLUMNS, WITHOUT_RANDOM_WEIGHTS, depth_text, interval
from ui import View, as_python, tables
from viz.layout import layer_names

_BEST = ("task", "layer", "accuracy", "low", "high", "selectivity", "bits")


def draw(scene: Scene) -> None:
    rows_of_best = [[getattr(probed.result.best, name) for name in _BEST] for probed in scene.probed]
    as_python.put(
        python_lines.bind_results(scene.probed, scene.choice.user_data)
        + f"columns = {as_python.literal(list(_BEST))}\n"
        "best = [[getattr(result.best, name) for name in columns] for result in results]\n"
        "numbers = pd.DataFrame(best, columns=columns)",
        lambda: pd.DataFrame(rows_of_best, columns=_BEST),
    )
    rows = []
    for probed in scene.probed:
        result, best = probed.result, probed.result.best
        names = layer_names(len(result.layers))
        rows.append(
            {
                "task": probed.title,
                "best layer": names[best.layer],
                "accuracy there": tables.per_cent(best.accuracy),
                "95% interval": interval(best),
                "not significantly different": ", ".join(
                    names[layer] for layer in result.as_good if layer != best.layer
                ),
                **{judge.name: tables.per_cent(judge.accuracy) for judge in result.baselines},
                "random weights": tables.per_cent(chance.accuracy if (chance := result.random_weights) else None),
                "expected layer": depth_text(result.expected_layer),
                "centre of gravity": depth_text(result.centre_of_gravity),
                "not beaten": ", ".join(result.not_beaten),
                "selectivity": tables.per_cent(best.selectivity),
                "control task": tables.per_cent(best.control_accuracy),
                "bits": best.bits,
                "times shorter": best.compression,
                "C": result.c,
                "labels": len(result.labels),
                "training items": result.n_train,
                "development items": result.n_development,
                "test items": result.n_test,
            }
        )
    task = st.column_config.TextColumn(pinned=True)  # seen beside the last columns, too
    st.dataframe(
        pd.DataFrame(rows).dropna(axis="columns", how="all"),
        hide_index=True,
        column_config={**COLUMNS, "task": task},
    )
    st.caption(
        "Controls and description length are for the best layer, chosen on the development items (the lowest, in a "
        "tie); *random weights* is their own best layer, chosen the same way. Depth counts layers, with the embeddings "
        "as 0, and has a 95% interval over held-out texts. It is empty where the best layer is not significantly "
        "better than all baselines, the embeddings and random weights: *not beaten* names which of them."
    )
    if any(probed.result.expected_layer and not probed.result.random_weights for probed in scene.probed):
        st.caption(WITHOUT_RANDOM_WEIGHTS)


VIEW = View(
    "summary",
    "All numbers",
    draw,
    "A row for each task: its best layer, its interval and its baselines.",
    needs=("results",),
    tab=30,
    terms=("probe", "selectivity", "expected layer"),
)
