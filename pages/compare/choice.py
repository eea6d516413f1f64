"""Choosing what to compare: two to four models, which of them is A, the reference, and which is B; and examples."""

from __future__ import annotations

import os
from collections.abc import Sequence

import streamlit as st

from analysis.alignment import MOST
from model_zoo import registry
from pages.compare.fields import BESIDE, COMPARED, HEADS_BESIDE, LAYERS_BESIDE, MASK, MASKS, SHOWN_VIEW
from ui import HEAD, LAYER, PAIR, TEXT, join_names, notes, read_examples, tuned, widgets
from ui.show import SHOW
from web.settings import settings

EXAMPLES = read_examples(
    "compare",
    (TEXT, PAIR, LAYER, HEAD, SHOW, SHOWN_VIEW, COMPARED, BESIDE, *LAYERS_BESIDE, *HEADS_BESIDE, MASKS, MASK),
)
_REFERENCE = "reference-model"


def name(model: str, among: Sequence[str] = ()) -> str:
    """What the page calls a model: its name in the registry, the end of a folder, else its id.

    That a model is bundled is not told with every name: names stand beside and over each other here, and have to be
    short to be read whole.
    """
    spec = registry.find(model)
    if spec is not None:
        return spec.short_name
    of_visit = tuned.name(model)
    if of_visit is not None:
        return of_visit
    if os.path.isabs(model) or model.startswith(("~", ".")):
        short = os.path.basename(os.path.normpath(model))
        if all(os.path.basename(os.path.normpath(other)) != short for other in among if other != model):
            return short
    return model


def models(with_b: bool) -> tuple[tuple[str, ...], int]:
    """The models chosen, the reference first, and the place (from 1) of B, the one it is compared with.

    Any number from none to the most, each once: complaints say what was left out. Without ``with_b`` the view on
    screen does not compare two of them, and which is A or B is not asked.
    """
    chosen = _allowed()
    with widgets.controls("models"):
        beside = _ask(chosen, with_b)
    if len(chosen) == 1:
        st.info(
            "The model is compared with itself: all differences are 0, which checks the numbers. Choose a second "
            "model to see how the two differ.",
            icon=":material/content_copy:",
        )
    return chosen, beside


def _ask(chosen: tuple[str, ...], with_b: bool) -> int:
    free = settings().any_model
    st.multiselect(
        "Models, two to four",
        list(dict.fromkeys((*registry.MODELS, *tuned.session_models(), *chosen))),
        **COMPARED.bound,
        format_func=lambda model: name(model, chosen),
        accept_new_options=free,
        max_selections=MOST,
        placeholder="Choose models, or type a Hugging Face id or a folder" if free else "Choose models",
        label_visibility="collapsed",
    )
    widgets.try_example(EXAMPLES)
    if len(chosen) < 2:
        return 1
    if BESIDE.value > len(chosen):
        BESIDE.value = 2
    if not with_b:
        return BESIDE.value
    st.session_state[_REFERENCE] = chosen[0]
    st.selectbox("A", chosen, key=_REFERENCE, format_func=lambda model: name(model, chosen), on_change=_reorder)
    others = {place: name(model, chosen) for place, model in enumerate(chosen[1:], start=2)}
    return st.selectbox("B", **BESIDE.offering({1: "A itself"} | others))


def _reorder() -> None:
    first = st.session_state[_REFERENCE]
    COMPARED.value = (first, *(model for model in COMPARED.value if model != first))


def _allowed() -> tuple[str, ...]:
    """What is chosen, each model once and not too many; several names typed in one go are taken apart."""
    requested = [part.strip() for entry in COMPARED.value for part in entry.split(",")]
    once = list(dict.fromkeys(model for model in requested if model))
    complaints = []
    twice = sorted({model for model in once if requested.count(model) > 1})
    if twice:
        complaints.append(
            f"{join_names(twice)} {'is named twice, and is' if len(twice) == 1 else 'are named twice, and are'} shown "
            "once. To compare a model with itself, choose “A itself” as B."
        )
    refused = [model for model in once if not widgets.may_be_named(model)]
    if refused:
        complaints.append(widgets.not_listed(refused))
        once = [model for model in once if model not in refused]
    if len(once) > MOST:
        left_out = once[MOST:]
        complaints.append(
            f"At most {MOST} models can be compared; {join_names(left_out)} {'was' if len(left_out) == 1 else 'were'} "
            "left out."
        )
    notes.complain(complaints)
    chosen = tuple(once[:MOST])
    COMPARED.value = chosen
    return chosen
