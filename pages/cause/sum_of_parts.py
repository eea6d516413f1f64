"""View "Sum of parts": the logit of the answer as a sum of what every part of the model wrote."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from analysis.agreement import readable
from model_zoo.types import Contribution, Decomposition, counted, signed
from pages.cause import scene as scenes
from pages.cause.scene import Scene
from ui import SWITCH, Field, View, as_python, figures, notes, one_of, save, widgets
from viz.bars import waterfall
from viz.erasure import LEGEND
from web.engine import engine

_GROUPED = {"layers": "By layer", "heads": "Largest parts"}
GROUPED: Field[str] = Field("parts", "layers", one_of("the parts", _GROUPED), of="cause")
DIFFERENCE: Field[bool] = Field("difference", True, SWITCH, of="cause")

_MOST = 16
_KINDS = {
    "token": "Word embedding",
    "position": "Position embedding",
    "segment": "Segment embedding",
    "bias": "All biases",
}


class _Part(NamedTuple):
    """A part of the model, what it is called, and what it adds to the sum that is shown."""

    of: Contribution
    name: str
    adds: float


def draw(scene: Scene) -> None:
    controls = scenes.row(scene, "mask")
    if controls is None:
        return
    with controls:
        grouped = widgets.choice("Parts", GROUPED, label_visibility="collapsed")
        difference = st.toggle(
            "Compared with the other answer",
            **DIFFERENCE.bound,
            help="How much more each part adds to the target than to the other answer. Much of a single logit is "
            "raised or lowered for all tokens alike.",
        )
    question = scene.resolved
    decomposition = engine().decompose(scene.model, scene.encoding.text, masked=scene.masked, aim=question.aim)
    total, axis = _sum_labels(decomposition, difference=difference)
    parts = [
        _Part(part, _name(part), part.logit - (part.foil_logit or 0.0) * difference) for part in decomposition.parts
    ]
    rows = _layer_rows(parts) if grouped == "layers" else _largest_rows(parts)
    _put_python(scene, parts, difference=difference)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        figures.show(partial(waterfall, rows, total, quantity=axis), "waterfall", "sum-of-parts")
        st.caption(
            f"{LEGEND}. The parts add up to the logit within {abs(decomposition.error):.1g}. "
            "Every norm on the way, and the activation "
            "in the prediction head, are frozen at their values in this run. Only what a part writes itself counts "
            "as its own; what later layers make of it counts as theirs."
        )
    with right:
        st.markdown("**Tokens the largest parts promote**")
        st.dataframe(_raises(parts), hide_index=True, height=35 * (_MOST + 1) + 3)
        st.caption("The tokens whose logits a part raises most, relative to its mean over all tokens.")
        if not notes.is_from_elsewhere(scene.model):  # else it stands below; Small BERT began as a model from elsewhere
            st.caption(notes.PREJUDICE)
        save.table("All parts", lambda: _table(scene, decomposition), "sum-of-parts")


def _put_python(scene: Scene, parts: Sequence[_Part], *, difference: bool) -> None:
    adds = "part.logit - part.foil_logit" if difference else "part.logit"
    as_python.put(
        scene.python_code(foil=difference)
        + f"found = {scene.call('decompose', 'text', 'aim=aim', masked=scene.masked or None)}\n"
        f"numbers = np.array([{adds} for part in found.parts])  # of each part: its kind, layer and head",
        lambda: np.array([part.adds for part in parts]),
    )


def _sum_labels(decomposition: Decomposition, *, difference: bool) -> tuple[str, str]:
    """What the sum is called, and what is along its axis."""
    answer = readable(decomposition.answer.token)
    if not difference or decomposition.foil is None:
        return f"Logit of “{answer}”", f"logit of “{answer}”"
    other = readable(decomposition.foil.token)
    return f"“{answer}” − “{other}”", f"logit of “{answer}” minus that of “{other}”"


def _layer_rows(parts: Sequence[_Part]) -> list[tuple[str, float, str]]:
    """Embeddings, the heads of each layer together, each feed-forward block, and biases."""
    rows = [(part.name, part.adds, "") for part in parts if part.of.layer is None and part.of.kind != "bias"]
    for layer in sorted({part.of.layer for part in parts if part.of.layer is not None}):
        heads = [part for part in parts if part.of.layer == layer and part.of.kind == "head"]
        most = max(heads, key=lambda part: abs(part.adds))
        largest = f"the largest is {most.name}: {signed(most.adds, plus=True)}"
        rows.append((f"Layer {layer + 1}, {counted(len(heads), 'head')}", sum(part.adds for part in heads), largest))
        (forward,) = (part for part in parts if part.of.layer == layer and part.of.kind == "feed-forward")
        rows.append((forward.name, forward.adds, ""))
    return rows + [(part.name, part.adds, "") for part in parts if part.of.kind == "bias"]


def _largest_rows(parts: Sequence[_Part]) -> list[tuple[str, float, str]]:
    """The largest parts one by one, and all others together."""
    ranked = _ranked(parts)
    rows = [(part.name, part.adds, "") for part in ranked[:_MOST]]
    rest = ranked[_MOST:]
    if rest:
        rows.append((counted(len(rest), "other part"), sum(part.adds for part in rest), ""))
    return rows


def _ranked(parts: Sequence[_Part]) -> list[_Part]:
    return sorted(parts, key=lambda part: -abs(part.adds))


def _name(part: Contribution) -> str:
    if part.layer is None:
        return _KINDS[part.kind]
    noun = "feed-forward" if part.head is None else f"head {part.head + 1}"
    return f"Layer {part.layer + 1}, {noun}"


def _raises(parts: Sequence[_Part]) -> pd.DataFrame:
    ranked = _ranked(parts)[:_MOST]
    return pd.DataFrame(
        {
            "part": [part.name for part in ranked],
            "adds": [signed(part.adds, plus=True) for part in ranked],
            "raises": [" · ".join(readable(token) for token, _ in part.of.raises) for part in ranked],
        }
    )


def _table(scene: Scene, decomposition: Decomposition) -> pd.DataFrame:
    table = decomposition.to_frame().rename(columns={"foil_logit": "logit_against"})
    table[["layer", "head"]] += 1
    table.insert(0, "answer", decomposition.answer.token)
    table.insert(1, "against", None if decomposition.foil is None else decomposition.foil.token)
    return scene.table(table)


VIEW = View(
    "sum",
    "Sum of parts",
    draw,
    (
        "The target’s logit is a sum of what every part of the model wrote into one vector. How much does each "
        "part contribute?"
    ),
    more="Direct logit attribution (Elhage et al. 2021): the last vector is the sum of the embeddings and of what "
    "every head and feed-forward block added, so the logit is a sum, too, once the norms are frozen. A part may "
    "also have an indirect effect, by changing what later parts do. (Reading a whole layer with the output head "
    "is the logit lens, nostalgebraist 2020.)",
    caution="A contribution is a part’s direct effect. What it changes in later parts counts as theirs, so a small "
    "contribution does not show that the prediction could do without that part.",
    fields=(GROUPED, DIFFERENCE),
    tab=50,
    terms=("direct logit attribution", "residual stream"),
)
