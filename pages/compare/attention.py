"""View "Attention": a head of each model on one axis of words, their difference, and which heads are alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.alignment import REST, Alignment, on_common_words
from analysis.divergence import Match, best_matches, head_matrix, jensen_shannon, matches_table, matching_layer
from model_zoo.errors import NotSupported
from model_zoo.types import AttentionRun, FloatArray
from pages.compare.fields import BESIDE, HEADS_BESIDE, LAYERS_BESIDE, LONG
from pages.compare.scene import Scene, ask, beside_each_other, common_words, good, in_rows, say_failures
from ui import HEAD, LAYER, Field, View, as_text, failures_as_messages, figures, note, notes, save, say, widgets
from viz import compare
from viz.heatmap import Options, heatmap
from web.engine import engine

LONGEST = 512  # tokens: what a browser can show of several models
_SLOW = 160  # words; beyond, comparing all heads takes seconds and waits to be asked for
_NAMED = 3
_HEIGHT = 290  # px of a heatmap whose rows can all be labelled in it
_GROUP = "compare"  # heatmaps that show together what is pointed at
_MATCHES = "best matches"


def draw(scene: Scene) -> None:
    scene.check()
    with st.spinner("Running the models …", show_time=True):
        found = ask(scene.models, lambda model: _run(scene, model))
    runs = good(found)
    if not runs:
        beside_each_other(scene, found, lambda *_: None)
        return
    if any(run.encoding.n_dropped and run.n_tokens == LONGEST for run in runs.values()):
        note(f"Attention is compared on at most {LONGEST} tokens of each model.")
    notes.beyond_training({model: run.n_tokens for model, run in runs.items()})
    alignment = common_words(scene, {model: run.encoding for model, run in runs.items()})
    units = dict(zip(runs, alignment.units, strict=False))
    heads = _Heads(scene, runs)
    shown: dict[str, FloatArray] = {}

    lacking = [model for model in dict.fromkeys((scene.a, scene.b)) if model not in runs]
    pair = [] if lacking else [*dict.fromkeys((scene.a, scene.b))]

    def picture(model: str, place: DeltaGenerator) -> None:
        with place, failures_as_messages():
            letter = {scene.b: "B", scene.a: "A"}.get(model) if pair else None
            layer, head = heads.choose(model, letter or scene.name(model))
            shown[model] = on_common_words(runs[model].head(layer, head), units[model], runs[model].encoding.special)
            keys, file = [*alignment.labels, REST], f"compare-attention-{len(shown)}"
            map_ = heatmap(shown[model], alignment.labels, keys, file=file, **_options(alignment))
            figures.show_heatmap(map_, f"attention {model}")
            heads.say(model)

    if pair:
        first, between, *last = in_rows(len(pair) + 1, 3, "pair")
        for model, place in zip(pair, (first, *last), strict=True):
            picture(model, place)
        with between, failures_as_messages():
            _difference(scene, alignment, shown)
    alike = st.container()
    others = [model for model in runs if model not in pair]
    for model, place in zip(others, in_rows(len(others)), strict=True):
        picture(model, place)
    if pair:
        with failures_as_messages():
            _all_heads(scene, alignment, runs, heads, alike)
    save.table(
        "Weights on common words",
        lambda: pd.concat([_cells(model, *heads.chosen[model], shown[model], alignment) for model in shown]),
        "compare-attention",
    )
    say_failures(scene, found)
    if lacking:
        raise NotSupported(
            f"{scene.name(lacking[0])} has no attention, so there is nothing to compare. Choose another A or B above."
        )


def _run(scene: Scene, model: str) -> AttentionRun:
    """The engine remembers its runs; [MASK] in the text is each model's own mask."""
    return engine().attend(model, scene.text, scene.pair, max_tokens=LONGEST)


