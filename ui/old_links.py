"""Addresses as pages wrote them before their fields had the names they have now, so that old links still open.

Nothing else knows these names. A page's entry maps a parameter to the one that took its place, and to how its text is
written today.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ui.field import is_number

Rewrite = Callable[[str], str]


def _same(text: str) -> str:
    return text


def _from_one(text: str) -> str:
    """Places counted from 0, with commas between them, as places counted from 1; anything else as it is."""
    return ",".join(str(int(part) + 1) if is_number(part) else part for part in text.split(","))


def _renamed(**names: str) -> Rewrite:
    return lambda text: names.get(text, text)


OLD: Mapping[str, Mapping[str, tuple[str, Rewrite]]] = {
    "attention": {
        "attention": ("model_part", _same),
        "part": ("direction", _same),
    },
    "masked_words": {
        "masked": ("masks", _from_one),
        "mask_words": ("words", _same),
        "masked_view": ("view", _same),
        "which": ("mask", _from_one),
        "mask_head": ("head", _renamed(**{"0": "mean"})),
        "replaced": ("replace", _from_one),
        "shown": ("shown_masks", _from_one),
        "worked": ("worked_token", _from_one),
    },
    "next_sentence": {
        "next_view": ("view", _same),
    },
    "layers": {
        "layers_view": ("view", _renamed(wrong="misclassified", likeness="similarity")),
        "probe_seed": ("seed", _same),
        "probe_seeds": ("seeds", _same),
        "probed_task": ("task", _same),
        "probed_layer": ("layer", _same),
        "own_format": ("format", _same),
        "own_target": ("target", _same),
        "own_data": ("data", _same),
    },
    "compare": {
        "compare_view": ("view", _same),
        "masked_words": ("masks", _from_one),
        "which": ("mask", _from_one),
        "compare_top": ("guesses", _same),
        "own_sentences": ("sentences", _same),
        "cost_measure": ("measure", _same),
        "cost_length": ("length", _same),
    },
}


def translated(page: str, address: Mapping[str, str]) -> dict[str, str]:
    """The parameters of an address of a page by today's names. Where both are there, today's is meant."""
    old = OLD.get(page, {})
    found = {name: text for name, text in address.items() if name not in old}
    for name, (new, rewrite) in old.items():
        if name in address:
            found.setdefault(new, rewrite(address[name]))
    return found
