"""View "Attention": a head, or a layer, of each model on one axis of words, their difference, and which are alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.alignment import REST, Alignment, align, shares_on_common_words
from analysis.divergence import Match, best_matches, head_matrix, jensen_shannon, matches_table, matching_layer
from analysis.views import OF_HEADS, AttentionView, ContributionView, Measure, Norms, Weights
from model_zoo.errors import NotSupported
from model_zoo.types import FloatArray
from pages.compare.fields import BESIDE, HEADS_BESIDE, LAYERS_BESIDE, LONG
from pages.compare.scene import (
    Scene,
    call_each,
    common_words,
    common_words_in_python,
    draw_columns,
    rows_of_columns,
    say_failures,
    successes,
)
from ui import (
    HEAD,
    LAYER,
    Field,
    View,
    as_python,
    as_text,
    caption,
    failures_as_messages,
    figures,
    note,
    notes,
    save,
    say,
    show,
    tables,
    widgets,
)
from ui.show import SHOW
from viz.heatmap import Options, difference, heatmap
from viz.matrix import head_matrix as head_matrix_figure
from web.engine import engine

LONGEST = 512  # tokens: what a browser can show of several models
_SLOW = 160  # words; beyond, comparing all heads takes seconds and waits to be asked for
_NAMED = 3
_HEIGHT = 290  # px of a heatmap whose rows can all be labelled in it


def draw(scene: Scene) -> None:
    scene.check()
    with widgets.controls("what is shown"):
        measure = show.ask()
    words = show.WORDS[measure]
    with st.spinner("Running the models …", show_time=True):
        outcomes = call_each(scene.models, lambda model: _maps(scene, measure, model))
    maps: dict[str, AttentionView] = successes(outcomes)
    if not maps:
        draw_columns(scene, outcomes, lambda *_: None)
        return
    encodings = {model: of.encoding for model, of in maps.items()}
    if any(encoding.n_dropped and len(encoding) == LONGEST for encoding in encodings.values()):
        note(f"Attention is compared on at most {LONGEST} tokens of each model.")
    notes.warn_beyond_training({model: len(encoding) for model, encoding in encodings.items()})
    alignment = common_words(scene, encodings)
    units = dict(zip(maps, alignment.units, strict=False))
    heads = _Heads(scene, maps, measure)
    shares: dict[str, FloatArray] = {}

    lacking = [model for model in dict.fromkeys((scene.a, scene.b)) if model not in maps]
    pair = [] if lacking else [*dict.fromkeys((scene.a, scene.b))]

    def picture(model: str, place: DeltaGenerator) -> None:
        with place, failures_as_messages():
            letter = {scene.b: "B", scene.a: "A"}.get(model) if pair else None
            layer, head = heads.choose(model, letter or scene.name(model))
            shares[model] = shares_on_common_words(maps[model], maps[model].map(layer, head), units[model])
            map_ = heatmap(
                shares[model],
                alignment.labels,
                [*alignment.labels, REST],
                quantity=words.quantity if maps[model].shares else f"share of {words.number}",
                number=words.number,
                file=f"compare-attention-{len(shares)}",
                **_options(alignment, measure),
            )
            figures.show_heatmap(map_, f"attention {model}")
            heads.say(model)

    if pair:
        first, between, *last = rows_of_columns(len(pair) + 1, 3, "pair")
        for model, place in zip(pair, (first, *last), strict=True):
            picture(model, place)
        with between, failures_as_messages():
            _difference(scene, alignment, shares, measure)
    if measure != "weights":
        scaled = "" if all(of.shares for of in maps.values()) else " Here each row is scaled to 100%."
        caption(f"{words.about}{scaled}")
    alike = st.container()
    others = [model for model in maps if model not in pair]
    for model, place in zip(others, rows_of_columns(len(others)), strict=True):
        picture(model, place)
    _put_python(scene, maps, heads, shares)
    if pair:
        with failures_as_messages():
            _all_heads(scene, alignment, maps, heads, alike)
    save.table(
        f"{words.title} on common words",
        lambda: pd.concat([_cells(model, heads, shares[model], alignment) for model in shares]),
        "compare-attention",
    )
    say_failures(scene, outcomes)
    if lacking:
        name = scene.name(lacking[0])
        problem = (
            f"“{words.title}” cannot be shown of {name}"
            if scene.infos[lacking[0]].n_heads
            else f"{name} has no attention"
        )
        raise NotSupported(f"{problem}, so there is nothing to compare. Choose another A or B above.")


def _put_python(
    scene: Scene, maps: Mapping[str, AttentionView], heads: _Heads, shares: Mapping[str, FloatArray]
) -> None:
    kind = {"weights": Weights, "value-weighted": Norms}.get(heads.measure, ContributionView)
    most = LONGEST if any(len(of.encoding) == LONGEST for of in maps.values()) else None
    texts = scene.texts_in_python(max_tokens=most)
    call = (
        f'contributions(model, {texts}, measure="{heads.measure}")'
        if kind is ContributionView
        else f"attend(model, {texts})"
    )
    if not maps.keys() <= shares.keys():  # one of them is a message
        return
    chosen = [heads.chosen[model] for model in maps]
    called = ", ".join(heads.called(*place) for place in chosen)
    as_python.put(
        f"{scene.of_each([*maps], 'map', f'{kind.__name__}(engine.{call})')}"
        f"{common_words_in_python('maps', len(maps))}"
        f"chosen = {as_python.literal(chosen)}  # on the page: {called}\n"
        "numbers = np.array(\n"
        "    [\n"
        "        shares_on_common_words(of_model, of_model.map(*place), units)\n"
        "        for of_model, place, units in zip(maps, chosen, alignment.units)\n"
        "    ]\n"
        ")",
        lambda: np.array([shares[model] for model in maps]),
        *(align, kind),
    )


def _maps(scene: Scene, measure: Measure, model: str) -> AttentionView:
    """[MASK] in the text is each model's own mask. Raises here, and not where it is drawn, what a model cannot show."""
    maps = show.compute_maps(measure, model, scene.text, scene.pair, max_tokens=LONGEST)
    maps.map(0, 0)
    return maps


