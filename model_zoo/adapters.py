"""Adapters as PEFT saves them (LoRA): small matrices that change a network, which has to be had besides.

The network is read as ever, and the adapter added to its weights. peft is optional to install.
"""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

from safetensors import safe_open

from model_zoo import pickles
from model_zoo.errors import BadCheckpoint
from model_zoo.types import Pickles, TunedFor

CONFIG = "adapter_config.json"
TASKS: dict[Any, TunedFor] = {"SEQ_CLS": "classification", "TOKEN_CLS": "tagging", "QUESTION_ANS": "answering"}


def settings(folder: Path, model: str) -> dict[str, Any]:
    """What an adapter says of itself. Raises BadCheckpoint where it is none that can be merged here."""
    try:
        config = dict(json.loads((folder / CONFIG).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise BadCheckpoint(f"The {CONFIG} of “{model}” cannot be read. Copy or download it again.") from error
    base = config.get("base_model_name_or_path")
    if config.get("peft_type") != "LORA" or not isinstance(base, str):
        raise refusal(model, base, "It is no LoRA, the one kind that this app merges: merge it where it was trained")
    if importlib.util.find_spec("peft") is None:
        raise refusal(model, base, "To open both together, install peft (“pip install peft”)")
    return config


def refusal(model: str, base: Any, advice: str) -> BadCheckpoint:
    """What is said of an adapter that cannot be opened."""
    of = f" of “{base[:100]}”" if isinstance(base, str) and base else ""
    return BadCheckpoint(
        f"“{model}” is an adapter (PEFT){of}: it holds what was changed in a network, and not the network. {advice}, "
        "or choose a folder that merge_and_unload() and save_pretrained(folder) have made of both."
    )


def weights(folder: Path, model: str, allowed: Pickles = "any") -> Path:
    """The safetensors of an adapter, its pickle converted."""
    file = folder / "adapter_model.safetensors"
    if file.is_file():
        return file
    pickles.refuse_forbidden(model, allowed, listed=False)
    return pickles.converted([folder / "adapter_model.bin"], model)[0]


def n_labels(file: Path) -> int | None:
    """Rows of the head that was trained with an adapter, whose last matrix has the fewest; None where none was."""
    with safe_open(file, "np") as tensors:
        names = [name for name in tensors.keys() if "lora_" not in name and name.endswith(".weight")]  # noqa: SIM118
        return min((tensors.get_slice(name).get_shape()[0] for name in names), default=None)


def merge(network: Any, folder: Path, model: str) -> set[str]:
    """Add an adapter to a network, in place; the names of the weights that it replaced. Raises BadCheckpoint where it
    belongs to another network.
    """
    from peft import LoraModel, PeftConfig, set_peft_model_state_dict
    from safetensors.torch import load_file  # it imports torch, which finding a model does without

    base, modules, known = f"{network.base_model_prefix}.", dict(network.named_modules()), network.state_dict()
    matrices: dict[str, Any] = {}
    replaced: dict[str, Any] = {}
    for stored, tensor in load_file(weights(folder, model)).items():
        plain = stored.removeprefix("base_model.model.").replace(".base_layer.", ".")
        parts = re.fullmatch(r"(.*?)(\.lora_.*|\.[^.]*)", plain)
        name, rest = parts.groups() if parts else (plain, "")
        # It may have been trained without the heads that are here, or with one that is not.
        name = next(
            (candidate for candidate in (name, base + name, name.removeprefix(base)) if candidate in modules), name
        )
        (matrices if rest.startswith(".lora_") else replaced)[name + rest] = tensor
    config = PeftConfig.from_pretrained(str(folder))
    config.target_modules = {name.partition(".lora_")[0] for name in matrices}
    config.modules_to_save = config.exclude_modules = config.layers_to_transform = None
    config.megatron_config = None  # would import a module that the file names
    try:
        wrapped = LoraModel(network, config, "default")
        report: Any = set_peft_model_state_dict(network, matrices)
        if report.unexpected_keys or any("lora_" in name for name in report.missing_keys):
            raise ValueError("names that are not the network's")
        wrapped.merge_and_unload()
        for name, tensor in replaced.items():
            known[name].copy_(tensor.expand(known[name].shape))
    except (KeyError, RuntimeError, ValueError) as error:
        raise refusal(model, config.base_model_name_or_path, "The two do not fit each other: choose another") from error
    return set(replaced)
