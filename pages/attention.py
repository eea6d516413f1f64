"""The page "Attention": what every head of every layer attends to, in the text of the visitor."""

import streamlit as st

from analysis.filters import Filter
from model_zoo.types import AttentionRun, Part
from ui import controls, examples, figures, filters, notes, state
from ui.attention import VIEWS, Scene, example
from ui.engine import engine
from ui.messages import failures_as_messages, fragment
from ui.page import begin
from ui.theme import is_dark

LONGEST = 1024  # tokens: what a browser can show


def run(model: str, text: str, pair: str | None, part: Part) -> AttentionRun:
    """The engine remembers its runs, so asking again costs nothing and no session holds one in memory."""
    return engine().attend(model, text, pair, max_tokens=LONGEST, part=part)


@fragment
def heads(model: str, text: str, pair: str | None, part: Part, name: str, chosen: Filter, value_weighted: bool) -> None:
    """What another head changes, and nothing else: the browser redraws this part of the page alone."""
    with failures_as_messages():
        found = run(model, text, pair, part)
        example.draw(found)
        VIEWS[name].draw(Scene(run=found, filter=chosen, value_weighted=value_weighted, dark=is_dark()))
    notes.link(state.ATTENTION, VIEWS[name].left_out_of_link())


begin(
    "Attention",
    "In every layer, each **head** lets every token look at the tokens that it may see, in BERT at all of them: it "
    "divides 100% of its attention among them. Open a head and read it row by row.",
    state.ATTENTION,
)
text, pair = controls.texts(examples.ATTENTION)
model = controls.model()
reached = False
with failures_as_messages():
    with st.spinner("Running the model …", show_time=True), figures.announced():
        part = controls.part(engine().info(model))
        notes.about_run(run(model, text, pair, part))
    name = controls.choice("View", {name: view.title for name, view in VIEWS.items()}, state.VIEW)
    st.markdown(VIEWS[name].about)
    chosen, value_weighted = Filter(), False
    if VIEWS[name].filters:
        chosen, value_weighted = filters.attention_filter(pair is not None and part == "encoder")
    reached = True
    heads(model, text, pair, part, name, chosen, value_weighted)
if not reached:  # what cannot be shown has an address, too
    notes.link(state.ATTENTION)
