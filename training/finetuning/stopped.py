"""The state of a stopped training: kept in files until it continues or its model is forgotten."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from model_zoo import tuned
from training.finetuning.folder import raise_os_errors
from training.finetuning.results import Evaluated, FirstVectors, Stepped

_NUMBERS = "state.json"
_TENSORS = "state.safetensors"
_NAMES = ("step", "exp_avg", "exp_avg_sq")  # of AdamW's state


@dataclass(kw_only=True)
class Progress:
    """How far a training is. ``decay`` is that of the embeddings' rows which do not occur, ``kept_decay`` as it was
    after the best epoch.
    """

    phase: int = 0
    step_of_phase: int = 0
    step: int = 0
    seconds: float = 0.0
    decay: float = 1.0
    kept_decay: float = 1.0
    first_loss: float | None = None
    steps: list[Stepped] = field(default_factory=list)
    evaluated: list[Evaluated] = field(default_factory=list)
    first_vectors: list[FirstVectors] = field(default_factory=list)


def progress(of: Progress) -> dict[str, Any]:
    """The values of a training or of its state by name."""
    return {entry.name: getattr(of, entry.name) for entry in fields(Progress)}


@dataclass(kw_only=True)
class State(Progress):
    """Where a training stands: the ``weights`` that learn, and those ``kept`` of the best epoch so far. ``moments`` are
    AdamW's, by the number of the weight and the name of the moment.
    """

    weights: dict[str, torch.Tensor] = field(repr=False)
    kept: dict[str, torch.Tensor] = field(repr=False)
    moments: dict[str, torch.Tensor] = field(repr=False)


def moments(optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """What an optimizer remembers, by number of the weight and name."""
    states: dict[int, dict[str, Any]] = optimizer.state_dict()["state"]
    return {f"{number}.{name}": state[name] for number, state in states.items() for name in _NAMES}


def set_moments(optimizer: torch.optim.Optimizer, tensors: dict[str, torch.Tensor]) -> None:
    """Give an optimizer of the same weights what ``moments`` has read."""
    states: dict[int, dict[str, torch.Tensor]] = {}
    for key, tensor in tensors.items():
        number, name = key.split(".")
        states.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict(optimizer.state_dict() | {"state": states})


def save(model: str, state: State | None) -> None:
    """Write a state, in the place of an earlier one. Raises DiskFull."""
    if state is None:
        return
    tensors = {f"weights/{name}": tensor for name, tensor in state.weights.items()}
    tensors |= {f"kept/{name}": tensor for name, tensor in state.kept.items()}
    tensors |= {f"moments/{name}": tensor for name, tensor in state.moments.items()}
    tensors |= {f"first_vectors/{first.epoch}": torch.from_numpy(first.vectors) for first in state.first_vectors}
    written = json.dumps(progress(state) | {"first_vectors": None}, default=asdict)
    n_bytes = len(written) + sum(tensor.nbytes for tensor in tensors.values())
    with tuned.writing_state(model, n_bytes) as place, raise_os_errors():
        save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, place / _TENSORS)
        (place / _NUMBERS).write_text(written, encoding="utf-8")


def load(model: str) -> State | None:
    """The state that was kept; None where there is none."""
    place = tuned.state_folder(model)
    if not (place / _NUMBERS).is_file():
        return None
    numbers = json.loads((place / _NUMBERS).read_text(encoding="utf-8"))
    tensors: dict[str, dict[str, torch.Tensor]] = {kind: {} for kind in ("weights", "kept", "moments", "first_vectors")}
    with safe_open(place / _TENSORS, "pt") as file:
        for key in file.keys():  # noqa: SIM118 (it is no mapping)
            kind, _, name = key.partition("/")
            tensors[kind][name] = file.get_tensor(key)
    first_vectors = sorted((int(epoch), vectors.numpy()) for epoch, vectors in tensors["first_vectors"].items())
    return State(
        **numbers
        | {
            "steps": [Stepped(**numbers_of_step) for numbers_of_step in numbers["steps"]],
            "evaluated": [Evaluated(**numbers_of_step) for numbers_of_step in numbers["evaluated"]],
            "first_vectors": [FirstVectors(epoch, vectors) for epoch, vectors in first_vectors],
            "weights": tensors["weights"],
            "kept": tensors["kept"],
            "moments": tensors["moments"],
        }
    )
