"""View "Several heads": mean, maximum or sum over heads as one heatmap."""

from __future__ import annotations

import streamlit as st

from analysis.filters import Combination, combine
from ui import controls, downloads, state
from ui.attention import choice
from ui.attention.scene import Scene, draw_heatmap, summary

_HOW: dict[Combination, str] = {"mean": "Mean", "max": "Largest", "sum": "Sum"}


def draw(scene: Scene) -> None:
    which, combination = st.columns([2, 1])
    with which:
        heads = choice.heads(scene)
    with combination:
        how = controls.choice("Put together by", _HOW, state.HOW)
    shown = scene.filtered(combine(scene.run, heads, how, value_weighted=scene.value_weighted))
    if not summary(shown):
        return
    draw_heatmap(
        shown,
        "combined",
        f"attention-{how}",
        stretch=scene.value_weighted or how == "sum",
        what=f"{_HOW[how].lower()} {scene.what} of {len(heads)} heads",
    )
    downloads.numbers(scene, shown, heads, name=f"attention-{how}", how=how)
