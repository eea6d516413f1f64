"""The map of the model that stays on screen through all lessons: where a step is, and ways to the other lessons."""

from __future__ import annotations

from typing import Final

import streamlit as st

from model_zoo.types import counted
from pages.learn import fields, teaching
from pages.learn.lesson import Place
from pages.learn.lessons import LESSONS

_BEFORE: Final[tuple[tuple[Place, str, str], ...]] = (
    ("text", "Text", "pieces"),
    ("pieces", "Pieces", "pieces"),
    ("embeddings", "Embeddings", "embeddings"),
)
_WITHIN: Final[tuple[tuple[Place, str, str], ...]] = (
    ("heads", "Attention heads", "head"),
    ("norm", "Add & norm", "layer"),
    ("feed-forward", "Feed-forward", "layer"),
)
_BEHIND: Final[tuple[tuple[Place, str, str], ...]] = (("guess", "Prediction", "guessing"),)


def draw(here: Place, n_layers: int) -> None:
    """The places from left to right, the one of the step marked; each opens the lesson that is about it, but for those
    who follow a room. “Continue” still leads to where one was.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="map"):
        for place in _BEFORE:
            _place(*place, here)
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content", key="map-layer"):
            for place in _WITHIN:
                _place(*place, here)
            _place("layers", f"× {counted(n_layers, 'layer')}", "layers", here)
        for place in _BEHIND:
            _place(*place, here)


def _place(place: Place, label: str, lesson: str, here: Place) -> None:
    is_here = place == here
    st.button(
        label,
        key=f"map {place}",
        type="primary" if is_here else "tertiary",
        icon=":material/location_on:" if is_here else None,
        help="You are here."
        if is_here
        else f"Open the lesson “{LESSONS[lesson].title}”."
        if lesson in LESSONS
        else None,
        on_click=fields.look,
        args=(lesson,),
        disabled=teaching.follows() and not is_here,
    )
