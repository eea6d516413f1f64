"""The page "Masked words": what the model believes stands behind a mask."""

import streamlit as st

from ui import controls, examples, masked_scores, masked_words, minimal_pairs, notes, state
from ui.engine import engine
from ui.messages import failures_as_messages
from ui.page import begin

FIELDS = (state.TEXT, state.MODEL, *state.MASK_FIELDS)

VIEWS = {
    "predictions": ("Predictions", masked_words.view_predictions),
    "layers": ("Layer by layer", masked_words.view_layers),
    "surprise": ("How surprising", masked_scores.view_surprise),
    "training": ("How BERT was trained", masked_scores.view_training),
    "attention": ("What the mask looks at", masked_words.view_attention),
    "what if": ("What if", masked_words.view_what_if),
    "pairs": ("Minimal pairs", minimal_pairs.view_pairs),
}

begin(
    "Masked words",
    "BERT was trained to guess hidden words (masked language modelling, **MLM**). Click words to hide them, "
    "and see what a model would put there.",
    FIELDS,
)
masked_words.come_back()

text, _ = controls.texts(examples.MASKED_WORDS, second=False)
model = controls.model()
with failures_as_messages():
    with st.spinner("Loading the model …", show_time=True):
        info = engine().info(model)
    playground = masked_words.strip(info, text)
    notes.beyond_training({model: len(playground.encoding)})
    view = st.segmented_control(
        "View",
        VIEWS,
        **state.MASKED_VIEW.bound,
        format_func=lambda name: VIEWS[name][0],
        required=True,
        label_visibility="collapsed",
    )
    with failures_as_messages():
        VIEWS[view or "predictions"][1](playground)
    st.caption(notes.about_model(info, len(playground.encoding)))
notes.link(FIELDS, minimal_pairs.left_out_of_link() if state.MASKED_VIEW.value == "pairs" else "")
