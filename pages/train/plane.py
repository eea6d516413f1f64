"""View "While it learns": where the texts of the development split stand in the plane, epoch by epoch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from analysis.before_after import Path, path_in_the_plane
from pages.train import python_lines
from pages.train.scene import Scene
from training.finetuning.data import OUTSIDE, Item, Labelled, PassageQuestion, Scored, Tagged
from training.finetuning.folder import epoch_kept
from training.finetuning.results import Tuned
from ui import View, as_python, ask_for, figures, notes, save
from ui.precomputed import trainings
from viz.planes import learning_plane


def draw(scene: Scene) -> None:
    tuned, known = scene.outcomes[0], None if scene.tuned else trainings.inside()
    if known is not None:
        path, epochs = known.path, known.epochs
    else:
        vectors = [epoch.vectors for epoch in tuned.first_vectors]
        if len(vectors) < 2 or len(vectors[0]) < 2:
            ask_for("This needs at least one whole epoch and two texts in the development split.")
            return
        path, epochs = path_in_the_plane(vectors), tuple(epoch.epoch for epoch in tuned.first_vectors)
    as_python.put(
        python_lines.tune(tuned, scene.user_data)
        + "path = path_in_the_plane([epoch.vectors for epoch in tuned.outcome.first_vectors])\n"
        "numbers = path.points  # of each epoch and text",
        lambda: path.points,
    )
    n = path.points.shape[1]
    items = tuned.data.dev[:n]
    names = [str(epoch) for epoch in epochs]
    texts = [item.text if item.pair is None else f"{item.text} – {item.pair}" for item in items]
    groups = [_group(item) for item in items]
    figure = partial(learning_plane, path.points, path.explained, names, texts, groups)  # type: ignore[arg-type]
    if len(scene.tuned) > 1:
        st.caption(f"This is the first of {len(scene.tuned)} seeds, {tuned.settings.seed}.")
    notes.note_many_labels(len({group for group in groups if isinstance(group, str)}))
    figures.show(figure, "learning plane", "learning-plane")
    st.caption(
        f"Each point is one of {n} texts of the development split, which the model is not trained on: the last "
        "layer’s vector of its first token ([CLS] in BERT), on the first two principal components of all epochs "
        "together. Epoch 0 is before training. The plane shows only part of the distances in the model: see the "
        f"percentages on the axes. {_ABOUT[tuned.data.kind]} The weights that are kept are those of "
        f"{epoch_kept(tuned)}."
    )
    save.table("Points", lambda: _table(tuned, path, epochs, texts), "learning-plane")


_ABOUT = {
    "classification": "Colours are the true labels.",
    "tagging": "Colours show whether the sentence has an entity; this task reads its words, not its first token.",
    "answering": "Colours show whether the passage has the answer; this task reads its tokens, and the first one for "
    "“no answer”.",
    "similarity": "Colours are the true scores.",
}


def _group(item: Item) -> str | float:
    match item:
        case Labelled():
            return item.label
        case Tagged():
            return "no entity" if set(item.tags) <= {OUTSIDE} else "with entities"
        case PassageQuestion():
            return "answered" if item.answers else "no answer"
        case Scored():
            return item.score


def _table(tuned: Tuned, path: Path, epochs: Sequence[int], texts: list[str]) -> pd.DataFrame:
    rows = [
        (epoch, text, _group(item), float(point[0]), float(point[1]))
        for epoch, points in zip(epochs, path.points, strict=True)
        for text, item, point in zip(texts, tuned.data.dev, points, strict=False)
    ]
    return pd.DataFrame(rows, columns=["epoch", "text", "true", "component 1", "component 2"])


VIEW: View[Scene] = View(
    "plane",
    "While it learns",
    draw,
    about="Move the slider: classes that start mixed separate as the model learns, or they do not.",
    needs=("results",),
    tab=50,
    terms=("principal components",),
)
