"""Activations at named places: recorded of many texts, and edited while a question is answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch

from model_zoo import capture, places, running
from model_zoo.capture import Call, as_array
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.interventions.editing import editing_attention
from model_zoo.loading import LoadedModel
from model_zoo.types import Encoding, FloatArray, Recording
from model_zoo.types.recording import Edit, Edits

At = tuple[int, str]
"""A place: its layer and its name in it."""


def record(loaded: LoadedModel, pairs: Sequence[running.Texts], at: Sequence[str]) -> Iterator[tuple[int, Recording]]:
    """The activations of many texts or pairs at places; yields (index, recording) as batches are done.

    Raises InvalidInput for a name without a place.
    """
    wanted = places.matching(loaded, at)
    encodings = [loaded.encode(*pair) for pair in pairs]
    for indices in running.batches(loaded, encodings):
        batch = [encodings[index] for index in indices]
        recorded = {place: as_array(tensor) for place, tensor in _run(loaded, batch, set(wanted.values())).items()}
        for row, (index, encoding) in enumerate(zip(indices, batch, strict=True)):
            cut = {place: _cut(place[1], array[row], len(encoding)) for place, array in recorded.items()}
            yield index, Recording(encoding, loaded.info, tuple(wanted), tuple(cut[place] for place in wanted.values()))


def _run(loaded: LoadedModel, encodings: Sequence[Encoding], wanted: set[At]) -> dict[At, torch.Tensor]:
    """What stands at places in one padded pass: (rows, n, size), or (rows, heads, n, ...) where attention is made."""
    recorded: dict[At, torch.Tensor] = {}

    def keep(place: At, states: torch.Tensor) -> None:
        recorded[place] = states.clone()  # Falcon adds to what its block gave

    of_modules = {place: partial(keep, place) for place in wanted if not _is_of_attention(place)}
    options = {"output_attentions": True} if loaded.gives_maps and len(of_modules) < len(wanted) else {}
    longest = max(map(len, encodings))
    with torch.inference_mode(), loaded.recording(longest) as calls, places.changing(loaded, of_modules):
        output = loaded.encoder(**loaded.inputs(encodings), **options)
        batch = running.batch_of(loaded, range(len(encodings)), encodings, output, calls, with_maps=bool(options))
        for layer, name in wanted - of_modules.keys():
            recorded[layer, name] = _of_attention(batch, layer, name.removeprefix("attention."))
    return recorded


def _is_of_attention(place: At) -> bool:
    return place[1].removeprefix("attention.") in places.OF_ATTENTION


def _of_attention(batch: running.Batch, layer: int, name: str) -> torch.Tensor:
    if name == "weights":
        return batch.weights(layer)
    call = batch.calls[layer]
    assert call is not None  # or the layer had no such place
    match name:
        case "queries":
            return call.query
        case "keys":
            return call.key
        case "values":
            return call.value
    if call.output is not None:
        return call.output.transpose(1, 2)
    weights = batch.weights(layer)
    values = capture.per_head(call.value, call)[:, :, : weights.shape[-1]]
    return weights.to(values.dtype) @ values


def _cut(name: str, array: FloatArray, n: int) -> FloatArray:
    """A text's own part of what a pass recorded of it, without padding; a copy."""
    if name == "attention.weights":
        return array[:, :n, :n].copy()
    return array[..., :n, :].copy()


@contextmanager
def editing_places(loaded: LoadedModel, edits: Edits) -> Iterator[None]:
    """Inside the block, this thread's activations are edited at the places named.

    Raises InvalidInput for a name without a place, NotSupported for what a family does not let be edited.
    """
    changes: dict[At, list[places.Change]] = {}
    for pattern, edit in edits:
        for place, name in _distinct(loaded, pattern).items():
            changes.setdefault(place, []).append(partial(_edited, name, edit))
    chains = {place: partial(_chained, of_place) for place, of_place in changes.items()}
    of_attention = {place: change for place, change in chains.items() if _is_of_attention(place)}
    others = {place: change for place, change in chains.items() if place not in of_attention}
    with ExitStack() as stack:
        if of_attention:
            stack.enter_context(_editing_attention(loaded, of_attention))
        stack.enter_context(places.changing(loaded, others))
        yield


