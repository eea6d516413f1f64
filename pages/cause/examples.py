"""The examples of the page "Cause": sentences in which something can be found, and pairs that differ in one word."""

from __future__ import annotations

from pages.cause.fields import ANSWER, BY, EDGES, FOIL, OFF, OTHER, SHOWN_VIEW, VALUE
from ui import MASK, MASKS, MODEL, PAIR, TEXT, Example, Examples

_DOGS = {TEXT: "The dogs near the house [MASK] hungry.", ANSWER: "are", FOIL: "is"}
_DOG = {**_DOGS, OTHER: "The dog near the house [MASK] hungry."}

EXAMPLES = Examples(
    (TEXT, PAIR, MODEL, MASKS, MASK, ANSWER, FOIL, BY, VALUE, OFF, EDGES, OTHER, SHOWN_VIEW),
    (
        Example("Which heads carry the plural?", {**_DOG, SHOWN_VIEW: "heads"}),
        Example(
            "Two heads switched off",
            {TEXT: "The cat sat on the [MASK] because it was tired.", OFF: ("6.8", "6.9"), SHOWN_VIEW: "heads"},
        ),
        Example("The mask cannot attend to “dogs”", {**_DOGS, EDGES: ("6.2",), SHOWN_VIEW: "edges"}),
        Example(
            "Which word drives it?", {TEXT: "She sat at the table and drank a cup of [MASK].", SHOWN_VIEW: "words"}
        ),
        Example(
            "One dog, or several",
            {**_DOG, BY: "difference", SHOWN_VIEW: "patching"},
        ),
        Example("What each part writes", {**_DOGS, SHOWN_VIEW: "sum"}),
        Example(
            "Does it follow?",
            {TEXT: "She opened the window.", PAIR: "Cold air came into the room.", SHOWN_VIEW: "heads"},
        ),
    ),
)
