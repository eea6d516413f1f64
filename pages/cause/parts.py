"""What can be switched off on the page "Cause": its names in addresses, and the change that it is to a run."""

from __future__ import annotations

from collections.abc import Sequence

from model_zoo.types import Change

BLOCKS = ("attention", "forward")  # of a layer, beside its heads


def change_of(parts: Sequence[str]) -> Change:
    """Some parts off together, "3.7" a head, "3.attention" or "3.forward" a block, all from 1."""
    split = [(int(part.partition(".")[0]) - 1, part.partition(".")[2]) for part in parts]
    return Change(
        heads=tuple((layer, int(name) - 1) for layer, name in split if name not in BLOCKS),
        attention=tuple(layer for layer, name in split if name == "attention"),
        feed_forward=tuple(layer for layer, name in split if name == "forward"),
    )


def name_of(part: str) -> str:
    """What a part is called on screen."""
    layer, _, name = part.partition(".")
    if name in BLOCKS:
        return f"the {'attention' if name == 'attention' else 'feed-forward'} block of layer {layer}"
    return f"Head {name} of layer {layer}"
