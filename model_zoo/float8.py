"""Saving a model small: matrices as float8 (e4m3) and vectors as float16, in one safetensors file.

``from_pretrained`` needs no help to read it: the saved configuration says float32, and the loader converts
every tensor to that. Matrices hold nearly all parameters of a model, so the file has about one byte each.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import PreTrainedModel

FLOAT8_MAX = float(torch.finfo(torch.float8_e4m3fn).max)  # 448; larger numbers become NaN
FLOAT16_MAX = float(torch.finfo(torch.float16).max)
MAX_RELATIVE_ERROR = 0.03
"""Above this ‖w - float8(w)‖ / ‖w‖ a matrix is kept in float16.

Three bits of mantissa alone cost about 0.027. Numbers below 2^-6 lie on a fixed grid of steps of 2^-9, so a
matrix of very small numbers loses much more.
"""


def relative_error(exact: torch.Tensor, rounded: torch.Tensor) -> float:
    """‖exact - rounded‖ / ‖exact‖ over all entries; 0 for a tensor of zeros."""
    norm = exact.double().norm()
    return float((exact.double() - rounded.double()).norm() / norm) if norm > 0 else 0.0


def compress_tensor(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """The tensor in the smallest of float8, float16, float32 that holds it; integers stay as they are.

    Raises ValueError naming the tensor when it holds NaN or infinity.
    """
    if not tensor.is_floating_point():
        return tensor.contiguous()
    if not bool(torch.isfinite(tensor).all()):
        raise ValueError(f"{name} holds numbers that are not finite; the model has diverged and is not saved.")
    largest = float(tensor.abs().max()) if tensor.numel() else 0.0
    if tensor.dim() >= 2 and largest <= FLOAT8_MAX:
        small = tensor.to(torch.float8_e4m3fn)
        if relative_error(tensor, small) <= MAX_RELATIVE_ERROR:
            return small.contiguous()
    return tensor.to(torch.float16 if largest <= FLOAT16_MAX else torch.float32).contiguous()


def compress(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """A state dict compressed tensor by tensor; of tensors that share memory (tied) the first is kept."""
    seen: set[tuple[int, int]] = set()
    kept: dict[str, torch.Tensor] = {}
    for name, tensor in state.items():
        place = (tensor.data_ptr(), tensor.numel())
        if tensor.numel() and place in seen:
            continue
        seen.add(place)
        kept[name] = compress_tensor(name, tensor.detach().cpu())
    return kept


def save_float8(model: PreTrainedModel, folder: Path) -> None:
    """Write ``config.json`` and ``model.safetensors``; plain ``from_pretrained`` then loads float32.

    Raises ValueError when a weight is not finite, before anything is written.
    """
    tensors = compress(model.state_dict())
    folder.mkdir(parents=True, exist_ok=True)
    config = type(model.config).from_dict(model.config.to_dict())
    config.dtype = torch.float32
    config.architectures = [type(model).__name__]
    config.save_pretrained(folder)
    weights = folder / "model.safetensors"
    save_file(tensors, weights, metadata={"format": "pt"})
    weights.chmod(0o644)  # safetensors writes files that only their owner can read
