"""Tiny checkpoints with random weights, one file for each family of models, saved the way a hub checkpoint is.

Real config classes, real head classes, real tokenizer classes trained on a few sentences, safetensors on
disk: ``from_pretrained(build(name, folder))`` takes the path that it takes for a downloaded model. Weights
are drawn with a fixed seed and wide enough that attention is far from uniform; biases are random too, so that
a forgotten one shows. A file that holds ``CHECKPOINTS`` is found by itself, and with it all tests of families.
"""

from __future__ import annotations

import importlib
import pkgutil
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoConfig

from checkpoints.family import Family
from checkpoints.sizes import N_HEADS, N_LAYERS, POSITIONS, WIDTH
from checkpoints.tokenizing import SENTENCES, tokenizer_of
from model_zoo.types import ModelSpec

__all__ = [
    "FAMILIES", "N_HEADS", "N_LAYERS", "POSITIONS", "SENTENCES", "TEXT", "TEXT_PAIR", "WIDTH", "WITH_ATTENTION",
    "WITH_DECODER", "WITH_HEAD", "Checkpoint", "Family", "TokenizerOf", "build", "spec", "varied",
]  # fmt: skip

Checkpoint = Callable[[str], Path]
"""What the fixture ``checkpoint`` is: the folder of a family's tiny checkpoint, by its name."""
TokenizerOf = Callable[[str], Any]
"""What the fixture ``tokenizer_of`` is: the tokenizer of a family's tiny checkpoint, by its name."""

TEXT = "The cat sat on the mat because it was tired, and the dog was waiting."
TEXT_PAIR = "She walked home."


def _import_families() -> dict[str, Family]:
    files = [importlib.import_module(file.name) for file in pkgutil.iter_modules(__path__, f"{__name__}.")]
    return {name: family for file in files for name, family in getattr(file, "CHECKPOINTS", {}).items()}


FAMILIES: dict[str, Family] = _import_families()
WITH_ATTENTION = [name for name, family in FAMILIES.items() if family.attention]
WITH_DECODER = [name for name, family in FAMILIES.items() if family.cross_attention]
WITH_HEAD = [name for name, family in FAMILIES.items() if family.mlm]


def spec(name: str, model: str) -> ModelSpec:
    """The entry that the registry would have for a tiny checkpoint that is found as ``model``."""
    family = FAMILIES[name]
    return ModelSpec(
        id=model,
        hub_id=None,
        name=name,
        family=family.model_type,
        layers=N_LAYERS,
        heads=N_HEADS if family.attention else 0,
        width=WIDTH,
        parameters=0,
        vocabulary=0,
        max_tokens=family.max_tokens,
        mlm=family.mlm,
        nsp=family.nsp,
        cross_attention=family.cross_attention,
        causal=family.causal,
        licence="",
        note="",
    )


def build(name: str, folder: Path, tokenizer: Any = None, spare: int = 0) -> Path:
    """Write the checkpoint of one family (weights, config, tokenizer) into ``folder`` and return it; with another
    tokenizer than the family's, or places in the vocabulary that no token takes.
    """
    family = FAMILIES[name]
    tokenizer = tokenizer or tokenizer_of(family.tokenizer)
    first = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.cls_token_id
    last = tokenizer.eos_token_id if tokenizer.eos_token_id is not None else tokenizer.sep_token_id
    config = AutoConfig.for_model(
        family.model_type,
        vocab_size=len(tokenizer) + spare,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=first,
        eos_token_id=last,
        cls_token_id=tokenizer.cls_token_id,
        sep_token_id=tokenizer.sep_token_id,
        # Encoder-decoders start to decode from this one; the others have no use for it.
        decoder_start_token_id=tokenizer.pad_token_id,
        **family.sizes,
    )
    _draw(name, config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def varied(name: str, original: Path, folder: Path, **settings: Any) -> Path:
    """The tiny checkpoint of a family once more, with other settings in its config and weights drawn for them."""
    shutil.copytree(original, folder)
    known = AutoConfig.from_pretrained(folder).to_dict()
    derived = ("model_type", "d_head")  # follow from the rest
    config = AutoConfig.for_model(
        known["model_type"], **{key: value for key, value in (known | settings).items() if key not in derived}
    )
    _draw(name, config).save_pretrained(folder)
    return folder


def _draw(name: str, config: Any) -> Any:
    """The network of a family with random weights and biases, always the same ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(sum(name.encode()))
        model = getattr(transformers, FAMILIES[name].head)(config).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() == 1:
                    parameter.add_(torch.randn_like(parameter), alpha=0.1)
    return model
