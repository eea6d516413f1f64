"""The walk: one picture of the whole model, from characters to probabilities, which several lessons share."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from model_zoo.errors import ModelZooError, NotSupported
from model_zoo.types import MaskPrediction
from pages.learn.case import Case, name_of
from ui import Field, optional, place, save
from ui.component import component, on_component_event
from viz.anatomy import SOURCE, payload
from viz.component import pack

FOLLOWED: Field[int | None] = Field("token", None, optional(place("the token")), of="learn")
"""The token that is followed through the model, by its place in the text."""

_KEY = "learn-walk"
_CLICKED = "walk_position"


def draw(case: Case, at: str) -> None:
    """The anatomy of the chosen layer and head, the visitor's place ``at`` marked: the name of a stage, or one of
    ``viz.anatomy.PLACES``. A click on a token follows it, one on a layer opens it, both in the picture alone: the
    question beside it stays what it is.
    """
    question = (case.model, case.text, case.followed, case.layer, case.head, at)
    if st.session_state.get(_CLICKED, (None, {}))[0] != question:
        st.session_state[_CLICKED] = question, {}
    clicked = st.session_state[_CLICKED][1]
    case = replace(case, **clicked)
    anatomy = case.anatomy
    if not anatomy.attention.size:
        raise NotSupported(f"{name_of(case.model)} has no attention, so it has no such picture. Choose another model.")

    drawn = payload(
        anatomy,
        predictions=_guesses(case),
        at=at,
        position=case.followed,
    )
    save.picture(drawn["file"])
    component("anatomy", SOURCE)(
        key=_KEY,
        data=pack(drawn),
        on_token_change=on_component_event(_KEY, "token", lambda place: clicked.update(token=int(place))),
        on_layer_change=on_component_event(_KEY, "layer", lambda place: clicked.update(layer=int(place))),
    )


def _guesses(case: Case) -> MaskPrediction | None:
    """What the model would put in the place of the followed token; None where it cannot say."""
    try:
        return case.guesses(case.followed)
    except ModelZooError:
        return None
