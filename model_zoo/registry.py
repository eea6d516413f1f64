"""Every model the app knows by name, as data: what it is, what it can do, what makes it different.

``models.tsv`` holds one model a line, in the order of lists on screen: the fields of ``ModelSpec``, where "yes" and
"no" are a switch and nothing is None. ``layers``, ``heads`` and ``width`` are those of the encoder where there is also
a decoder. ``mlm`` and ``nsp`` tell what the published checkpoint can do, which may be less than what the model was
trained for: a head that was left out, or left untrained, is not claimed. ``parameters`` counts the weights of the class
that the checkpoint fills, tied matrices once. The bundled LSTM has no ``trained_tokens``, though it saw 128 at most:
it has no positions to run out of.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from model_zoo.types import ModelSpec

DEFAULT_MODEL = "embedded/bert"

# Before the id of a model it means a network of the same shape with random weights, always the same ones.
UNTRAINED = "untrained:"

_WORDS = {"": None, "yes": True, "no": False}


def _value(written: str) -> Any:
    return int(written) if written.isdecimal() else _WORDS.get(written, written)


def _read_models() -> list[ModelSpec]:
    """The entries of the file. The id of a model that does not lie in this repository is its Hugging Face id."""
    names, *rows = (line.split("\t") for line in Path(__file__).with_name("models.tsv").read_text("utf-8").splitlines())
    entries = (dict(zip(names, map(_value, row), strict=True)) for row in rows)
    return [
        ModelSpec(**fields, hub_id=None if fields["id"].startswith("embedded/") else fields["id"]) for fields in entries
    ]


MODELS: dict[str, ModelSpec] = {spec.id: spec for spec in _read_models()}


def find(model_id: str) -> ModelSpec | None:
    """The entry with this id; None for a hub id or a folder that the registry does not know."""
    return MODELS.get(model_id)
