"""What stands between a layer's attention and its output projection, changed for each row of a batch.

Families on the fused kernel are changed in ``capture``'s attention function; of the others, who call softmax and their
projections by themselves, the functions they call are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from model_zoo import capture
from model_zoo.capture import Call
from model_zoo.errors import NotSupported
from model_zoo.loading import LoadedModel


@dataclass(slots=True)
class Rows:
    """What changes in one layer, a row of the batch each.

    ``keep`` (rows, n, heads) is 1 where a head's output stays and 0 where ``fill`` (rows or 1, n or 1, heads, d') takes
    its place, nothing without. ``hide`` (rows, heads, n, n) is True where a query may not look.
    """

    keep: torch.Tensor | None = None
    fill: torch.Tensor | None = None
    hide: torch.Tensor | None = None


@dataclass(slots=True)
class Editor:
    """Changes the ``layer`` that is at work, and notes what passes. Where it ``counts``, each output leads to the next
    that has attention.

    ``outputs`` are what the output projections were given, (rows, n, heads, d') a layer, and ``maps`` attention
    (rows, heads, n, n), each where it is asked for by a list instead of None.
    """

    rows: dict[int, Rows] = field(default_factory=dict)
    layer: int = 0
    counts: bool = False
    outputs: list[torch.Tensor] | None = None
    maps: list[torch.Tensor] | None = None

    def output(self, output: torch.Tensor) -> torch.Tensor:
        """What the output projection is given instead of ``given`` (rows, n, heads, d')."""
        if self.outputs is not None:
            self.outputs.append(output)
        change = self.rows.get(self.layer)
        self.layer += self.counts
        if change is None or change.keep is None:
            return output
        keep = change.keep[..., None].to(output.dtype)
        n = keep.shape[1]
        if output.shape[1] > n:  # a family that pads by itself
            keep = torch.nn.functional.pad(keep, (0, 0, 0, 0, 0, output.shape[1] - n), value=1.0)
        changed = output * keep
        if change.fill is not None:
            fill = change.fill.to(output.dtype)
            if fill.shape[1] not in (1, output.shape[1]):
                fill = torch.nn.functional.pad(fill, (0, 0, 0, 0, 0, output.shape[1] - fill.shape[1]))
            changed = changed + fill * (1 - keep)
        return changed

    def entering(self, call: Call) -> Call:
        """Queries, keys and values stay as they are."""
        return call

    @property
    def sees_weights(self) -> bool:
        return self.maps is not None

    def weights(self, weights: torch.Tensor) -> torch.Tensor:
        """Notes attention (rows, heads, n, n), where it is asked for."""
        if self.maps is not None:
            self.maps.append(weights)
        return weights

    @property
    def hidden(self) -> torch.Tensor | None:
        """Where queries of the layer at work may not look, (rows, heads, n, n)."""
        change = self.rows.get(self.layer)
        return None if change is None else change.hide


@contextmanager
def editing(loaded: LoadedModel, editor: Editor) -> Iterator[None]:
    """Inside the block, this thread's passes through the model's encoder are changed by an editor.

    Raises NotSupported for a family whose heads cannot be told apart.
    """
    if not editor.rows and editor.outputs is None and editor.maps is None:
        yield
        return
    if editor.counts and loaded.unfused is None and loaded.info.attention_layers:  # calls are fewer than layers
        of_calls = {call: editor.rows.get(layer) for call, layer in enumerate(loaded.info.attention_layers)}
        editor = replace(editor, rows={call: rows for call, rows in of_calls.items() if rows is not None})
    with editing_attention(loaded, editor):
        yield


@contextmanager
def editing_attention(loaded: LoadedModel, editor: capture.Editor) -> Iterator[None]:
    """As ``editing``, by an editor that knows by itself which layer is at work."""
    projections = loaded.unfused
    if loaded.gives_maps:
        mixed = loaded.family.projections is not None  # a setting of this checkpoint keeps them from being told apart
        why = "are mixed after softmax" if mixed else "come as finished attention, so that what each gives is not known"
        raise NotSupported(
            f"The heads of {loaded.info.id} ({loaded.info.family}) {why}: none can be switched off by itself. Choose "
            "another model, such as BERT."
        )
    with capture.editing(editor):
        if projections is None:
            yield
            return
        weights = {id(weight) for weight in projections.output_weights(loaded.encoder)}
        with _Functions(editor, weights, loaded.encoder.config.num_attention_heads):
            yield


class _Functions(TorchFunctionMode):
    """Changes what softmax gives, and what is given to the functions that take one of the output ``weights``."""

    def __init__(self, editor: capture.Editor, weights: set[int], n_heads: int) -> None:
        super().__init__()
        self._editor, self._weights, self._n_heads = editor, weights, n_heads

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.nn.functional.softmax:
            return self._softmax(func, args, kwargs or {})
        # The weight is the second argument of linear and conv1d, the third of an einsum.
        at = next((place for place in (1, 2) if len(args) > place and id(args[place]) in self._weights), None)
        if at is not None:
            arguments = list(args)
            arguments[at - 1] = self._edit_input(func, arguments[at - 1])
            args = tuple(arguments)
        return func(*args, **(kwargs or {}))

    def _softmax(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor:
        hide = self._editor.hidden
        scores = args[0]
        if hide is not None:
            if scores.shape[-2:] != hide.shape[-2:]:
                raise NotSupported(
                    "This family computes attention in windows, where single edges cannot be cut here. Switch heads "
                    "off instead, or choose another model."
                )
            args = (scores.masked_fill(hide, torch.finfo(scores.dtype).min), *args[1:])
        weights: torch.Tensor = func(*args, **kwargs)
        if hide is not None:
            weights = weights.masked_fill(hide, 0.0)  # a query that may look nowhere gets nothing
        return self._editor.weights(weights)

    def _edit_input(self, func: Any, tensor: torch.Tensor) -> torch.Tensor:
        """Brings it into (rows, n, heads, d'), changes it, and brings it back into the family's own shape."""
        change = self._editor.output
        if tensor.ndim == 4:  # XLNet: (n, rows, heads, d')
            return change(tensor.transpose(0, 1)).transpose(0, 1)
        if func in (torch.conv1d, torch.nn.functional.conv1d):  # (rows, width, n)
            return change(tensor.transpose(1, 2).unflatten(-1, (self._n_heads, -1))).flatten(2).transpose(1, 2)
        return change(tensor.unflatten(-1, (self._n_heads, -1))).flatten(2)
