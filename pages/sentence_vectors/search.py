"""View "Search": the sentences ranked by how similar their vectors are to that of a query."""

from __future__ import annotations

import streamlit as st

from analysis.sentence_vectors import cosines
from pages.sentence_vectors.scene import MORE, OF_SENTENCES, QUERY, Scene
from ui import View


def draw(scene: Scene) -> None:
    if not scene.query:
        st.info("Type a query.", icon=":material/search:")
        scene.finish()
        return
    numbers = "cosines(vectors)[0, 1:]  # of what is searched for with every sentence"
    scene.put_python(numbers, lambda: cosines(scene.vectors)[0, 1:])
    scene.draw_ranking(0, "search")


VIEW = View(
    "search",
    "Search",
    draw,
    about="Search by meaning: the sentences whose vectors are most similar to that of your query come first.",
    more=MORE,
    fields=(*OF_SENTENCES, QUERY),
    tab=40,
    terms=("semantic search",),
)
