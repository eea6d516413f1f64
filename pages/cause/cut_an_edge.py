"""View "Cut an edge": words that may no longer look at others, and what the model then says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from analysis.effects import By, lost
from analysis.words import Unit, merge
from model_zoo.questions.intervene import Intervene
from model_zoo.types import Change, Edge, Effects, counted
from pages.cause import before_after
from pages.cause import scene as scenes
from pages.cause.fields import EDGES
from pages.cause.scene import UNITS, Scene
from ui import save, widgets
from ui.cells import Cells, show
from ui.field import Field, one_of, within
from ui.messages import ask_for, note, told_apart
from ui.page import View, lacking
from viz import cells
from web.engine import engine

Map = npt.NDArray[np.float64]

_SHOWN = {"attention": "Attention", "effect": "What each cut does"}
SHOW: Field[str] = Field("show", "attention", one_of("what is shown", _SHOWN), of="cause")
# Where edges are cut: a layer and a head from 1, 0 for all of them.
LAYER: Field[int] = Field("edge_layer", 0, within("the layer", 0, 999), of="cause")
HEAD: Field[int] = Field("edge_head", 0, within("the head", 0, 999), of="cause")

_MOST = 40  # words that are drawn


def draw(scene: Scene) -> None:
    controls = scenes.row(scene)
    if lacking(scene, ("mask", "attention")):
        return
    units = _units(scene)
    if len(units) > _MOST:
        ask_for(f"The text has {len(units)} words, and more than {_MOST} cannot be drawn as a map. Shorten it.")
        return
    with controls:
        scenes.answers(scene)
        shown = widgets.choice("Show", SHOW, label_visibility="collapsed")
        layer, head = _scope(scene)
        by: By = scenes.measure() if shown == "effect" else "bits"
    edges = _edges(units)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        if shown == "attention":
            _attention(scene, units, layer, head, edges)
        else:
            _effects(scene, units, layer, head, by, edges)
    with right:
        _cuts(units)
        _answer(scene, units, layer, head, edges)


def _units(scene: Scene) -> tuple[Unit, ...]:
    """The words, and what frames the text: that is looked at, too."""
    return scene.units


def _scope(scene: Scene) -> tuple[int | None, int | None]:
    """Where edges are cut: everywhere, in a layer, or in one head; from 0."""
    if LAYER.value > scene.info.n_layers:
        LAYER.value = 0
    if HEAD.value > scene.info.n_heads or not LAYER.value:
        HEAD.value = 0
    layer = st.selectbox(
        "Layer",
        **LAYER.offering(_all_or_one("layer", scene.info.n_layers)),
        label_visibility="collapsed",
        width=140,
    )
    if not layer:
        return None, None
    head = st.selectbox(
        "Head",
        **HEAD.offering(_all_or_one("head", scene.info.n_heads)),
        label_visibility="collapsed",
        width=130,
    )
    return layer - 1, head - 1 if head else None


def _all_or_one(what: str, n: int) -> dict[int, str]:
    """What a layer or head from 1 is called; 0 is all of them."""
    return {0: f"all {what}s"} | {number: f"{what} {number}" for number in range(1, n + 1)}


def _edges(units: tuple[Unit, ...]) -> list[tuple[int, int]]:
    """The places of words that may not look at each other, of those there are."""
    pairs = [tuple(int(part) - 1 for part in edge.split(".")) for edge in EDGES.value]
    known = [(a, b) for a, b in pairs if a < len(units) and b < len(units)]
    if len(known) < len(pairs):
        note("Some edges lead to words that this text does not have, so they are left out.")
        EDGES.value = tuple(f"{a + 1}.{b + 1}" for a, b in known)
    return known


def _change(units: tuple[Unit, ...], pairs: list[tuple[int, int]], layer: int | None, head: int | None) -> Change:
    """Every token of the one word may not look at any of the other."""
    return Change(
        edges=tuple(
            Edge(query, key, layer, head)
            for a, b in pairs
            for query in range(units[a].start, units[a].stop)
            for key in range(units[b].start, units[b].stop)
        )
    )


def _cut(cells: Cells) -> None:
    EDGES.value = tuple(f"{row + 1}.{column + 1}" for row, column in cells)


def _attention(
    scene: Scene, units: tuple[Unit, ...], layer: int | None, head: int | None, edges: list[tuple[int, int]]
) -> None:
    """The weights as they are, mean over the layers and heads in which edges are cut."""
    weights = engine().derived(
        ("mean attention of", scene.resolved, scene.info.revision, layer, head),
        lambda: _mean(scene, layer, head),
    )
    of_words = merge(weights, units).astype(np.float64)
    _map(of_words, units, "attention weight", edges, "cause_weights", signed=False)
    st.caption("Rows look, columns are looked at. Click a cell to cut it; the weights are those of the uncut model.")


def _mean(scene: Scene, layer: int | None, head: int | None) -> npt.NDArray[np.float32]:
    written = scene.encoding.text
    if scene.masked:
        written = engine().masked_text(scene.model, written, scene.masked)
    run = engine().attend(scene.model, written, scene.encoding.text_pair)
    layers = range(run.n_layers) if layer is None else (layer,)
    every = [run.layer(one).mean(axis=0) if head is None else run.head(one, head) for one in layers]
    return np.mean(every, axis=0).astype(np.float32)


def _effects(
    scene: Scene,
    units: tuple[Unit, ...],
    layer: int | None,
    head: int | None,
    by: By,
    edges: list[tuple[int, int]],
) -> None:
    """What the cut of each edge by itself does to the answer."""
    pairs = [(a, b) for a in range(len(units)) for b in range(len(units))]
    each = tuple(_change(units, [pair], layer, head) for pair in pairs)
    effects = scenes.answered(replace(scene.resolved, changes=each, top_k=1), len(scene.encoding))
    if effects is None:
        return
    values = lost(effects, by).reshape(len(units), len(units))
    _map(values, units, UNITS[by], edges, "cause_cuts", signed=by != "divergence")
    st.caption(
        "Each cell: what the answer loses when that one edge is cut. Rows look, columns are looked at. Click one to "
        f"cut it. {scenes.in_numbers(by)}"
    )
    save.table("Every edge", lambda: _table(scene, units, pairs, effects, layer, head), "edges")


def _map(
    values: Map,
    units: tuple[Unit, ...],
    what: str,
    edges: list[tuple[int, int]],
    key: str,
    *,
    signed: bool,
) -> None:
    labels = [unit.label for unit in units]
    payload = cells.cells(
        values,
        labels,
        labels,
        what=what,
        across="to",
        down="from",
        picked=edges,
        pick=True,
        mark="cut",
        signed=signed,
        file="edges",
    )
    show(payload, key, _cut)


def _cuts(units: tuple[Unit, ...]) -> None:
    """The same choice as in the map, for the keyboard."""
    labels = told_apart(unit.label for unit in units)
    every = [f"{a + 1}.{b + 1}" for a in range(len(units)) for b in range(len(units))]

    def name(edge: str) -> str:
        a, b = (int(part) - 1 for part in edge.split("."))
        return f"{labels[a]} ↛ {labels[b]}"

    st.multiselect("Cut edges", every, **EDGES.bound, format_func=name, placeholder="Click cells, or choose")


def _answer(
    scene: Scene, units: tuple[Unit, ...], layer: int | None, head: int | None, edges: list[tuple[int, int]]
) -> None:
    if not edges:
        before_after.untouched(scene, scene.untouched, "edges")
        st.caption("Click a cell to cut that edge.")
        return
    question: Intervene = replace(scene.resolved, changes=(_change(units, edges, layer, head),))
    where = "" if layer is None else f" in layer {layer + 1}" + ("" if head is None else f", head {head + 1}")
    before_after.draw(scene, engine().ask(question), f"{counted(len(edges), 'edge')} cut{where}", "edges")


def _table(
    scene: Scene,
    units: tuple[Unit, ...],
    pairs: list[tuple[int, int]],
    effects: Effects,
    layer: int | None,
    head: int | None,
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "model": scene.model,
            "revision": scene.info.revision,
            "text": scene.text,
            "answer": effects.answer.token,
            "layer": "all" if layer is None else layer + 1,
            "head": "all" if head is None else head + 1,
            "from": [units[a].label for a, _ in pairs],
            "to": [units[b].label for _, b in pairs],
            "from_place": [a + 1 for a, _ in pairs],
            "to_place": [b + 1 for _, b in pairs],
            "bits_lost": lost(effects, "bits"),
            "p_lost": lost(effects, "probability"),
            "kl_bits": lost(effects, "divergence"),
        }
    )


VIEW = View(
    "edges",
    "Cut an edge",
    draw,
    "Click a cell: the word of that row may no longer look at the word of that column. What does the model say now?",
    more="A cut edge gets no weight, and the row’s other weights are scaled so that they sum to 1 again; a word that "
    "may look nowhere takes nothing. Words of several tokens are cut as one. What a word knew may still come by "
    "another way: over a third word, one layer later.",
    caution="A cut shows what the answer loses when this one way is shut. What a word knows may still reach it by "
    "another way, over a third word; so a cut that changes nothing does not show that nothing went there.",
    fields=(EDGES, SHOW, LAYER, HEAD),
    tab=20,
)
