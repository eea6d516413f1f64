"""What is found out of a network by watching a text pass, so that no family has to name it: its layers, its final norm,
and the output projection of every attention.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from transformers.pytorch_utils import Conv1D

from model_zoo import capture
from model_zoo.types import FloatArray


def final_norm(encoder: torch.nn.Module, run: Callable[[], torch.Tensor]) -> torch.nn.Module | None:
    """The norm outside the list of layers whose output is the encoder's, the states that ``run`` gives; None where the
    last layer ends in a norm of its own.
    """
    outputs: list[tuple[torch.nn.Module, torch.Tensor]] = []

    def watch(module: torch.nn.Module, _: Any, output: Any) -> None:
        if isinstance(output, torch.Tensor):  # I-BERT's norms give a scale with their numbers
            outputs.append((module, output))

    norms = [
        module
        for name, module in encoder.named_modules()
        # Layers are numbered: "final_norm" follows them, "encoder.layer.5.output.LayerNorm" is in one.
        if type(module).__name__.endswith("Norm") and not any(part.isdigit() for part in name.split("."))
    ]
    with capture.hooked(norms, watch), torch.inference_mode():
        last = run()
    return next((module for module, output in outputs if torch.equal(output, last)), None)


@dataclass(frozen=True, slots=True)
class Layers:
    """The module of each layer, the same one several times where layers share it; ``order`` is that of the axes
    (rows, n, width) as these modules have them: XLNet's begin with n.
    """

    modules: tuple[torch.nn.Module, ...]
    order: tuple[int, int, int]

    @property
    def back(self) -> tuple[int, int, int]:
        """The order that takes a module's axes to (rows, n, width)."""
        first, second, third = (self.order.index(axis) for axis in range(3))
        return first, second, third


def first_of(output: Any) -> Any:
    """The states in what a module gives, which may stand before other things; None where it gives none."""
    return next(iter(output), None) if isinstance(output, tuple | list) else output


