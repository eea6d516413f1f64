"""The examples of the page "Cause": sentences in which something can be found, and pairs that differ in one word."""

from __future__ import annotations

from pages.cause.fields import ANSWER, BY, EDGES, FOIL, OFF, OTHER, SHOWN_VIEW, VALUE
from ui import MASK, MASKS, MODEL, PAIR, TEXT, read_examples

EXAMPLES = read_examples(
    "cause", (TEXT, PAIR, MODEL, MASKS, MASK, ANSWER, FOIL, BY, VALUE, OFF, EDGES, OTHER, SHOWN_VIEW)
)
