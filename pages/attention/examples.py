"""The examples of the page "Attention", and a sentence on what the one on screen shows."""

from __future__ import annotations

from typing import Any

from model_zoo.types import AttentionRun
from pages.attention.fields import CHOSEN, FILTERS, LOCKED, MODEL_PART, OFF, SCOPE, SHOWN_VIEW, TOKEN
from ui import HEAD, LAYER, MODEL, PAIR, TEXT, Example, Examples, Field, join_names, say
from ui.show import SHOW


def _head(layer: int, head: int, token: int | None = None) -> dict[Field[Any], Any]:
    """One head in the view "Lines", and the token whose lines alone are drawn."""
    values: dict[Field[Any], Any] = {SHOWN_VIEW: "lines", LAYER: layer, HEAD: head}
    return values if token is None else values | {TOKEN: token, LOCKED: f"query.{token}"}


EXAMPLES = Examples(
    (TEXT, PAIR, MODEL, MODEL_PART, LAYER, HEAD, SHOWN_VIEW, SHOW, *FILTERS, SCOPE, CHOSEN, TOKEN, LOCKED, OFF),
    (
        Example(
            "Where does “it” look?",
            {TEXT: "The cat sat on the mat because it was tired.", **_head(2, 4, token=9)},
            looks=((9, 3),),
        ),
        Example(
            "A verb and its subject",
            {TEXT: "The keys to the old wooden cabinet are on the table.", **_head(4, 2, token=9)},
            looks=((9, 3),),
        ),
        Example(
            "Across two sentences",
            {TEXT: "My phone is broken.", PAIR: "It fell on the floor.", **_head(2, 4, token=8)},
            looks=((8, 3),),
        ),
        Example(
            "One word, two meanings",
            {TEXT: "The palm of my hand hurts, so I sit under a palm tree.", **_head(1, 5)},
            looks=((3, 6), (14, 15)),
        ),
        Example(
            "A word in pieces",
            {TEXT: "The electroencephalogram showed nothing unusual.", **_head(5, 10)},
            looks=((3, 4), (4, 5), (5, 6)),
        ),
        Example(
            "A word repeated", {TEXT: "A rose is a rose is a rose.", **_head(3, 10)}, looks=((3, 9), (6, 9), (9, 3))
        ),
    ),
    clicked=(TOKEN, LOCKED, OFF),
)


def say_weights(run: AttentionRun) -> None:
    """The weights that the example on screen is about, as the model at hand has them."""
    example = EXAMPLES.on_screen()
    if example is None:
        return
    layer, head = LAYER.value, HEAD.value
    weights, tokens = run.head(layer - 1, head - 1), run.encoding.tokens

    def named(place: int) -> str:
        token = tokens[place - 1]
        return f"“{token}”" if tokens.count(token) == 1 else f"“{token}” (token {place})"

    shares = [
        f"{weights[query - 1, key - 1]:.0%} of the attention of {named(query)} goes to {named(key)}"
        for query, key in example.looks
    ]
    say(f"In layer {layer}, head {head}, {join_names(shares)}.")
