"""View "In the plane": the held-out items on the first two principal components of each layer."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.layers import python_lines
from pages.layers.fields import LAYER
from pages.layers.scene import Scene
from ui import View, as_python, figures, notes, save, widgets
from viz.planes import plane


def draw(scene: Scene) -> None:
    with widgets.controls():
        task = scene.ask_task()
    picture = task.picture
    lines = python_lines.bind_picture(task, scene.choice.user_data)
    as_python.put(lines + "numbers = picture.points  # of each layer and item, on the two axes", lambda: picture.points)
    layer = min(LAYER.value, len(picture.points) - 1)
    notes.note_many_labels(len(set(picture.labels)))
    figures.show(partial(plane, picture, layer=layer), "plane", f"plane-{picture.task}")
    st.caption(
        f"{len(picture.labels):,} held-out {'sentences' if picture.words is None else 'words'}. Each layer has its "
        "own axes, so compare distances only within a layer. What a probe finds may be outside these two directions."
    )
    save.table("Points", picture.to_frame, f"plane-{picture.task}")


VIEW = View(
    "plane",
    "In the plane",
    draw,
    "Held-out items on the first two principal components of a layer (PCA); the slider goes through the layers.",
    needs=("results",),
    tab=50,
    terms=("principal components",),
)
