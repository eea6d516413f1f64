"""View "Cut an edge": words that may no longer look at others, and what the model then says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from analysis.effects import By, cut, lost
from analysis.words import Unit, merge, word_units
from model_zoo.questions.intervene import Intervene
from model_zoo.types import Change, Effects, counted
from pages.cause import effect_views
from pages.cause import scene as scenes
from pages.cause.fields import EDGES
from pages.cause.scene import Scene
from ui import Field, View, as_python, ask_for, make_distinct, note, one_of, save, widgets, within
from ui.as_python import Lines
from ui.cells import Cells, show
from viz import cells
from viz.erasure import SIGNS
from viz.head_effects import UNITS
from web.engine import engine

Map = npt.NDArray[np.float64]

_SHOWN = {"attention": "Attention", "effect": "Effect of each cut"}
SHOW: Field[str] = Field("show", "attention", one_of("what is shown", _SHOWN), of="cause")
# Where edges are cut: a layer and a head from 1, 0 for all of them.
LAYER: Field[int] = Field("edge_layer", 0, within("the layer", 0, 999), of="cause")
HEAD: Field[int] = Field("edge_head", 0, within("the head", 0, 999), of="cause")

_MOST = 40  # words that are drawn


@dataclass(frozen=True, slots=True)
class _Cuts:
    """Words that may not look at others: ``edges`` are their places among the words, in one layer or head or, where
    that is None, in all of them; all from 0.
    """

    scene: Scene
    layer: int | None
    head: int | None
    edges: tuple[tuple[int, int], ...] = ()

    @property
    def units(self) -> tuple[Unit, ...]:
        """The words, and what frames the text: that is looked at, too."""
        return self.scene.units

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """All edges that there are."""
        return [(a, b) for a in range(len(self.units)) for b in range(len(self.units))]

    def change(self, edges: Iterable[tuple[int, int]]) -> Change:
        return cut(((self.units[a], self.units[b]) for a, b in edges), self.layer, self.head)

    def python_code(self, edges: str) -> str:
        """The change that cuts these, as an expression."""
        return f"cut({', '.join(filter(None, (edges, as_python.arguments(layer=self.layer, head=self.head))))})"

    def words_python(self, *, foil: bool = False) -> Lines:
        """Lines that bind the text, the target and the words."""
        line = f"units = word_units({self.scene.call('encode', 'text')})\n"
        return self.scene.python_code(foil=foil) + Lines(line, (word_units, cut))


def draw(scene: Scene) -> None:
    controls = scenes.row(scene, "attention", "mask")
    if controls is None:
        return
    if len(scene.units) > _MOST:
        ask_for(f"The text has {len(scene.units)} words, and at most {_MOST} can be drawn as a map. Shorten it.")
        return
    with controls:
        view = widgets.choice("Show", SHOW, label_visibility="collapsed")
        layer, head = _scope(scene)
        by: By = scenes.measure() if view == "effect" else "bits"
    cuts = _Cuts(scene, layer, head, _edges(scene.units))
    with st.container(key="result-first"):
        left, right = st.columns([3, 2], gap="medium")
    with left:
        if view == "attention":
            _attention(cuts)
        else:
            _effects(cuts, by)
    with right:
        _choose(cuts)
        _answer(cuts)


def _scope(scene: Scene) -> tuple[int | None, int | None]:
    """Where edges are cut: everywhere, in a layer, or in one head; from 0."""
    if LAYER.value > scene.info.n_layers:
        LAYER.value = 0
    if HEAD.value > scene.info.n_heads or not LAYER.value:
        HEAD.value = 0
    layer = st.selectbox(
        "Layer", **LAYER.offering(_all_or_one("layer", scene.info.n_layers)), label_visibility="collapsed", width=140
    )
    if not layer:
        return None, None
    head = st.selectbox(
        "Head", **HEAD.offering(_all_or_one("head", scene.info.n_heads)), label_visibility="collapsed", width=130
    )
    return layer - 1, head - 1 if head else None


def _all_or_one(noun: str, n: int) -> dict[int, str]:
    """What a layer or head from 1 is called; 0 is all of them."""
    return {0: f"all {noun}s"} | {number: f"{noun} {number}" for number in range(1, n + 1)}


def _edges(units: tuple[Unit, ...]) -> tuple[tuple[int, int], ...]:
    """The places of words that may not look at each other, of those there are."""
    pairs = [tuple(int(part) - 1 for part in edge.split(".")) for edge in EDGES.value]
    known = tuple((a, b) for a, b in pairs if a < len(units) and b < len(units))
    if len(known) < len(pairs):
        note("Some edges lead to words that are not in this text, so they are left out.")
        EDGES.value = tuple(f"{a + 1}.{b + 1}" for a, b in known)
    return known


def _cut(cells: Cells) -> None:
    EDGES.value = tuple(f"{row + 1}.{column + 1}" for row, column in cells)


def _attention(cuts: _Cuts) -> None:
    """The weights as they are, mean over the layers and heads in which edges are cut."""
    scene = cuts.scene
    weights = engine().derived(
        ("mean attention of", scene.resolved, scene.info.revision, cuts.layer, cuts.head), lambda: _mean(cuts)
    )
    merged = merge(weights, cuts.units).astype(np.float64)
    _map(cuts, merged, "attention weight", "cause_weights", signed=False)
    _attention_python(cuts, merged)
    st.caption(
        "Rows are queries, columns keys. Click a cell to cut that edge; the weights shown are those of the "
        "original model."
    )


def _attention_python(cuts: _Cuts, merged: Map) -> None:
    model, masked = as_python.literal(cuts.scene.model), as_python.literal(cuts.scene.masked)
    text = f"engine.masked_text({model}, text, {masked})" if cuts.scene.masked else "text"
    layers = "range(run.n_layers)" if cuts.layer is None else f"[{cuts.layer}]"
    mean = f"np.mean([run.layer(layer).mean(axis=0) for layer in {layers}], axis=0)"
    as_python.put(
        cuts.words_python() + f"run = {cuts.scene.call('attend', text)}\n"
        f"weights = {mean if cuts.head is None else f'run.head({cuts.layer}, {cuts.head})'}\n"
        "numbers = merge(weights, units)",
        lambda: merged,
    )


def _mean(cuts: _Cuts) -> npt.NDArray[np.float32]:
    scene, layer, head = cuts.scene, cuts.layer, cuts.head
    written = scene.encoding.text
    if scene.masked:
        written = engine().masked_text(scene.model, written, scene.masked)
    run = engine().attend(scene.model, written, scene.encoding.text_pair)
    if layer is not None:
        run.heads_of(layer)  # raises InvalidInput where there are none
    layers = run.layers_with_attention if layer is None else (layer,)
    every = [run.layer(number).mean(axis=0) if head is None else run.head(number, head) for number in layers]
    return np.mean(every, axis=0).astype(np.float32)


def _effects(cuts: _Cuts, by: By) -> None:
    """What the cut of each edge by itself does to the answer."""
    scene, n = cuts.scene, len(cuts.units)
    changes = tuple(cuts.change([pair]) for pair in cuts.pairs)
    effects = scenes.answered(replace(scene.resolved, changes=changes, top_k=1), len(scene.encoding))
    if effects is None:
        return
    _map(cuts, lost(effects, by).reshape(n, n), UNITS[by], "cause_cuts", signed=by != "divergence")
    st.caption(
        "Each cell: what the target loses when that one edge is cut. Rows are queries, columns keys. Click a cell to "
        f"cut that edge. {scenes.describe_numbers(by)}"
    )
    save.table("Every edge", lambda: _table(cuts, effects), "edges")
    as_python.put(
        cuts.words_python(foil=by == "difference")
        + f"each = [{cuts.python_code('[(query, key)]')} for query in units for key in units]\n"
        f"effects = {scene.intervene('each')}\n"
        f'numbers = lost(effects, "{by}").reshape(len(units), -1)  # rows are queries',
        lambda: lost(effects, by).reshape(n, n),
    )


def _map(cuts: _Cuts, values: Map, quantity: str, key: str, *, signed: bool) -> None:
    labels = [unit.label for unit in cuts.units]
    payload = cells.cells(
        values,
        labels,
        labels,
        quantity=quantity,
        across="to",
        down="from",
        picked=cuts.edges,
        pick=True,
        mark="cut",
        signed=signed,
        signs=SIGNS,
        file="edges",
    )
    show(payload, key, _cut)


def _choose(cuts: _Cuts) -> None:
    """The same choice as in the map, for the keyboard."""
    labels = make_distinct(unit.label for unit in cuts.units)
    names = {f"{a + 1}.{b + 1}": f"{labels[a]} ↛ {labels[b]}" for a, b in cuts.pairs}
    st.multiselect(
        "Cut edges", list(names), **EDGES.bound, format_func=names.__getitem__, placeholder="Click cells, or choose"
    )


def _answer(cuts: _Cuts) -> None:
    scene, layer, head = cuts.scene, cuts.layer, cuts.head
    if not cuts.edges:
        effect_views.untouched(scene, scene.untouched, "edges")
        st.caption("Click a cell to cut that edge.")
        return
    question: Intervene = replace(scene.resolved, changes=(cuts.change(cuts.edges),))
    where = "" if layer is None else f" in layer {layer + 1}" + ("" if head is None else f", head {head + 1}")
    effects = engine().ask(question)
    effect_views.draw(scene, effects, f"{counted(len(cuts.edges), 'edge')} cut{where}", "edges")
    edges = ", ".join(f"(units[{a}], units[{b}])" for a, b in cuts.edges)
    effect_views.put_python(scene, effects, cuts.words_python(), cuts.python_code(f"[{edges}]"))


def _table(cuts: _Cuts, effects: Effects) -> pd.DataFrame:
    return cuts.scene.table(
        {
            "answer": effects.answer.token,
            "layer": "all" if cuts.layer is None else cuts.layer + 1,
            "head": "all" if cuts.head is None else cuts.head + 1,
            "from": [cuts.units[a].label for a, _ in cuts.pairs],
            "to": [cuts.units[b].label for _, b in cuts.pairs],
            "from_place": [a + 1 for a, _ in cuts.pairs],
            "to_place": [b + 1 for _, b in cuts.pairs],
            "bits_lost": lost(effects, "bits"),
            "p_lost": lost(effects, "probability"),
            "kl_bits": lost(effects, "divergence"),
        }
    )


VIEW = View(
    "edges",
    "Cut an edge",
    draw,
    (
        "Click a cell: the word of that row can no longer attend to the word of that column. What does the model "
        "predict now?"
    ),
    more="A cut edge gets a weight of 0, and the row’s other weights are rescaled to sum to 1; a word with no edges "
    "left receives nothing. Words of several tokens are cut as one (Geva et al. 2023 call this attention "
    "knockout). Information can still arrive indirectly, through a third word in a later layer.",
    caution="A cut shows what the target loses when this path is blocked. Information may still arrive indirectly, "
    "through a third word, so a cut that changes nothing does not show that nothing was passed on.",
    fields=(EDGES, SHOW, LAYER, HEAD),
    tab=20,
    terms=("attention knockout",),
)
