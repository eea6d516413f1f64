"""Fields of the page "Cause" that several of its views or its examples share, and what the names in them stand for;
other fields stand in their views.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.effects import By
from model_zoo.types import Change, Value
from ui import SWITCH, Field, names, one_of, view_field

_PAGE = "cause"

SHOWN_VIEW = view_field(_PAGE, "heads")

# The answer that is followed and the one against it; "" are the model's own first and second.
ANSWER: Field[str] = Field("answer", "", of=_PAGE)
FOIL: Field[str] = Field("against", "", of=_PAGE)

# By what a run is measured, and what stands in the place of what is off.
_MEASURES: dict[By, str] = {
    "bits": "log₂ P",
    "probability": "P",
    "difference": "Logit difference",
    "divergence": "KL divergence",
}
_VALUES: dict[Value, str] = {"zero": "Zero ablation", "mean": "Mean ablation"}
BY: Field[By] = Field("by", "bits", one_of("the measure", _MEASURES), of=_PAGE)
VALUE: Field[Value] = Field("value", "zero", one_of("the ablation", _VALUES), of=_PAGE)

# What is switched off: "3.7" is a head, "3.attention" and "3.forward" are whole blocks, all from 1.
OFF: Field[tuple[str, ...]] = Field(
    "off",
    (),
    names(
        r"[1-9][0-9]{0,3}\.(?:[1-9][0-9]{0,3}|attention|forward)",
        "is not a part of a model. Write parts as layer.head, as in 3.7, or as 3.attention or 3.forward.",
    ),
    of=_PAGE,
)

# Set by a link that brings what is off and no mask: the word is masked whose prediction that changes most.
FIND: Field[bool] = Field("find", False, SWITCH, of=_PAGE)

# Edges that are cut, "5.2" where the word at place 5 may not look at that at place 2, both from 1.
EDGES: Field[tuple[str, ...]] = Field(
    "edges",
    (),
    names(r"[1-9][0-9]{0,3}\.[1-9][0-9]{0,3}", "is not an edge between two words. Write edges as from.to, as in 5.2."),
    of=_PAGE,
)

# The sentence whose run is put in.
OTHER: Field[str] = Field("other", "", of=_PAGE)

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