class _Heads:
    """Which head of every model is shown, or which layer of a ``measure`` of layers: controls over its picture.
    ``chosen`` holds (layer, head) from 0.
    """

    def __init__(self, scene: Scene, maps: Mapping[str, AttentionView], measure: Measure) -> None:
        self._scene, self._maps, self.measure = scene, maps, measure
        self.of_heads = measure in OF_HEADS
        self.chosen: dict[str, tuple[int, int]] = {}
        self._by_depth: set[str] = set()

    def fields(self, model: str) -> tuple[Field[Any], Field[int]]:
        """The fields of a model's layer and of its head."""
        place = self._scene.chosen.index(model)
        if place == 0:
            return LAYER, HEAD
        return LAYERS_BESIDE[place - 1], HEADS_BESIDE[place - 1]

    def open(self, model: str, layer: int, head: int) -> None:
        """Show this head, or layer, of a model, both from 0."""
        of_layer, of_head = self.fields(model)
        of_layer.value = layer + 1
        if self.of_heads:
            of_head.value = head + 1

    def choose(self, model: str, called: str) -> tuple[int, int]:
        """A line with what the model is called and steppers for layer and head.

        Without a layer of its own, a model shows the one at the first model's depth.
        """
        maps = self._maps[model]
        of_layer, of_head = self.fields(model)
        matched, name = self._matched(maps), self._scene.name(model)
        with widgets.controls(f"of model {self._scene.chosen.index(model) + 1}"):
            st.markdown(f"**{as_text(called)}**", width="content")
            layer = widgets.stepper("layer", maps.n_layers, of_layer, whose=name, otherwise=matched)
            head = widgets.stepper("head", maps.n_maps(layer), of_head, whose=name) if self.of_heads else 0
        if of_layer.value is None:
            self._by_depth.add(model)
        self.chosen[model] = layer, head
        return layer, head

    def _matched(self, maps: AttentionView) -> int:
        if not self.chosen:
            return 0
        first, (layer, _) = next(iter(self.chosen.items()))
        return matching_layer(layer, self._maps[first].n_layers, maps.n_layers)

    def called(self, layer: int, head: int) -> str:
        """What one is called, from 0: "layer 3 head 5", or "layer 3"."""
        return f"layer {layer + 1} head {head + 1}" if self.of_heads else f"layer {layer + 1}"

    def say(self, model: str) -> None:
        """Which layer of how many it is; of a matched one also what it is beside."""
        name = as_text(self._scene.name(model))
        here = f"**{name}**: layer {self.chosen[model][0] + 1} of {self._maps[model].n_layers}"
        if model not in self._by_depth:
            st.caption(f"{here}.")
            return
        first, (other, _) = next(iter(self.chosen.items()))
        st.caption(f"{here}, beside layer {other + 1} of {self._maps[first].n_layers}: the same relative depth.")


