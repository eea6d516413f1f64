"""View "Misclassified": the held-out items that a layer's probe got wrong, most confident first."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.layers import python_lines
from pages.layers.fields import LAYER
from pages.layers.scene import Scene
from pages.layers.tables import SHARE
from ui import View, as_python, save, widgets
from viz.layout import layer_names


def draw(scene: Scene) -> None:
    with widgets.controls():
        task = scene.ask_task()
        result = task.result
        n_layers = len(result.layers)
        LAYER.value = min(LAYER.value, n_layers - 1)
        names = dict(enumerate(layer_names(n_layers)))  # 0 is the embeddings
        layer = result.layers[int(st.select_slider("Layer", **LAYER.offering(names), width=360))]
    lines = python_lines.bind_result(task, scene.choice.user_data)
    lines += f"numbers = pd.DataFrame(result.layers[{layer.layer}].wrong)"
    as_python.put(lines, lambda: pd.DataFrame(layer.wrong))
    if not layer.wrong:
        st.success("No held-out item is misclassified at this layer.", icon=":material/check:")
        return
    n_wrong = round((1 - layer.accuracy) * result.n_test)
    table = pd.DataFrame(
        {
            "text": [example.text for example in layer.wrong],
            "word": [example.word for example in layer.wrong],
            "label": [example.label for example in layer.wrong],
            "predicted": [example.predicted for example in layer.wrong],
            "probability": [100 * example.probability for example in layer.wrong],
        }
    ).dropna(axis="columns", how="all")
    st.dataframe(
        table, hide_index=True, column_config={"text": st.column_config.TextColumn(width="large"), "probability": SHARE}
    )
    st.caption(
        f"{n_wrong:,} of {result.n_test:,} held-out items are misclassified. These are the {len(layer.wrong)} the "
        "probe was most confident about."
    )
    save.table("These examples", lambda: table, f"misclassified-{result.task}-layer-{layer.layer}")


VIEW = View(
    "misclassified",
    "Misclassified",
    draw,
    "The held-out items that the probe on a layer misclassifies most confidently.",
    needs=("results",),
    tab=40,
)
