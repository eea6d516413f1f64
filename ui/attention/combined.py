"""View "Several heads": mean, maximum, sum or norm of the sum over heads as one heatmap."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from analysis.filters import Combination, combine
from ui import controls, downloads, state
from ui.attention import choice
from ui.attention.scene import Scene, draw_heatmap, summary

_HOW: dict[Combination, str] = {"mean": "Mean", "max": "Largest", "sum": "Sum", "norm": "Norm of the sum"}


def draw(scene: Scene) -> None:
    which, combination = st.columns(2)
    with which:
        heads = choice.heads(scene)
    with combination:
        how = controls.choice("Put together by", _HOW, state.HOW)
    if how == "norm":
        scene = replace(scene, value_weighted=True)
        st.caption(
            "What a head carries from one token to another is a vector, αf(x). Here the heads' vectors are added up, "
            "and a cell is the length of the sum (Kobayashi et al. 2020): heads that pull in opposite directions "
            "cancel out. “Weigh by values” changes nothing here."
        )
    shown = scene.filtered(combine(scene.run, heads, how, value_weighted=scene.value_weighted))
    if not summary(shown):
        return
    draw_heatmap(
        shown,
        "combined",
        f"attention-{how}",
        stretch=scene.value_weighted or how == "sum",
        what=f"{'‖Σαf(x)‖' if how == 'norm' else f'{_HOW[how].lower()} {scene.what}'} of {len(heads)} heads",
    )
    downloads.numbers(scene, shown, heads, name=f"attention-{how}", how=how)
