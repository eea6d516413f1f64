"""Addresses as pages wrote them before their fields had the names they have now, so that old links still open.

Nothing else knows these names.
"""

from __future__ import annotations

from collections.abc import Mapping

from ui.field import is_number

OLD: Mapping[str, Mapping[str, str]] = {
    "attention": {"attention": "model_part", "part": "direction", "values": "show"},
    "masked_words": {
        "masked": "masks",
        "mask_words": "words",
        "masked_view": "view",
        "which": "mask",
        "mask_head": "head",
        "replaced": "replace",
        "shown": "shown_masks",
        "worked": "worked_token",
    },
    "next_sentence": {"next_view": "view"},
    "layers": {
        "layers_view": "view",
        "probe_seed": "seed",
        "probe_seeds": "seeds",
        "probed_task": "task",
        "probed_layer": "layer",
        "own_format": "format",
        "own_target": "target",
        "own_data": "data",
    },
    "compare": {
        "compare_view": "view",
        "masked_words": "masks",
        "which": "mask",
        "compare_top": "guesses",
        "own_sentences": "sentences",
        "cost_measure": "measure",
        "cost_length": "length",
    },
    "sentence_vectors": {"shown": "view"},
}
"""For a page the parameters that have another name today."""

_FROM_ZERO = ("masked", "which", "replaced", "shown", "worked", "masked_words")
_VALUES = {
    ("mask_head", "0"): "mean",
    ("layers_view", "wrong"): "misclassified",
    ("layers_view", "likeness"): "similarity",
    ("values", "0"): "weights",
    ("values", "1"): "value-weighted",
}
_VIEWS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "train": {preset: {"view": "runs", "preset": preset} for preset in ("race", "scratch", "distillation")}
}
"""For a page the views that are a setting of another view today."""

_MOVED = {("train", "similarity"): "sentence_vectors"}
"""Views that are a page of their own today, by their page and name."""


def translated(page: str, address: Mapping[str, str]) -> dict[str, str]:
    """The parameters of an address of a page by today's names. Where both are there, today's is meant."""
    old = OLD.get(page, {})
    parameters = {name: text for name, text in address.items() if name not in old}
    for name, new in old.items():
        if name in address:
            text = _VALUES.get((name, address[name]), address[name])
            parameters.setdefault(new, _from_one(text) if name in _FROM_ZERO else text)
    return {**parameters, **_VIEWS.get(page, {}).get(parameters.get("view", ""), {})}


def moved(page: str, address: Mapping[str, str]) -> tuple[str, dict[str, str]] | None:
    """The page, and its parameters, that an address opens today; None if it is still of the page that it names."""
    new = _MOVED.get((page, address.get("view", "")))
    return None if new is None else (new, {name: text for name, text in address.items() if name != "view"})


def _from_one(text: str) -> str:
    """Places that counted from 0, with commas between them, as places from 1; anything else as it is."""
    return ",".join(str(int(part) + 1) if is_number(part) else part for part in text.split(","))
