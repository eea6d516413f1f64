"""The examples of the page "Attention", and a sentence on what the one on screen shows."""

from __future__ import annotations

from model_zoo.types import AttentionRun
from pages.attention.fields import CHOSEN, FILTERS, LOCKED, MODEL_PART, OFF, SCOPE, SHOWN_VIEW, TOKEN
from ui import HEAD, LAYER, MODEL, PAIR, TEXT, join_names, read_examples, say
from ui.show import SHOW

EXAMPLES = read_examples(
    "attention",
    (TEXT, PAIR, MODEL, MODEL_PART, LAYER, HEAD, SHOWN_VIEW, SHOW, *FILTERS, SCOPE, CHOSEN, TOKEN, LOCKED, OFF),
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
