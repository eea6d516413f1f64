"""View "Nearest": the other sentences, the most similar to a chosen one first."""

from __future__ import annotations

import streamlit as st

from analysis.sentence_vectors import cosines
from pages.sentence_vectors.scene import LONGEST_LISTED, MORE, MOST, OF_SENTENCES, Scene
from ui import Field, View, within
from viz.layout import clipped

SENTENCE: Field[int] = Field("sentence", 1, within("the sentence", 1, MOST), of="sentence_vectors")


def draw(scene: Scene) -> None:
    SENTENCE.value = min(SENTENCE.value, len(scene.sentences))
    numbered = enumerate(scene.sentences, start=1)
    labels = {number: f"{number}: {clipped(sentence, LONGEST_LISTED)}" for number, sentence in numbered}
    row = st.selectbox("Sentence", **SENTENCE.offering(labels)) - 1
    numbers = f"cosines(vectors)[{row}]  # of sentence {row + 1} on the page with every sentence"
    scene.put_python(numbers, lambda: cosines(scene.vectors)[row])
    scene.draw_ranking(row, "nearest")


VIEW = View(
    "nearest",
    "Nearest",
    draw,
    about="Choose a sentence: the others are ranked by the cosine of their vectors with its vector.",
    more=MORE,
    fields=(*OF_SENTENCES, SENTENCE),
    tab=20,
)