def _cells(model: str, heads: _Heads, weights: FloatArray, alignment: Alignment) -> pd.DataFrame:
    """One row per cell: which measure of which head of which model, or of "all" heads of a layer; query and key as
    written with their places from 1; weight.
    """
    n_words, (layer, head) = len(alignment), heads.chosen[model]
    keys = [*alignment.labels, REST]
    return pd.DataFrame(
        {
            "model": model,
            "layer": layer + 1,
            "head": head + 1 if heads.of_heads else "all",
            "measure": heads.measure,
            "query": [place + 1 for place in range(n_words) for _ in keys],
            "query_word": [word for word in alignment.labels for _ in keys],
            "key": [place + 1 for _ in range(n_words) for place in range(len(keys))],
            "key_word": keys * n_words,
            "weight": weights.ravel(),
        }
    )


def _options(alignment: Alignment, measure: Measure) -> Options:
    """What all heatmaps share; the last column is of no text, and stands with the words before it."""
    segments = alignment.segments
    return Options(
        query_segments=segments,
        key_segments=[*segments, *segments[-1:]],
        says=show.WORDS[measure].says,
        height=_HEIGHT,
        group="compare",  # what is pointed at is shown in all of these
    )


def _difference(scene: Scene, alignment: Alignment, shares: Mapping[str, FloatArray], measure: Measure) -> None:
    with st.container(key="difference-head"):
        st.markdown("**A − B**")
    a, b = shares[scene.a], shares[scene.b]
    names = _distinct(scene)
    keys, options = [*alignment.labels, REST], _options(alignment, measure)
    picture = difference(a, b, alignment.labels, keys, names=names, file="compare-difference", **options)
    figures.show_heatmap(picture, "difference")
    bits = float(jensen_shannon(a[None], b[None])[0, 0])
    st.caption(
        f"Their Jensen–Shannon divergence is {bits:.3f} bits: 0 if they are identical, 1 if they have no word "
        "in common."
    )


