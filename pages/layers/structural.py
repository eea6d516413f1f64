"""View "Syntax trees": the structural probe's scores by layer, and a sentence's tree beside the one found."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.probing.structural_results import Estimate, ParsedSentence, StructuralResult
from jobs.study import FoundTrees
from model_zoo import DEFAULT_MODEL
from pages.layers import python_lines
from pages.layers.fields import TREE_LAYER, TREE_PROBE, TREE_SENTENCE
from pages.layers.scene import Scene
from pages.layers.tables import SHARE, P, best_layer_text
from ui import View, as_python, as_text, ask_for, caption, figures, notes, precomputed, save, tables, widgets
from ui.tuned import short_name
from viz import structural
from viz.layout import layer_names

_MEANING: Final = tomllib.loads((Path(__file__).parent / "structural.toml").read_text(encoding="utf-8"))


def draw(scene: Scene) -> None:
    treebanks = scene.trees or _example(scene.choice.model)
    for treebank in treebanks:
        if not treebank.precomputed:
            st.header(as_text(f"Syntax trees: {treebank.title}"), anchor=False)
        lines = python_lines.bind_tree_result(treebank, scene.choice.user_data)
        part = "" if treebank is treebanks[0] else f"Syntax trees: {treebank.title}"
        as_python.put(lines + "numbers = result.to_frame()", treebank.result.to_frame, part=part)
        _scores(treebank)
        _trees(treebank.result)


def _example(model: str) -> tuple[FoundTrees, ...]:
    """What came with the app of the model, or of the default one; none where it no longer holds."""
    trees = precomputed.trees(model) or precomputed.trees(DEFAULT_MODEL)
    say_how = "For your own sentences choose CoNLL-U and Syntax trees under “Your own data”, then press Run."
    if trees is None:
        ask_for(say_how)
        return ()
    st.caption(f"**An example, computed before**: {as_text(short_name(trees.model.id))}, {trees.title}. {say_how}")
    return (trees,)


def _scores(treebank: FoundTrees) -> None:
    result = treebank.result
    notes.warn_beyond_training({treebank.model.id: result.longest})
    with widgets.controls():
        kind = widgets.choice("Which probe", TREE_PROBE)
    figures.show(partial(structural.by_layer, result, kind), "structural", f"structural-{kind}")
    st.caption(f"{_MEANING[kind]} Bars are 95% intervals over the test sentences.")
    st.markdown(_headline(result))
    st.markdown(_MEANING["together"])
    settings = result.settings
    caption(
        f"{treebank.model.id}, revision {treebank.model.revision[:14]}. {result.n_train:,} sentences train the probe, "
        f"{result.n_development:,} choose when to stop and the best layer, {result.n_test:,} test it. Rank "
        f"{result.rank}, seed {settings.seed}. Vector of a word: "
        f"{'mean of its pieces' if settings.pieces == 'mean' else 'first piece'}."
    )
    for note in result.notes:
        caption(f"{treebank.title}: {note}")
    with st.expander("The numbers", icon=":material/table:"):
        _table(result)
    save.table(
        "These numbers",
        lambda: result.to_frame().assign(model=treebank.model.id, revision=treebank.model.revision),
        "structural",
    )


def _headline(result: StructuralResult) -> str:
    best = result.best
    beside = [f"chain {_share(result.chain.uuas)}", f"embeddings {_share(result.layers[0].scores.uuas)}"]
    if best.untrained is not None:
        beside.append(f"random weights {_share(best.untrained.uuas)}")
    if len(result.uuas_of_seeds) > 1:
        of_seeds = [100 * row[best.layer] for row in result.uuas_of_seeds]
        beside.append(f"{len(of_seeds)} seeds {min(of_seeds):.0f} to {max(of_seeds):.0f}%")
    name = "the embeddings" if best.layer == 0 else f"layer {best.layer}"
    return (
        f"UUAS at {name}: **{_share(best.scores.uuas)}**; {', '.join(beside)}. Best on the development sentences: "
        f"{best_layer_text(result, 'sentences')}"
    )


def _share(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.0f}% ({100 * estimate.low:.0f}–{100 * estimate.high:.0f})"


def _table(result: StructuralResult) -> None:
    def of(measure: str, factor: float = 1.0, *, untrained: bool = False) -> list[float | None]:
        sides = [layer.untrained if untrained else layer.scores for layer in result.layers]
        estimates: list[Estimate | None] = [None if side is None else getattr(side, measure) for side in sides]
        return [None if estimate is None else factor * estimate.value for estimate in estimates]

    table = pd.DataFrame(
        {
            "layer": layer_names(len(result.layers)),
            "UUAS": of("uuas", 100),
            "95% interval": [
                f"{100 * layer.scores.uuas.low:.1f}–{100 * layer.scores.uuas.high:.1f}%" for layer in result.layers
            ],
            "p against the chain": [layer.p_chain for layer in result.layers],
            "p against the best": result.p[result.best.layer],
            "p against random weights": [layer.p_untrained for layer in result.layers],
            "Spearman of distances": of("distance_spearman"),
            "root found": of("root_accuracy", 100),
            "Spearman of depths": of("depth_spearman"),
            "UUAS on development": [tables.per_cent(layer.development_uuas) for layer in result.layers],
            "UUAS, random weights": of("uuas", 100, untrained=True),
            "Spearman of distances, random weights": of("distance_spearman", untrained=True),
        }
    ).dropna(axis="columns", how="all")
    plain = st.column_config.NumberColumn(format="%.3f")
    columns = {
        name: P if name.startswith("p ") else SHARE if "UUAS" in name or name == "root found" else plain
        for name in table.columns
        if name not in ("layer", "95% interval")
    }
    st.dataframe(table, hide_index=True, column_config=columns)


def _trees(result: StructuralResult) -> None:
    n_layers, sentences = len(result.layers), result.sentences
    if not 1 <= TREE_SENTENCE.value <= len(sentences):
        TREE_SENTENCE.value = 1
    chosen = st.selectbox(
        "Test sentence",
        **TREE_SENTENCE.offering({number: sentence.text for number, sentence in enumerate(sentences, start=1)}),
    )
    if TREE_LAYER.value is None or TREE_LAYER.value >= n_layers:
        TREE_LAYER.value = result.best.layer
    layer = int(st.select_slider("Layer", **TREE_LAYER.offering(dict(enumerate(layer_names(n_layers))))))
    sentence = sentences[chosen - 1]
    narrow, _ = st.columns([2, 1])  # on a wide screen words and arcs would lie far apart
    with narrow:
        figures.show(partial(structural.trees, sentence, layer), "trees", f"trees-{chosen}-layer-{layer}")
    st.caption(
        f"{sentence.right(layer)} of {len(sentence.edges)} edges are recovered. The tree on the right has no "
        "direction and no labels; its diamond marks the word to which the depth probe gives the smallest depth."
    )
    save.table("Edges of the test sentences at this layer", lambda: edges(sentences, layer), "edges")


def edges(sentences: Sequence[ParsedSentence], layer: int) -> pd.DataFrame:
    """A row for each edge that is in a tree, or was found at the layer, or both; words count from 1."""
    rows = [
        (number, sentence.text, layer, a + 1, sentence.words[a], b + 1, sentence.words[b], in_tree, was_found)
        for number, sentence in enumerate(sentences, start=1)
        for a, b in sorted({*sentence.edges, *sentence.recovered[layer]})
        for in_tree, was_found in [(int((a, b) in sentence.edges), int((a, b) in sentence.recovered[layer]))]
    ]
    columns = ["sentence", "text", "layer", "word", "form", "other_word", "other_form", "in_tree", "found"]
    return pd.DataFrame(rows, columns=np.array(columns))


VIEW = View(
    "trees",
    "Syntax trees",
    draw,
    "Can a sentence's tree be read off a layer by a linear map? The tree in the file beside the recovered tree.",
    tab=70,
    terms=("structural probe",),
)
