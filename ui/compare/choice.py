"""Choosing what to compare: two to four models, which of them is the reference, and which is set against it."""

from __future__ import annotations

import streamlit as st

from model_zoo import registry
from ui import notes, state
from ui.compare.scene import name


def models(with_b: bool) -> tuple[tuple[str, ...], int]:
    """The models chosen, the reference first, and the place (from 1) of the one it is compared with, B.

    Any number from none to the most, each once: complaints say what was left out. Without ``with_b`` the view on
    screen compares no two, and B is not asked for.
    """
    chosen = _allowed()
    columns = st.columns([3, 1, 1], vertical_alignment="bottom")
    columns[0].multiselect(
        "Models, two to four",
        [*registry.MODELS, *(model for model in chosen if model not in registry.MODELS)],
        **state.COMPARED.bound,
        format_func=lambda model: name(model, chosen),
        accept_new_options=True,
        max_selections=state.MOST_COMPARED,
        placeholder="Choose models, or type a Hugging Face id or a folder",
        help="Choose models, or type a Hugging Face id (such as google-bert/bert-base-uncased) or a folder.",
    )
    if not chosen:
        return (), 1
    st.session_state[_REFERENCE] = chosen[0]
    columns[1].selectbox(
        "A, the reference", chosen, key=_REFERENCE, format_func=lambda model: name(model, chosen), on_change=_reorder
    )
    if len(chosen) == 1:
        st.info(
            "One model is compared with itself: all differences are 0, which is a check of the numbers. "
            "Choose a second one to see how they differ.",
            icon=":material/content_copy:",
        )
        return tuple(chosen), 1
    if state.BESIDE.value > len(chosen):
        state.BESIDE.value = 2
    if not with_b:
        return tuple(chosen), state.BESIDE.value
    if st.session_state.get(_OFFERED) != chosen:
        st.session_state[_OFFERED] = list(chosen)
        state.BESIDE.tell()  # B is a place, at which another model may stand now
    beside = columns[2].selectbox(
        "B, compared with A",
        range(1, len(chosen) + 1),
        **state.BESIDE.bound,
        format_func=lambda place: "A itself" if place == 1 else name(chosen[place - 1], chosen),
        help="“A itself” is a check: all differences are 0.",
    )
    return tuple(chosen), beside


_REFERENCE = "reference model"
_OFFERED = "models offered as B"


def _reorder() -> None:
    """The reference stands first."""
    first = st.session_state[_REFERENCE]
    others = [model for model in state.COMPARED.value if model != first]
    state.COMPARED.value = [first, *others]


def _allowed() -> list[str]:
    """What is chosen, each model once and not too many; lists of names typed at once are taken apart."""
    asked = [part.strip() for entry in state.COMPARED.value for part in entry.split(",")]
    once = list(dict.fromkeys(model for model in asked if model))
    complaints = []
    twice = sorted({model for model in once if asked.count(model) > 1})
    if twice:
        complaints.append(
            f"{', '.join(twice)} is named twice, and is shown once. To compare a model with itself, choose “A itself” "
            "as B."
        )
    if len(once) > state.MOST_COMPARED:
        left_out = ", ".join(once[state.MOST_COMPARED :])
        complaints.append(f"{state.MOST_COMPARED} models at most can be compared; {left_out} was left out.")
    notes.complaints(complaints)
    chosen = once[: state.MOST_COMPARED]
    state.COMPARED.value = chosen
    return chosen
