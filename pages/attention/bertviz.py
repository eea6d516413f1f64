"""View "BertViz": BertViz's own head view and model view, without a network."""

from __future__ import annotations

from typing import Literal

import numpy as np
import streamlit as st

from analysis.filters import Filter, Filtered
from model_zoo.errors import NotSupported
from pages.attention import filters, heads
from pages.attention.scene import Scene
from ui import Field, View, as_python, is_dark, notes, one_of, save, widgets
from viz.bertviz_offline import bertviz_html

_KINDS: dict[Literal["head", "model"], str] = {"head": "Head view", "model": "Model view"}
BERTVIZ: Field[Literal["head", "model"]] = Field("bertviz", "head", one_of("BertViz view", _KINDS), of="attention")

_HEIGHT = 720  # px


def draw(scene: Scene) -> None:
    with widgets.controls():
        scene = filters.ask(scene)
        if heads.has_no_heads(scene):
            return
        kind = widgets.choice("BertViz view", BERTVIZ, label_visibility="collapsed")
        layer, head = widgets.head(scene.run) if kind == "head" else (0, 0)  # the model view draws all of them
    if scene.run.stack == "cross":
        raise NotSupported(
            "BertViz draws the same tokens on both sides, but cross-attention goes from one text to another. Use the "
            "Lines view instead."
        )
    views = [scene.filtered(scene.maps.layer(layer)) for layer in range(scene.run.n_layers)]
    if views[0].reason is not None or views[0].query_labels != views[0].key_labels:
        st.info(
            "BertViz draws the same tokens on both sides, so it cannot show a selection that leaves out one side. "
            "Choose “All” as the direction, or use the Lines view.",
            icon=":material/filter_alt_off:",
        )
        return
    segments = [unit.segment for unit in views[0].queries]
    second = segments.index(1) if 1 in segments and 0 in segments else None
    html = bertviz_html(
        kind,
        [view.weights for view in views],
        views[0].query_labels,
        sentence_b_start=second,
        layer=layer,
        heads=[head] if kind == "head" else None,
        dark=is_dark(),
    )
    opens = {"layer": layer, "heads": [head]} if kind == "head" else {}
    _put_python(scene, views, kind, as_python.arguments(sentence_b_start=second, **opens))
    st.iframe(html, height=_HEIGHT)
    save.picture(f"bertviz-{kind}")
    strongest = max(float(view.weights.max(initial=0)) for view in views)
    if strongest > 1:
        st.caption(f"A line at full strength is a weight of {strongest:.2f}, the largest in any head.")
    save.html("This view", lambda: html, f"bertviz-{kind}")


def _put_python(scene: Scene, views: list[Filtered], kind: str, options: str) -> None:
    of = "run" if scene.measure == "weights" else "maps"
    labels = "run.encoding.tokens" if scene.filter == Filter() else "view.query_labels"
    arguments = ", ".join(filter(None, (as_python.literal(kind), "numbers", labels, options)))
    scene.put_python(
        f"np.stack([{of}.layer(layer) for layer in range(run.n_layers)])",
        lambda: np.stack([view.weights for view in views]),
        after=f"page = bertviz_html({arguments})  # an HTML file that loads nothing",
    )


VIEW = View(
    "bertviz",
    "BertViz",
    draw,
    "BertViz's own views, for those who know them. They can show only short texts.",
    fields=(BERTVIZ,),
    needs=("attention",),
    tab=80,
    left_out=lambda _scene: notes.not_in_link(["what you click inside BertViz"]),
)
