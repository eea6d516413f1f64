"""Every listed model in the layout that the hub has for it, in tiny, and a few layouts that no listed model has.

``layouts.json`` says of each model which files there are, how weights are called, what config.json says and what stands
in the tokenizer's files, as they are published: written down from what the real ones have, for nothing here asks the
real hub. An entry that is added there is in all tests of layouts; its keys are the fields of ``layout.Layout``.
"""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import checkpoints
import torch
from checkpoints import FAMILIES
from loopback_hub import Conversion, Hub
from safetensors.torch import load_file, save_file
from transformers import PreTrainedTokenizerBase

from published.layout import Layout, Weights, read_layouts
from published.tokenizing import published_tokenizer, written

__all__ = ["LAYOUTS", "Layout", "Publication", "complete", "converted", "publish", "tokenizer_of", "write"]

# What configs say since 2025, or in these tests alone.
_OF_TODAY = {
    "dtype", "transformers_version", "add_cross_attention", "is_decoder", "tie_word_embeddings", "cls_token_id",
    "sep_token_id", "classifier_dropout", "legacy", "use_cache", "id2label", "label2id", "onnx_export",
    "layer_types", "rope_parameters", "scale_decoder_outputs",
}  # fmt: skip
_NOT_FOR_ANYBODY = b"nobody should open this"


LAYOUTS: dict[str, Layout] = read_layouts(Path(__file__).with_name("layouts.json"))


@dataclass(frozen=True, slots=True)
class Publication:
    """A model as ``folder`` has it from the hub, what it was made from, as save_pretrained saves it today, and what the
    hub offers its owner; None where the hub offers nothing.
    """

    layout: Layout
    folder: Path
    original: Path
    offered: Path | None

    def put_on(self, hub: Hub) -> None:
        """Let the hub have it, and the offer."""
        hub.models[self.layout.hub_id] = self.folder
        if self.offered is not None:
            hub.conversions[self.layout.hub_id] = Conversion(self.offered)


def write(layout: Layout, folder: Path) -> Publication:
    """Write a model into folders in ``folder``."""
    original = complete(layout, folder / "original")
    published = publish(layout, original, folder / "published")
    offered = converted(layout, original, published, folder / "offered") if layout.conversion else None
    return Publication(layout, published, original, offered)


def tokenizer_of(layout: Layout) -> PreTrainedTokenizerBase:
    """The tokenizer that the published files describe."""
    family = FAMILIES[layout.checkpoint]
    return published_tokenizer(family.tokenizer, family.model_type, layout.cased)


def complete(layout: Layout, folder: Path) -> Path:
    """Write what a model is published from: the tiny checkpoint as save_pretrained saves it today."""
    checkpoints.build(layout.checkpoint, folder, tokenizer_of(layout), layout.spare)
    if layout.half:
        rounded = {name: tensor.half().float() for name, tensor in load_file(folder / "model.safetensors").items()}
        save_file(rounded, folder / "model.safetensors", {"format": "pt"})
    return folder


def publish(layout: Layout, original: Path, folder: Path) -> Path:
    """Write a model into ``folder`` as the hub has it; ``original`` is what ``complete`` wrote."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = _weights(layout, original)
    for kind in layout.weights:
        _write(kind, weights, layout.tied, folder)
    config = json.loads((original / "config.json").read_text())
    kept = {key: value for key, value in config.items() if key not in _OF_TODAY.union(layout.lacks)}
    if not kept.get("is_encoder_decoder"):
        kept.pop("decoder_start_token_id", None)
    (folder / "config.json").write_text(json.dumps(kept | dict(layout.config), indent=2))
    kind = FAMILIES[layout.checkpoint].tokenizer
    for name, content in written(tokenizer_of(layout), kind, layout.tokenizer, layout.tokenizer_json).items():
        (folder / name).write_bytes(content)
    if layout.tokenizer_config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(layout.tokenizer_config))
    for name, content in layout.pooling.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    for name in layout.beside:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(_NOT_FOR_ANYBODY)
    return folder


def converted(layout: Layout, original: Path, published: Path, folder: Path) -> Path:
    """Write what the hub offers to the owner of pickles: all that is published, and the weights as safetensors too."""
    shutil.copytree(published, folder)
    _write("safetensors", _weights(layout, original), {}, folder)
    return folder


def _weights(layout: Layout, original: Path) -> dict[str, torch.Tensor]:
    """The tensors under the names that they are published with."""
    weights = {}
    for name, tensor in load_file(original / "model.safetensors").items():
        if name in layout.without:
            continue
        for pattern, become in layout.renamed:
            name = re.sub(pattern, become, name)
        weights[name] = tensor.half() if layout.half else tensor
    for name, tensor in layout.extra_tensors().items():
        weights[name] = tensor.half() if layout.half and tensor.is_floating_point() else tensor
    return weights


def _write(kind: Weights, weights: dict[str, torch.Tensor], tied: Mapping[str, str], folder: Path) -> None:
    if kind == "safetensors":
        save_file(weights, folder / "model.safetensors", {"format": "pt"})
    elif kind == "safetensors in parts":
        parts = _in_parts(weights, "model-{:05}-of-{:05}.safetensors")
        for name, part in parts.items():
            save_file(part, folder / name, {"format": "pt"})
        _write_index(parts, folder / "model.safetensors.index.json")
    elif kind == "pickle in parts":
        parts = _in_parts(
            weights | {name: weights[of] for name, of in tied.items()}, "pytorch_model-{:05}-of-{:05}.bin"
        )
        for name, part in parts.items():
            torch.save(part, folder / name)
        _write_index(parts, folder / "pytorch_model.bin.index.json")
    else:
        # A matrix under two names is one memory, as it is in the network.
        table = weights | {name: weights[of] for name, of in tied.items()}
        torch.save(table, folder / "pytorch_model.bin", _use_new_zipfile_serialization=kind != "old pickle")


def _in_parts(weights: dict[str, torch.Tensor], name: str) -> dict[str, dict[str, torch.Tensor]]:
    names = list(weights)
    parts = [names[: len(names) // 2], names[len(names) // 2 :]]
    return {
        name.format(i, len(parts)): {tensor_name: weights[tensor_name] for tensor_name in part}
        for i, part in enumerate(parts, 1)
    }


def _write_index(parts: dict[str, dict[str, torch.Tensor]], file: Path) -> None:
    n_bytes = sum(tensor.nbytes for part in parts.values() for tensor in part.values())
    weight_map = {name: file_name for file_name, part in parts.items() for name in part}
    file.write_text(json.dumps({"metadata": {"total_size": n_bytes}, "weight_map": weight_map}))
