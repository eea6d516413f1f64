"""View "Plane": the sentences on the first two principal components of their vectors."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from analysis.probing.pca import principal_components
from pages.sentence_vectors.scene import LONGEST_LISTED, MORE, OF_SENTENCES, Scene
from ui import View, as_text, figures
from viz.layout import clipped
from viz.planes import sentence_plane


def draw(scene: Scene) -> None:
    projection = principal_components(scene.vectors[None])
    points = projection.points[0]
    first, second = projection.explained[0].tolist()
    figure = partial(sentence_plane, points, (first, second), scene.sentences)
    figures.show(figure, "sentences in the plane", "sentences-in-the-plane")
    st.caption(
        f"The first two principal components, with {first + second:.0%} of the variance: points that are close here "
        "can be far apart in the other directions."
    )
    numbered = enumerate(scene.sentences, start=1)
    st.markdown("\n".join(f"{number}. {as_text(clipped(text, LONGEST_LISTED))}" for number, text in numbered))
    scene.put_python("principal_components(vectors[None]).points[0]", lambda: points)
    table = pd.DataFrame({"sentence": scene.sentences, "component 1": points[:, 0], "component 2": points[:, 1]})
    scene.finish("Points", lambda: table, "sentences-in-the-plane")


VIEW = View(
    "plane",
    "Plane",
    draw,
    about="Every sentence is a point: similar vectors are close, as far as two directions can show it.",
    more=MORE,
    fields=OF_SENTENCES,
    tab=30,
    terms=("principal components",),
)