@dataclass(frozen=True, slots=True)
class LayerCall:
    """How a layer was called: all that it was given beside the states."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @classmethod
    def split(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[torch.Tensor, LayerCall]:
        """The states that a layer was given, and the rest."""
        states, *rest = args or (kwargs["hidden_states"],)
        return states, cls(tuple(rest), {name: value for name, value in kwargs.items() if name != "hidden_states"})

    def run(
        self, layer: torch.nn.Module, states: torch.Tensor, changed: Callable[[Any], Any] = lambda value: value
    ) -> torch.Tensor:
        """What the layer makes of other states, called in the same way, with what ``changed`` makes of each value."""
        args = map(changed, self.args)
        return first_of(layer(states, *args, **{name: changed(value) for name, value in self.kwargs.items()}))


def layers(
    encoder: torch.nn.Module, run: Callable[[], Sequence[torch.Tensor]], norm: torch.nn.Module | None
) -> Layers | None:
    """The modules that make each of the hidden states that ``run`` gives out of the one before; None where there is no
    such chain. The last state counts as it was before the final ``norm``.
    """
    calls: list[tuple[torch.nn.Module, torch.Tensor, torch.Tensor]] = []  # module, what it was given, what it gave

    def watch(module: torch.nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        states = args[0] if args else kwargs.get("hidden_states")
        made = first_of(output)
        if isinstance(states, torch.Tensor) and isinstance(made, torch.Tensor):
            calls.append((module, states, made))

    with capture.hooked(encoder.modules(), watch, with_kwargs=True), torch.inference_mode():
        states = list(run())
    if norm is not None:
        states[-1] = next(entered_norm for module, entered_norm, _ in reversed(calls) if module is norm)
    if any(not isinstance(state, torch.Tensor) or state.ndim != 3 for state in states):
        return None
    for order in ((0, 1, 2), (1, 0, 2), (0, 2, 1)):
        turned = [state.permute(order) for state in states]
        chain: list[torch.nn.Module] = []
        for entered_norm, made in pairwise(turned):
            # The last to end of those that do it: a layer ends after its parts do.
            candidates = [
                module for module, entered, left in calls if _begins(entered, entered_norm) and _begins(left, made)
            ]
            chain += candidates[-1:]
        if len(chain) == len(states) - 1:
            in_order = Layers(tuple(chain), order)
            return in_order if _is_chain(in_order, run) else None
    return None


def _is_chain(layers: Layers, run: Callable[[], object]) -> bool:
    """Whether what enters the first layer reaches the last through hidden states alone, so that layers can be run one
    by one: in some networks a router's state or a second stream goes beside them.
    """
    modules = layers.modules
    calls: list[tuple[torch.nn.Module, torch.Tensor, LayerCall]] = []
    left: list[torch.Tensor] = []

    def note(module: torch.nn.Module, args: Any, kwargs: Any) -> None:
        calls.append((module, *LayerCall.split(args, kwargs)))

    def leave(_: Any, __: Any, output: Any) -> None:
        left.append(first_of(output))

    with torch.inference_mode():
        with capture.hooked(dict.fromkeys(modules), note, before=True, with_kwargs=True):
            run()
        known = calls[: len(modules)]
        if [module for module, *_ in known] != [*modules]:
            return False
        # Once more, the first layer being given its input the other way round; it may be called again, as another.
        states = known[0][1].flip(-1)
        turned = iter([((states, *known[0][2].args), known[0][2].kwargs)])
        with (
            capture.hooked(modules[:1], lambda *_: next(turned, None), before=True, with_kwargs=True),
            capture.hooked(modules[-1:], leave),
        ):
            run()
        for module, _, call in known:
            states = call.run(module, states)
    last = left[modules.count(modules[-1]) - 1]
    most = 1e-3 * float(last.abs().max())
    return last.shape == states.shape and torch.allclose(last, states, rtol=1e-3, atol=most)


def _begins(states: torch.Tensor, known: torch.Tensor) -> bool:
    """Whether one tensor is the beginning of another: a family may pad after the text by itself."""
    if states.ndim != 3 or any(size < n for size, n in zip(states.shape, known.shape, strict=True)):
        return False
    return torch.equal(states[tuple(slice(n) for n in known.shape)], known)


def output_modules(
    model: torch.nn.Module, run: Callable[[], object]
) -> tuple[Sequence[capture.Call], Sequence[Any | None]]:
    """Each attention call that ``run`` makes, and the output projection behind it, None where it is not found: the
    first linear module whose input equals attention's output.
    """
    projections: list[Any] = []
    with capture.recording() as calls:

        def watch(module: Any, inputs: tuple[Any, ...]) -> None:
            if len(projections) < len(calls) and inputs and isinstance(inputs[0], torch.Tensor):
                output, inner = calls[-1].output, inputs[0]
                assert output is not None  # the fused kernel tells it
                if inner.numel() == output.numel() and torch.equal(inner.reshape(-1), output.reshape(-1)):
                    projections.extend([None] * (len(calls) - 1 - len(projections)))
                    projections.append(module)

        linear = [m for m in model.modules() if isinstance(m, torch.nn.Linear | Conv1D)]
        with capture.hooked(linear, watch, before=True), torch.inference_mode():
            run()
    projections.extend([None] * (len(calls) - len(projections)))
    return calls, projections


def output_projections(model: torch.nn.Module, run: Callable[[], object]) -> tuple[FloatArray | None, ...]:
    """W_O (heads, d', width) of each attention call that ``run`` makes, None where it is not found."""
    weights: list[FloatArray | None] = []
    for call, projection in zip(*output_modules(model, run), strict=True):
        if projection is None:
            weights.append(None)
            continue
        weight = projection.weight if isinstance(projection, Conv1D) else projection.weight.T  # (heads * d', width)
        weights.append(capture.as_array(weight.reshape(call.query.shape[1], -1, weight.shape[-1])))
    return tuple(weights)
