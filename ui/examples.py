"""Examples to start from: each is a whole state of its page, in which there is something to see.

What they show was found by measuring the models that lie in the app; ``tests/pages/test_examples.py`` measures it
again, so that a model trained anew cannot leave an example that shows nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ui import state
from ui.state import Field


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """``values`` are the fields it sets. ``looks`` are pairs of tokens, counted from 1: in the head that it opens,
    the first looks at the second more than at any other.
    """

    title: str
    values: Mapping[Field, Any]
    looks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Those of one page. ``decides`` are the fields of a state: what an example does not name gets its default."""

    decides: tuple[Field, ...]
    each: tuple[Example, ...]

    def state(self, example: Example) -> dict[Field, Any]:
        """All the fields that choosing this example sets."""
        return {field: field.default for field in self.decides} | dict(example.values)

    def on_screen(self) -> Example | None:
        """The example whose state the page is in, whatever was clicked in its picture since."""
        for example in self.each:
            wanted = self.state(example)
            if all(field.written == field.write(wanted[field]) for field in wanted if field not in _CLICKED):
                return example
        return None


_CLICKED = (state.TOKEN, state.LOCKED, state.OFF)


def _head(layer: int, head: int, token: int | None = None) -> dict[Field, Any]:
    """One head in the view "Lines", and the token whose lines alone are drawn."""
    values: dict[Field, Any] = {
        state.VIEW: "lines",
        state.SCOPE: "chosen",
        state.CHOSEN: [f"{layer}.{head}"],
        state.LAYER: layer,
        state.HEAD: head,
    }
    return values if token is None else values | {state.TOKEN: token, state.LOCKED: f"query.{token}"}


ATTENTION = Examples(
    tuple(field for field in state.ATTENTION if field is not state.HEAD_TEXTS),
    (
        Example(
            "Where does “it” look?",
            {state.TEXT: "The cat sat on the mat because it was tired.", **_head(2, 4, token=9)},
            looks=((9, 3),),
        ),
        Example(
            "A verb and its subject",
            {state.TEXT: "The keys to the old wooden cabinet are on the table.", **_head(4, 2, token=9)},
            looks=((9, 3),),
        ),
        Example(
            "Across two sentences",
            {state.TEXT: "My phone is broken.", state.PAIR: "It fell on the floor.", **_head(2, 4, token=8)},
            looks=((8, 3),),
        ),
        Example(
            "One word, two meanings",
            {state.TEXT: "The palm of my hand hurts, so I sit under a palm tree.", **_head(1, 5)},
            looks=((3, 6), (14, 15)),
        ),
        Example(
            "A word in pieces",
            {state.TEXT: "The electroencephalogram showed nothing unusual.", **_head(5, 10)},
            looks=((3, 4), (4, 5), (5, 6)),
        ),
        Example(
            "A word repeated",
            {state.TEXT: "A rose is a rose is a rose.", **_head(3, 10)},
            looks=((3, 9), (6, 9), (9, 3)),
        ),
    ),
)

MASKED_WORDS = Examples(
    (
        state.TEXT,
        state.MODEL,
        state.MASKED,
        state.MASK_WORDS,
        state.MASKED_VIEW,
        state.AGAINST,
        state.WHICH_MASK,
        state.MASK_HEAD,
        state.REPLACED,
        state.REPLACEMENT,
    ),
    (
        Example("One word fits", {state.TEXT: "The doctor said that she was tired.", state.MASKED: (6,)}),
        Example("Several words fit", {state.TEXT: "He drank a cup of coffee.", state.MASKED: (6,)}),
        Example("Singular or plural?", {state.TEXT: "The dogs near the house are hungry.", state.MASKED: (6,)}),
        Example("He or she?", {state.TEXT: "Anna opened the letter because she was curious.", state.MASKED: (6,)}),
        Example(
            "Help from the sentence before",
            {state.TEXT: "The train was late. We waited for the train.", state.MASKED: (10,)},
        ),
        Example(
            "Two words at once",
            {state.TEXT: "She looked at him and shook her head.", state.MASKED: (3, 8)},
        ),
    ),
)

_WINDOW, _AIR = "She opened the window.", "Cold air came into the room."

NEXT_SENTENCE = Examples(
    (state.TEXT, state.PAIR, state.MODEL, state.NEXT_VIEW),
    (
        Example("A next sentence", {state.TEXT: _WINDOW, state.PAIR: _AIR}),
        Example("An unrelated one", {state.TEXT: _WINDOW, state.PAIR: "Penguins are birds."}),
        Example("The first two, swapped", {state.TEXT: _AIR, state.PAIR: _WINDOW}),
        Example(
            "Same word, another story",
            {state.TEXT: _WINDOW, state.PAIR: "The window of the shop was full of toys."},
        ),
    ),
)

COMPARE = Examples(
    (
        state.TEXT,
        state.PAIR,
        state.LAYER,
        state.HEAD,
        state.WHICH_MASK,
        state.COMPARED,
        state.BESIDE,
        state.COMPARE_VIEW,
        state.MASKED_WORDS,
        *state.LAYERS_BESIDE,
        *state.HEADS_BESIDE,
    ),
    (
        Example(
            "Words in pieces",
            {
                state.TEXT: "Unbelievably, the electroencephalogram looked unremarkable.",
                state.COMPARE_VIEW: "tokens",
            },
        ),
        Example(
            "One word back",
            {
                state.TEXT: "The cat sat on the mat because it was tired.",
                state.COMPARED: ["embedded/bert", "embedded/modernbert"],
                state.COMPARE_VIEW: "attention",
                state.LAYER: 1,
                state.HEAD: 3,
                state.LAYERS_BESIDE[0]: 2,
                state.HEADS_BESIDE[0]: 2,
            },
        ),
        Example(
            "A cup of what?",
            {
                state.TEXT: "He drank a cup of coffee.",
                state.COMPARE_VIEW: "predictions",
                state.MASKED_WORDS: (5,),
            },
        ),
        Example(
            "He, she or it?",
            {
                state.TEXT: "Anna opened the letter because she was curious.",
                state.COMPARE_VIEW: "predictions",
                state.MASKED_WORDS: (5,),
            },
        ),
    ),
)

# On the page "Layers", for its view "How tokens move"; the model there is the one that is probed.
MOVEMENT = Examples(
    (state.TEXT, state.MEASURE),
    (
        Example("A pronoun", {state.TEXT: "The cat sat on the mat because it was tired."}),
        Example(
            "The same word twice", {state.TEXT: "The ring on her finger shone, and the ring of the bell was loud."}
        ),
        Example("Words in pieces", {state.TEXT: "Unbelievably, the electroencephalogram looked unremarkable."}),
    ),
)
