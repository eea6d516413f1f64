"""A run that is frozen, which makes it linear: norms divide by what they divided by, activations multiply by what they
multiplied by, and attention goes where it went.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch.overrides import TorchFunctionMode

from model_zoo import capture

_ACTIVATIONS: Final = (
    torch.nn.functional.gelu,
    torch.nn.functional.relu,
    torch.nn.functional.silu,
    torch.tanh,
    torch.Tensor.tanh,
)
_SOFTMAX: Final = (torch.nn.functional.softmax, torch.softmax, torch.Tensor.softmax)


class _Frozen(TorchFunctionMode):
    """Where it is ``noting``, adds to ``held`` by what norms divide and activations multiply; else it does the same
    again to other vectors. Gradients do not pass through what is held. Biases count as often as ``biases``, a number
    whose gradient is then their part.
    """

    def __init__(self, held: list[torch.Tensor], *, noting: bool, biases: torch.Tensor | None) -> None:
        super().__init__()
        self.held, self.noting, self.biases, self._at = held, noting, biases, 0

    def factor(self, computed: torch.Tensor) -> torch.Tensor:
        """What is noted now, or was noted at this place."""
        if self.noting:
            self.held.append(computed.detach())
        self._at += 1
        return self.held[self._at - 1]

    def activated(self, inputs: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
        ratio = torch.where(inputs == 0, torch.ones_like(inputs), made / inputs)
        return inputs * self.factor(ratio)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in _ACTIVATIONS:
            return self.activated(args[0], func(*args, **kwargs))
        if func is torch.nn.functional.layer_norm:
            arguments = dict(zip(("input", "normalized_shape", "weight", "bias", "eps"), args, strict=False)) | kwargs
            return self._normed(
                arguments["input"], arguments.get("weight"), arguments.get("bias"), arguments.get("eps", 1e-5)
            )
        if func in _SOFTMAX:
            return func(*args, **kwargs).detach()
        if func is torch.nn.functional.scaled_dot_product_attention:
            query, key, *rest = args
            return func(query.detach(), key.detach(), *rest, **kwargs)
        if func is torch.nn.functional.linear and len(args) == 3:
            return func(args[0], args[1], self._counted(args[2]), **kwargs)
        if func is torch.addmm:  # GPT-2's
            return func(self._counted(args[0]), *args[1:], **kwargs)
        return func(*args, **kwargs)

    def _counted(self, bias: torch.Tensor | None) -> torch.Tensor | None:
        return bias if bias is None or self.biases is None else bias * self.biases

    def _normed(
        self, inputs: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None, eps: float
    ) -> torch.Tensor:
        centred = inputs - inputs.mean(dim=-1, keepdim=True)
        normed = centred * self.factor((inputs.var(dim=-1, keepdim=True, unbiased=False) + eps).rsqrt())
        normed = normed if weight is None else normed * weight
        return normed if bias is None else normed + self._counted(bias)


@contextmanager
def frozen(
    network: torch.nn.Module, held: list[torch.Tensor], *, noting: bool, biases: torch.Tensor | None = None
) -> Iterator[None]:
    """Inside the block this thread's runs of a network, or of its head, note what is ``held``, or use it again in the
    same order. Its own activations are modules without weights.
    """
    mode = _Frozen(held, noting=noting, biases=biases)
    activations = [
        module
        for module in network.modules()
        if "activation" in type(module).__module__ and not list(module.children())
    ]
    with capture.hooked(activations, lambda _, inputs, made: mode.activated(inputs[0], made)), mode:
        yield
