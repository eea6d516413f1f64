"""View "How tokens move": how far each token of a typed sentence moves in each layer; needs no probe."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from analysis.probing.movement import Measure, movement
from model_zoo.questions.encode_states import EncodeStates
from pages.layers.scene import Scene
from ui import TEXT, Field, View, as_python, figures, notes, one_of, read_examples, save, widgets
from viz.matrix import token_movement
from web.engine import engine

_MEASURES: Mapping[Measure, str] = {"cosine": "Direction (1 − cosine)", "relative": "Relative length of the step"}
MEASURE: Field[Measure] = Field("measure", "cosine", one_of("the measure", _MEASURES), of="layers")

EXAMPLES = read_examples("layers", (TEXT, MEASURE))

_ABOUT: Mapping[Measure, str] = {
    "cosine": "1 − cosine, 0 for the same direction, 1 for a right angle.",
    "relative": "the length of the step divided by the length of the vector before it.",
}
_WHAT: Mapping[Measure, str] = {"cosine": "1 − cosine", "relative": "step / length"}


def draw(scene: Scene) -> None:
    model = scene.choice.model
    with widgets.input_line("moving"):
        text, _ = widgets.texts(second=False)
        widgets.try_example(EXAMPLES)
        measure = widgets.choice("Measure", MEASURE, label_visibility="collapsed")
    with st.spinner("Running the model …", show_time=True):
        hidden = engine().encoded_states(model, text)
    tokens = hidden.encoding.tokens
    notes.warn_of_reading(hidden.encoding, model)
    notes.warn_beyond_training({model: len(tokens)})
    norm = "" if hidden.last_unnormed is None else " The last layer's vectors are taken before the model's final norm."
    moved = movement(hidden.states, measure, last_unnormed=hidden.last_unnormed)
    as_python.put(
        f"hidden = {as_python.call(EncodeStates(model, text))}\n"
        f'numbers = movement(hidden.states, "{measure}", last_unnormed=hidden.last_unnormed)  # a row a layer',
        lambda: moved,
    )
    figures.show(partial(token_movement, moved, tokens, _WHAT[measure]), "movement", "token-movement")
    st.caption(f"How far each token's vector moves from one layer to the next: {_ABOUT[measure]}{norm}")
    n_layers, n = moved.shape
    save.table(
        "Movement",
        lambda: pd.DataFrame(
            {
                "layer": np.repeat(np.arange(1, n_layers + 1), n),
                "position": np.tile(np.arange(1, n + 1), n_layers),
                "token": tokens * n_layers,
                "measure": measure,
                "moved": moved.ravel(),
            }
        ),
        "token-movement",
    )


VIEW = View(
    "movement",
    "How tokens move",
    draw,
    "How far the vector of each token of a text moves from one layer to the next.",
    fields=(TEXT, MEASURE),
    tab=80,
    terms=("cosine",),
)