class _Heads:
    """Which head of every model is shown: controls over its picture. ``chosen`` holds (layer, head) from 0."""

    def __init__(self, scene: Scene, runs: Mapping[str, AttentionRun]) -> None:
        self._scene, self._runs = scene, runs
        self.chosen: dict[str, tuple[int, int]] = {}
        self._by_depth: set[str] = set()

    def fields(self, model: str) -> tuple[Field[Any], Field[int]]:
        """The fields of a model's layer and of its head."""
        place = self._scene.chosen.index(model)
        if place == 0:
            return LAYER, HEAD
        return LAYERS_BESIDE[place - 1], HEADS_BESIDE[place - 1]

    def choose(self, model: str, called: str) -> tuple[int, int]:
        """A line with what the model is called and steppers for layer and head.

        Without a layer of its own, a model shows the one at the first model's depth.
        """
        run = self._runs[model]
        of_layer, of_head = self.fields(model)
        matched, name = self._matched(run), self._scene.name(model)
        with widgets.controls(f"of model {self._scene.chosen.index(model) + 1}"):
            st.markdown(f"**{as_text(called)}**", width="content")
            layer = widgets.stepper("layer", run.n_layers, of_layer, whose=name, otherwise=matched)
            head = widgets.stepper("head", run.layers[layer].n_heads, of_head, whose=name)
        if of_layer.value is None:
            self._by_depth.add(model)
        self.chosen[model] = layer, head
        return layer, head

    def _matched(self, run: AttentionRun) -> int:
        """The layer as deep as that of the first model that is shown."""
        if not self.chosen:
            return 0
        first, (layer, _) = next(iter(self.chosen.items()))
        return matching_layer(layer, self._runs[first].n_layers, run.n_layers)

    def say(self, model: str) -> None:
        """Which layer of how many it is; of a matched one also what it is beside."""
        name = as_text(self._scene.name(model))
        here = f"**{name}**: layer {self.chosen[model][0] + 1} of {self._runs[model].n_layers}"
        if model not in self._by_depth:
            st.caption(f"{here}.")
            return
        first, (other, _) = next(iter(self.chosen.items()))
        st.caption(f"{here}, beside layer {other + 1} of {self._runs[first].n_layers}: the same relative depth.")


def _cells(model: str, layer: int, head: int, weights: FloatArray, alignment: Alignment) -> pd.DataFrame:
    """One row per cell: which head of which model, query and key as written with their places from 1, weight."""
    n_words = len(alignment)
    keys = [*alignment.labels, REST]
    return pd.DataFrame(
        {
            "model": model,
            "layer": layer + 1,
            "head": head + 1,
            "query": [place + 1 for place in range(n_words) for _ in keys],
            "query_word": [word for word in alignment.labels for _ in keys],
            "key": [place + 1 for _ in range(n_words) for place in range(len(keys))],
            "key_word": keys * n_words,
            "weight": weights.ravel(),
        }
    )


def _options(alignment: Alignment) -> Options:
    """What all heatmaps share; the last column is of no text, and stands with the words before it."""
    segments = alignment.segments
    return Options(query_segments=segments, key_segments=[*segments, *segments[-1:]], height=_HEIGHT, group=_GROUP)


def _difference(scene: Scene, alignment: Alignment, shown: Mapping[str, FloatArray]) -> None:
    with st.container(key="difference-head"):
        st.markdown("**A − B**")
    a, b = shown[scene.a], shown[scene.b]
    names = _distinct(scene)
    picture = compare.difference(
        a, b, alignment.labels, [*alignment.labels, REST], names=names, file="compare-difference", **_options(alignment)
    )
    figures.show_heatmap(picture, "difference")
    bits = float(jensen_shannon(a[None], b[None])[0, 0])
    st.caption(
        f"Their Jensen–Shannon divergence is {bits:.3f} bits: 0 if they are identical, 1 if they never attend to the "
        "same word."
    )


