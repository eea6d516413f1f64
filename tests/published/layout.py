"""What is said of one model on the hub: which files it has, and what stands in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from checkpoints import N_LAYERS, POSITIONS, WIDTH

Weights = Literal["safetensors", "safetensors in parts", "pickle", "old pickle", "pickle in parts"]
Made = Callable[[], torch.Tensor]

# What one config of BERT's kin said in 2019 and the next one did not, and nobody reads any more.
OF_2019: dict[str, Any] = {
    "finetuning_task": None, "num_labels": 2, "output_attentions": False, "output_hidden_states": False,
    "pruned_heads": {}, "torchscript": False, "use_bfloat16": False, "output_past": True,
}  # fmt: skip
# BERT as TensorFlow called it.
GAMMA_BETA = ((r"LayerNorm\.weight$", "LayerNorm.gamma"), (r"LayerNorm\.bias$", "LayerNorm.beta"))
UNCASED: dict[str, Any] = {"do_lower_case": True, "model_max_length": 512}


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """One model as the hub has it, made from the tiny ``checkpoint`` of that name.

    ``weights`` are the files with weights that are there, ``tokenizer`` those of the tokenizer, ``beside`` all others,
    with nothing in them that anybody should open; ``pooling`` are those, as JSON, by which sentence-transformers makes
    one vector of a sentence. ``tokenizer_config`` is what tokenizer_config.json says; None where
    there is none. ``tokenizer_json`` replaces parts of tokenizer.json. ``lacks`` are keys that a config of today has
    and this one has not, ``config`` those that it has besides or otherwise.

    ``without`` are weights that were left out; ``renamed`` are patterns and what they become in the names of weights,
    one after the other; ``extra`` are weights that no network has a place for. ``tied`` are names under which pickles,
    which can do that, hold a matrix once more. ``half`` tells that numbers have half precision, ``spare`` how many
    places in the vocabulary no token takes, and ``conversion`` that the hub has offered the same weights as
    safetensors, in a pull request. ``cased`` is for BERT: its vocabulary has capitals.
    """

    hub_id: str
    checkpoint: str
    weights: tuple[Weights, ...]
    tokenizer: tuple[str, ...]
    tokenizer_config: Mapping[str, Any] | None = None
    tokenizer_json: Mapping[str, Any] = field(default_factory=dict)
    lacks: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    extra: Mapping[str, Made] = field(default_factory=dict)
    tied: Mapping[str, str] = field(default_factory=dict)
    beside: tuple[str, ...] = (".gitattributes", "README.md")
    pooling: Mapping[str, Any] = field(default_factory=dict)
    half: bool = False
    spare: int = 0
    cased: bool = False
    conversion: bool = False


def positions(n: int = POSITIONS) -> Made:
    """The numbers of positions, which networks once saved with their weights."""
    return lambda: torch.arange(n).reshape(1, n)


def noise(*shape: int) -> Made:
    """Weights of a part that was left over from training."""

    def make() -> torch.Tensor:
        return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))

    return make


def linear(name: str, n_in: int = WIDTH, n_out: int = WIDTH) -> dict[str, Made]:
    """A linear layer left over from training."""
    return {f"{name}.weight": noise(n_out, n_in), f"{name}.bias": noise(n_out)}


def norm(name: str, n: int = WIDTH) -> dict[str, Made]:
    """A layer norm left over from training."""
    return {f"{name}.weight": noise(n), f"{name}.bias": noise(n)}


def seen(name: str) -> dict[str, Made]:
    """What each of GPT-2's layers said of which tokens see which, a buffer that was once saved."""
    return {name.format(layer): lambda: torch.ones(1, 1, POSITIONS, POSITIONS).tril() for layer in range(N_LAYERS)}
