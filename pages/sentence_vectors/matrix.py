"""View "Matrix": the cosine of every sentence with every other."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from analysis.sentence_vectors import cosines
from pages.sentence_vectors.scene import MORE, OF_SENTENCES, Scene
from ui import View, figures
from viz.matrix import cosine_matrix


def draw(scene: Scene) -> None:
    similarity = cosines(scene.vectors)
    figures.show(partial(cosine_matrix, similarity.astype(np.float32), scene.sentences), "cosines", "cosines")
    scene.put_python("cosines(vectors)", lambda: similarity)

    def table() -> pd.DataFrame:
        named = pd.DataFrame(similarity, columns=[str(number) for number in range(1, len(similarity) + 1)])
        named.insert(0, "sentence", list(scene.sentences))
        return named

    scene.finish("Cosines", table, "cosines")


VIEW = View(
    "matrix",
    "Matrix",
    draw,
    about="The cosine of every sentence with every other: the stronger the colour, the more similar their vectors.",
    more=MORE,
    fields=OF_SENTENCES,
    tab=10,
    terms=("semantic textual similarity", "anisotropy", "pooling"),
)
