"""View "Similarity of layers": linear CKA of every pair of layers, on the held-out items of a task."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from pages.layers import python_lines
from pages.layers.scene import Scene
from ui import View, as_python, figures, save, widgets
from viz.layout import layer_names
from viz.matrix import similarity


def draw(scene: Scene) -> None:
    with widgets.controls():
        task = scene.ask_task()
    picture = task.picture
    lines = python_lines.bind_picture(task, scene.choice.user_data)
    as_python.put(lines + "numbers = picture.cka", lambda: picture.cka)
    few = " There are fewer vectors than dimensions, so all values are too high; compare them only with each other."
    figures.show(partial(similarity, picture.cka), "similarity", f"similarity-{picture.task}")
    st.caption(
        f"Linear CKA on the same {len(picture.labels):,} held-out vectors: 1 is the same up to rotation, shift and "
        f"scale.{few if len(picture.labels) < task.model.width else ''}"
    )
    names = layer_names(len(picture.cka))
    save.table(
        "Similarity",
        lambda: pd.DataFrame(picture.cka, columns=names).assign(layer=names).set_index("layer").reset_index(),
        f"similarity-{picture.task}",
    )


VIEW = View(
    "similarity",
    "Similarity of layers",
    draw,
    "How similar the vectors of two layers are: 1 means the same up to rotation, shift and scale.",
    needs=("results",),
    tab=60,
    terms=("CKA",),
)
