"""Tiny checkpoints with random weights, one for each family of models, saved the way a hub checkpoint is.

Real config classes, real head classes, real tokenizer classes trained on a few sentences, safetensors on
disk: ``from_pretrained(build(name, folder))`` takes the path that it takes for a downloaded model. Weights
are drawn with a fixed seed and wide enough that attention is far from uniform; biases are random too, so that
a forgotten one shows. All tests of families find what families.toml holds.
"""

import math
import shutil
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import torch
import transformers
from transformers import AutoConfig

from checkpoints.tokenizing import SENTENCES, tokenizer_of
from model_zoo.types import ModelSpec

__all__ = ["SENTENCES"]

Checkpoint = Callable[[str], Path]
"""What the fixture ``checkpoint`` is: the folder of a family's tiny checkpoint, by its name."""
TokenizerOf = Callable[[str], Any]
"""What the fixture ``tokenizer_of`` is: the tokenizer of a family's tiny checkpoint, by its name."""

TEXT = "The cat sat on the mat because it was tired, and the dog was waiting."
TEXT_PAIR = "She walked home."
N_LAYERS, N_HEADS, WIDTH, POSITIONS = 3, 4, 32, 64  # of the networks of families.toml


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How one tiny checkpoint is made, and what it can do.

    ``head`` is the class of transformers that is saved, ``sizes`` what its config is given. ``mlm`` and ``nsp`` tell
    the heads whose weights are in the file and were trained in the published checkpoints; ``cross_attention`` that
    there is a decoder; ``causal`` that no token sees a later one; ``attention`` and ``has_mask`` are False where there
    is none. ``interface`` is True where attention runs through transformers' AttentionInterface. ``max_tokens`` is None
    where nothing but the memory bounds the input; ``runs_beyond`` tells that the network itself would read more (rotary
    and relative positions, padded windows). ``type_ids`` tells that it is given which text a token is of,
    ``final_norm`` the norm after the encoder's last layer; ``biased`` tells that something is added to q·k for where
    two tokens stand. Outside the interface ``reference`` names what its attention is made from by its own modules, in
    ``checkpoints.references``.
    """

    model_type: str
    head: str
    tokenizer: str
    sizes: Mapping[str, Any] = field(default_factory=dict)
    mlm: bool = False
    nsp: Literal["NSP", "SOP"] | None = None
    cross_attention: bool = False
    causal: bool = False
    interface: bool = True
    max_tokens: int | None = POSITIONS
    runs_beyond: bool = False
    attention: bool = True
    has_mask: bool = True
    type_ids: bool = False
    final_norm: str | None = None
    biased: bool = False
    reference: str | None = None


def _read_families() -> dict[str, Family]:
    """What families.toml holds, by name."""
    entries = tomllib.loads((Path(__file__).parent / "families.toml").read_text(encoding="utf-8"))
    shapes = entries.pop("shapes")
    families: dict[str, Family] = {}
    for name, entry in entries.items():
        like, shape = entry.pop("like", None), entry.pop("shape", None)
        if shape is not None:
            entry["sizes"] = shapes[shape] | entry.get("sizes", {})
        if entry.get("max_tokens") == math.inf:
            entry["max_tokens"] = None
        families[name] = replace(families[like], **entry) if like else Family(**entry)
    return families


FAMILIES: dict[str, Family] = _read_families()
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
