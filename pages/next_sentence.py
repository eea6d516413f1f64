"""The page "Next sentence": whether one sentence follows another, in a model's opinion."""

import streamlit as st

from ui import controls, examples, next_sentence, sentence_pairs, state
from ui.messages import failures_as_messages
from ui.notes import link
from ui.page import begin

FIELDS = (state.TEXT, state.PAIR, state.MODEL, *state.NEXT_FIELDS)

NAMES = {
    "probability": "Probability",
    "attention": "Attention between them",
    "input": "What BERT sees",
    "many pairs": "Many pairs",
    "a text": "A whole text",
}

begin(
    "Next sentence",
    "BERT was also trained to say whether a second sentence follows the first in a text or was drawn at random "
    "(next-sentence prediction, **NSP**).",
    FIELDS,
)
untouched = (state.TEXT.value, state.PAIR.value) == (state.TEXT.default, "")
if untouched and not st.query_params:
    opening = examples.NEXT_SENTENCE.each[0].values
    state.put({field: opening[field] for field in (state.TEXT, state.PAIR)})

view = st.segmented_control(
    "View",
    NAMES,
    **state.NEXT_VIEW.bound,
    format_func=NAMES.__getitem__,
    required=True,
    label_visibility="collapsed",
)
a, b = ("", "") if view in ("many pairs", "a text") else next_sentence.both_texts()
model = controls.model()
with failures_as_messages():
    if view == "many pairs":
        sentence_pairs.draw(model)
    elif view == "a text":
        next_sentence.view_text(model)
    elif not b.strip():
        st.info("Type a sentence B that may follow A, or choose an example above.", icon=":material/edit:")
    elif view == "attention":
        next_sentence.view_attention(model, a, b)
    elif view == "input":
        next_sentence.view_input(model, a, b)
    else:
        next_sentence.view_probability(model, a, b)
link(FIELDS, sentence_pairs.left_out_of_link() if view == "many pairs" else "")