def _all_heads(
    scene: Scene, alignment: Alignment, runs: Mapping[str, AttentionRun], heads: _Heads, place: DeltaGenerator
) -> None:
    """The matrix of all heads and the table of the best matches; the heads most like the one shown go into a place of
    their own.
    """
    st.header("Which head of B matches each head of A?")
    if len(alignment) > _SLOW and not st.toggle(
        f"Compare all heads on these {len(alignment):,} words, which takes a while", **LONG.bound
    ):
        return
    places = [list(runs).index(model) for model in (scene.a, scene.b)]
    run_a, run_b = runs[scene.a], runs[scene.b]
    names = _distinct(scene)
    seen = tuple((run.model.id, run.model.revision, run.encoding.text, run.encoding.text_pair) for run in runs.values())
    with st.spinner("Comparing all heads …", show_time=True):
        matrix = engine().derived(
            ("head matrix", seen, tuple(places)), lambda: head_matrix(run_a, run_b, alignment, *places)
        )
    with place:
        _for_this_head(scene, heads, matrix, (run_a.n_heads, run_b.n_heads))
    all_heads, best = st.tabs(["All heads", "Best matches"])
    with all_heads:
        figures.show(
            partial(
                compare.head_matrix, matrix, run_a.n_layers, run_a.n_heads, run_b.n_layers, run_b.n_heads, names=names
            ),
            "head matrix",
            "compare-heads",
        )
        st.caption("Averaged over words. Heads that attend to the same words need not do the same with them.")
    with best:
        _best_matches(scene, heads, best_matches(matrix, run_a.n_heads, run_b.n_heads))
        save.table("All pairs of heads", lambda: _pairs(matrix, run_a.n_heads, run_b.n_heads, names), "compare-heads")


def _best_matches(scene: Scene, heads: _Heads, matches: Sequence[Match]) -> None:
    st.caption("For every head of A, the head of B whose attention is most similar. Select a row to open both.")

    def open_both() -> None:
        rows = st.session_state[_MATCHES]["selection"]["rows"]
        if rows:
            match = matches[rows[0]]
            of_b, of_a = heads.fields(scene.b), heads.fields(scene.a)
            for (layer, head), at in ((of_b, (match.layer_b, match.head_b)), (of_a, (match.layer_a, match.head_a))):
                layer.value, head.value = at[0] + 1, at[1] + 1

    table = matches_table(matches, _distinct(scene))
    st.dataframe(
        table,
        key=_MATCHES,
        hide_index=True,
        height=300,
        on_select=open_both,
        selection_mode="single-row",
        column_config={table.columns[-1]: st.column_config.NumberColumn(format="%.3f")},
    )
    save.table("Best matches", lambda: table, "compare-best-matches")


def _pairs(matrix: FloatArray, n_heads_a: int, n_heads_b: int, names: tuple[str, str]) -> pd.DataFrame:
    """One row per pair of heads."""
    pairs = [
        Match(float(bits), *divmod(row, n_heads_a), *divmod(column, n_heads_b))
        for (row, column), bits in np.ndenumerate(matrix)
    ]
    return matches_table(pairs, names)


def _for_this_head(scene: Scene, heads: _Heads, matrix: FloatArray, n_heads: tuple[int, int]) -> None:
    """The heads of B most like the head of A that is shown, each a button that opens it."""
    layer_a, head_a = heads.chosen[scene.a]
    bits = matrix[layer_a * n_heads[0] + head_a]
    of_layer, of_head = heads.fields(scene.b)

    def show(layer: int, head: int) -> None:
        of_layer.value, of_head.value = layer + 1, head + 1

    say(f"Most similar to layer {layer_a + 1} head {head_a + 1} of A, in {scene.name(scene.b)}:")
    with st.container(horizontal=True, key="most similar"):
        for column in np.argsort(bits, kind="stable")[:_NAMED]:
            layer, head = divmod(int(column), n_heads[1])
            st.button(
                f"Layer {layer + 1} head {head + 1}: {bits[column]:.3f} bits",
                key=f"most similar {column}",
                on_click=show,
                args=(layer, head),
            )


def _distinct(scene: Scene) -> tuple[str, str]:
    """Names of A and B; a model beside itself is told apart."""
    a, b = scene.name(scene.a), scene.name(scene.b)
    return (a, b) if a != b else (f"A: {a}", f"B: {b}")


VIEW = View(
    "attention",
    "Attention",
    draw,
    about=(
        "A head of each model, on the words that all of them see in full. Point at one, or tap it: it is "
        "highlighted in the others."
    ),
    more="Rows are queries, columns keys. Pieces are merged into words: summed over the keys of a word, averaged "
    f"over its queries. The last column, “{REST}”, is the rest of each row's 100%.\n\nA model without a layer of "
    "its own shows the one at the same relative depth as in the first model; clear the box to return to "
    "that.\n\n" + notes.CAUTION,
    fields=(LAYER, HEAD, *LAYERS_BESIDE, *HEADS_BESIDE, BESIDE, LONG),
    tab=5,
    terms=("attention weight",),
)