def _all_heads(
    scene: Scene, alignment: Alignment, maps: Mapping[str, AttentionView], heads: _Heads, place: DeltaGenerator
) -> None:
    """The matrix of all heads, or layers, and the best matches; those most like the one shown go into a ``place``."""
    unit = "head" if heads.of_heads else "layer"
    st.header(f"Which {unit} of B matches each {unit} of A?")
    if len(alignment) > _SLOW and not st.toggle(
        f"Compare all {unit}s on these {len(alignment):,} words, which takes a while", **LONG.bound
    ):
        return
    places = [list(maps).index(model) for model in (scene.a, scene.b)]
    a, b = maps[scene.a], maps[scene.b]
    names, n_maps = _distinct(scene), (a.n_maps(0), b.n_maps(0))
    texts = [(of.encoding.text, of.encoding.text_pair) for of in maps.values()]  # each with its model's own mask
    seen = tuple((scene.infos[model].id, scene.infos[model].revision) for model in maps), tuple(texts)
    with st.spinner(f"Comparing all {unit}s …", show_time=True):
        matrix = engine().derived(
            ("head matrix", a.measure, *seen, tuple(places)), lambda: head_matrix(a, b, alignment, *places)
        )
    as_python.put(
        f"a, b = {places[0]}, {places[1]}\nnumbers = head_matrix(maps[a], maps[b], alignment, a, b)  # in bits",
        lambda: matrix,
        part=f"Every {unit} of A and every {unit} of B",
    )
    with place:
        _for_this_head(scene, heads, matrix, n_maps)
    every, best = st.tabs([f"All {unit}s", "Best matches"])
    with every:
        sizes = a.n_layers, n_maps[0], b.n_layers, n_maps[1]
        figures.show(
            partial(head_matrix_figure, matrix, *sizes, names=names, of_heads=heads.of_heads),
            "head matrix",
            f"compare-{unit}s",
        )
        more = " Heads that attend to the same words need not do the same with them." if heads.of_heads else ""
        st.caption(f"Averaged over words.{more}")
    with best:
        _best_matches(scene, heads, best_matches(matrix, *n_maps))
        save.table(f"All pairs of {unit}s", lambda: _pairs(matrix, n_maps, names, heads.of_heads), f"compare-{unit}s")


def _best_matches(scene: Scene, heads: _Heads, matches: Sequence[Match]) -> None:
    unit, alike = ("head", "attention is") if heads.of_heads else ("layer", "rows are")
    st.caption(f"For every {unit} of A, the {unit} of B whose {alike} most similar. Select a row to open both.")

    def open_both(row: int) -> None:
        match = matches[row]
        heads.open(scene.b, match.layer_b, match.head_b)
        heads.open(scene.a, match.layer_a, match.head_a)

    table = matches_table(matches, _distinct(scene), of_heads=heads.of_heads)
    config = {table.columns[-1]: st.column_config.NumberColumn(format="%.3f")}
    tables.draw_selectable(table, "best-matches", open_both, height=300, column_config=config)
    save.table("Best matches", lambda: table, "compare-best-matches")


def _pairs(matrix: FloatArray, n_maps: tuple[int, int], names: tuple[str, str], of_heads: bool) -> pd.DataFrame:
    pairs = [
        Match(float(bits), *divmod(row, n_maps[0]), *divmod(column, n_maps[1]))
        for (row, column), bits in np.ndenumerate(matrix)
    ]
    return matches_table(pairs, names, of_heads=of_heads)


def _for_this_head(scene: Scene, heads: _Heads, matrix: FloatArray, n_maps: tuple[int, int]) -> None:
    """The heads, or layers, of B most like the one of A that is shown, each a button that opens it."""
    layer_a, head_a = heads.chosen[scene.a]
    bits = matrix[layer_a * n_maps[0] + head_a]
    say(f"Most similar to {heads.called(layer_a, head_a)} of A, in {scene.name(scene.b)}:")
    with st.container(horizontal=True, key="most-similar"):
        for column in np.argsort(bits, kind="stable")[:_NAMED]:
            layer, head = divmod(int(column), n_maps[1])
            st.button(
                f"{heads.called(layer, head).capitalize()}: {bits[column]:.3f} bits",
                key=f"most similar {column}",
                on_click=heads.open,
                args=(scene.b, layer, head),
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
    f"that.\n\n{show.ABOUT}\n\n{notes.CAUTION}",
    fields=(LAYER, HEAD, SHOW, *LAYERS_BESIDE, *HEADS_BESIDE, BESIDE, LONG),
    tab=5,
    terms=("attention weight", "ALTI", "value zeroing"),
)
