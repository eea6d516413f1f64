"""What is said of one model on the hub: which files it has, and what stands in them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch

Weights = Literal["safetensors", "safetensors in parts", "pickle", "old pickle", "pickle in parts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """One model as the hub has it, made from the tiny ``checkpoint`` of that name.

    ``weights`` are the files with weights that are there, ``tokenizer`` those of the tokenizer, ``beside`` all others,
    with nothing in them that anybody should open; ``pooling`` are those, as JSON, by which sentence-transformers makes
    one vector of a sentence. ``tokenizer_config`` is what tokenizer_config.json says; None where
    there is none. ``tokenizer_json`` replaces parts of tokenizer.json. ``lacks`` are keys that a config of today has
    and this one has not, ``config`` those that it has besides or otherwise.

    ``without`` are weights that were left out; ``renamed`` are patterns and what they become in the names of weights,
    one after the other; ``extra`` are weights that no network has a place for, each with its kind ("positions", "lower
    triangle", "noise") and sizes. ``tied`` are names under which pickles, which can do that, hold a matrix once more.
    ``half`` tells that numbers have half precision, ``spare`` how many places in the vocabulary no token takes, and
    ``conversion`` that the hub has offered the same weights as safetensors, in a pull request. ``cased`` is for BERT:
    its vocabulary has capitals. ``about`` says what is special.
    """

    hub_id: str
    checkpoint: str
    weights: Sequence[Weights]
    tokenizer: Sequence[str]
    tokenizer_config: Mapping[str, Any] | None = None
    tokenizer_json: Mapping[str, Any] = field(default_factory=dict)
    lacks: Sequence[str] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    without: Sequence[str] = ()
    renamed: Sequence[Sequence[str]] = ()
    extra: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    tied: Mapping[str, str] = field(default_factory=dict)
    beside: Sequence[str] = (".gitattributes", "README.md")
    pooling: Mapping[str, Any] = field(default_factory=dict)
    half: bool = False
    spare: int = 0
    cased: bool = False
    conversion: bool = False
    about: str = ""

    def extra_tensors(self) -> dict[str, torch.Tensor]:
        """The weights that no network has a place for."""
        return {name: _tensor(*made) for name, made in self.extra.items()}


def _tensor(kind: str, *shape: int) -> torch.Tensor:
    if kind == "positions":  # the numbers of positions, which networks once saved with their weights
        return torch.arange(*shape)[None]
    if kind == "lower triangle":  # which tokens see which, as each of GPT-2's layers once saved it
        return torch.ones(1, 1, *shape).tril()
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))  # of a part left over from training


def read_layouts(file: Path) -> dict[str, Layout]:
    """The layouts of a JSON file: a list of objects whose keys are the fields of ``Layout``, by ``hub_id``."""
    return {fields["hub_id"]: Layout(**fields) for fields in json.loads(file.read_text("utf-8"))}
