"""The page "Layers": what can be read off each layer, by probes."""

from ui import notes, state
from ui.page import begin
from ui.probing import choice, results, running

FIELDS = (state.MODEL, state.TEXT, *state.LAYERS_FIELDS)

begin(
    "Layers",
    "A **probe** is a small classifier that reads a label off a layer's vectors. Train one on every layer, and see "
    "where length, words, grammar or meaning can be read.",
    FIELDS,
)
chosen = choice.draw()
running.draw(chosen)
results.draw(chosen)
notes.link(FIELDS, running.left_out_of_link(chosen))
