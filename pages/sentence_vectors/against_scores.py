"""View "Against scores": how well cosines agree with the scores of the built-in pairs, by layer and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from model_zoo.errors import ModelZooError
from model_zoo.types import format_interval
from pages.sentence_vectors import scene as vectors
from pages.sentence_vectors.scene import CLOSE, HOW_TO_GET_IT, MINILM, MORE, Scene, default_pooling, measured
from training.finetuning import sentence_pairs
from ui import View, as_python, as_text, figures, join_names, save
from viz.curves import Ranking, rho_by_layer
from web.engine import engine


def draw(scene: Scene) -> None:
    model = scene.model
    with st.spinner("Reading the built-in pairs …", show_time=True):
        agreements = measured(model).agreements
    as_python.put(
        f"numbers = pd.DataFrame(sentence_pairs.measured(engine, {as_python.literal(model)}).agreements)",
        lambda: pd.DataFrame(agreements),
    )
    names = vectors.pooling_names(model)
    rankings = [
        Ranking(
            names[pooling],
            removed,
            [(a.layer, a.rho, a.low, a.high) for a in agreements if (a.pooling, a.removed) == (pooling, removed)],
        )
        for pooling in names
        for removed in (False, True)
    ]
    figures.show(partial(rho_by_layer, rankings, "removed"), "agreement with scores", "agreement-with-scores")
    test, train = sentence_pairs.pairs("test"), sentence_pairs.sentences(sentence_pairs.pairs("train"))
    sentences = [
        f"Spearman’s ρ between the cosine of two sentences and the score of the pair, on the {len(test)} "
        "pairs of the test split of the built-in set **Similarity**, whose card explains the scores. Dotted: without "
        f"the common component of the {len(train)} sentences of its training split."
    ]
    known = [agreement for agreement in agreements if not np.isnan(agreement.rho)]
    if len(known) < len(agreements):
        sentences.append("Gaps: cosines differ by little more than rounding there, so nothing can be ranked.")
    sentences += [
        f"All cosines of {as_text(name)} {_in_layers(close)} are within {CLOSE:g} of each other, though their "
        "differences are larger than rounding."
        for pooling, name in names.items()
        if (close := [a.layer for a in known if a.pooling == pooling and not a.removed and a.spread < CLOSE])
    ]
    if known:
        best = max(known, key=lambda agreement: agreement.rho)
        sentences.append(
            f"Best here: layer {best.layer}, {as_text(names[best.pooling])}{', removed' if best.removed else ''}, "
            f"{format_interval(best.rho, best.low, best.high)}. The best of many on these pairs need not be the best "
            f"on others. Intervals are over the {len({pair.cluster for pair in test})} scenes that the pairs are made "
            "from."
        )
    sentences += [vectors.describe_own_pooling(model, "own"), _by_minilm(model)]
    st.caption(" ".join(filter(None, sentences)))
    table = pd.DataFrame(agreements)
    titles = {
        "rho": "Spearman’s ρ",
        "low": "95% from",
        "high": "to",
        "mean_cosine": "mean cosine of all pairs",
        "spread": "largest − smallest cosine",
    }
    st.dataframe(
        table.assign(pooling=[names[agreement.pooling] for agreement in agreements]),
        hide_index=True,
        column_config={
            name: st.column_config.NumberColumn(title, format="%.2g" if name == "spread" else "%.3f")
            for name, title in titles.items()
        },
    )
    save.table("Agreement with scores", lambda: table.assign(model=model), "agreement-with-scores")


def _in_layers(layers: Sequence[int]) -> str:
    """ "in layer 3", "in layers 1 to 3", "in layers 1 and 3"."""
    if len(layers) < 2:
        return f"in layer {layers[0]}"
    if layers[-1] - layers[0] == len(layers) - 1:
        return f"in layers {layers[0]} to {layers[-1]}"
    return f"in layers {join_names(map(str, layers))}"


def _by_minilm(model: str) -> str:
    """How well MiniLM agrees, if it is at hand and another model is shown; else how to get it."""
    if model == MINILM.id:
        return "This model was trained for sentence vectors, those of its last layer."
    if not engine().has(MINILM.id):
        return f"{MINILM.name}, trained for sentence vectors, can be chosen above {HOW_TO_GET_IT}."
    try:
        with st.spinner("Reading the built-in pairs …", show_time=True):
            agreement = measured(MINILM.id).of(MINILM.layers, default_pooling(MINILM.id), removed=False)
    except ModelZooError:  # no memory for a second model
        return f"{MINILM.name}, trained for sentence vectors, can be chosen above."
    return (
        f"For comparison: {MINILM.name}, trained for sentence vectors, by its own pooling of its last layer: "
        f"{format_interval(agreement.rho, agreement.low, agreement.high)}."
    )


VIEW = View(
    "scores",
    "Against scores",
    draw,
    about="Do cosines agree with what people score? Every layer and pooling against the scores of the built-in pairs.",
    more=MORE,
    tab=50,
    terms=("semantic textual similarity",),
)