def _distinct(loaded: LoadedModel, pattern: str) -> dict[At, str]:
    """The places that a pattern names, each once with the last of its names: embeddings are what enters layer 0."""
    distinct: dict[Any, tuple[At, str]] = {}
    for called, (number, name) in places.matching(loaded, [pattern]).items():
        distinct[number, loaded.places[number][name] or name] = (number, name), called
    return dict(distinct.values())


def _chained(changes: Sequence[places.Change], states: torch.Tensor) -> torch.Tensor:
    for change in changes:
        states = change(states)
    return states


def _edited(name: str, edit: Edit, states: torch.Tensor) -> torch.Tensor:
    """What an edit makes of a copy. Raises InvalidInput where it fails, or makes something of another shape."""
    try:
        if not callable(edit):
            numbers = edit if isinstance(edit, torch.Tensor) else np.array(edit)  # a copy: recordings are read-only
            return torch.as_tensor(numbers, dtype=states.dtype, device=states.device).expand_as(states).clone()
        copied = states.clone()
        edited = edit(copied)
        edited = copied if edited is None else edited
    except Exception as error:
        raise InvalidInput(f"The edit at {name} failed, given {tuple(states.shape)}: {error}") from error
    if not isinstance(edited, torch.Tensor) or edited.shape != states.shape:
        made = tuple(edited.shape) if isinstance(edited, torch.Tensor) else type(edited).__name__
        raise InvalidInput(f"The edit at {name} made {made} of {tuple(states.shape)}. Return a tensor of that shape.")
    return edited.to(states)


def _editing_attention(loaded: LoadedModel, changes: Mapping[At, places.Change]) -> AbstractContextManager[Any]:
    if loaded.unfused is not None and {name for _, name in changes} != {"attention.weights"}:
        raise NotSupported(
            f"{loaded.info.id} ({loaded.info.family}) computes attention by its own code: its weights can be edited, "
            "its queries, keys, values and context cannot. Edit attention.weights or attention.out, or choose another "
            "model, such as BERT."
        )
    return _numbered(loaded, _AttentionEditor(changes, loaded.info.n_heads))


@contextmanager
def _numbered(loaded: LoadedModel, editor: _AttentionEditor) -> Iterator[None]:
    with places.numbering(loaded) as editor.now, editing_attention(loaded, editor):
        yield


class _AttentionEditor:
    """Changes what attention is computed from and what it gives, by layer and name."""

    hidden = None
    now: places.Number

    def __init__(self, changes: Mapping[At, places.Change], n_heads: int) -> None:
        self._changes, self._n_heads = changes, n_heads

    def _change(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        change = self._changes.get((self.now.number, f"attention.{name}")) if self.now.at_work else None
        return tensor if change is None else change(tensor)

    @property
    def sees_weights(self) -> bool:
        return self.now.at_work and (self.now.number, "attention.weights") in self._changes

    def entering(self, call: Call) -> Call:
        query, key = self._change("queries", call.query), self._change("keys", call.key)
        return replace(call, query=query, key=key, value=self._change("values", call.value))

    def weights(self, weights: torch.Tensor) -> torch.Tensor:
        if self.sees_weights and (
            weights.ndim != 4 or weights.shape[1] != self._n_heads or len({*weights.shape[2:]}) > 1
        ):
            raise NotSupported(
                "This network computes attention in windows: there is no map to edit. Edit attention.out, or choose "
                "another model, such as BERT."
            )
        return self._change("weights", weights)

    def output(self, output: torch.Tensor) -> torch.Tensor:
        return self._change("context", output.transpose(1, 2)).transpose(1, 2)
