"""The places of a network at which activations can be recorded and edited, by one set of names for all families.

They are found by watching a few words pass, as its layers are: which module makes what a block adds is seen in what it
is given and gives, so that no family has to be named. A sum of the residual stream is a place where it was checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Final, NamedTuple

import torch
from transformers.pytorch_utils import Conv1D

from model_zoo import capture
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.module_discovery import first_of

LoadedModel = Any  # that of model_zoo.loading, which imports this file

OF_ATTENTION: Final = ("queries", "keys", "values", "weights", "context")
"""What is seen where attention is computed, not at a module."""

_IN_ORDER: Final = (
    "in",
    "attention.norm",
    *(f"attention.{name}" for name in OF_ATTENTION),
    "attention.out",
    "attention.residual",
    "mlp.norm",
    "mlp.inner",
    "mlp.activation",
    "mlp.out",
    "mlp.residual",
    "out",
)
_LINEAR: Final = (torch.nn.Linear, torch.nn.Conv1d, Conv1D)

_by_itself: ContextVar[int | None] = ContextVar("the layer that is run by itself", default=None)


@dataclass(frozen=True, slots=True)
class Place:
    """What a ``module`` gives, or with ``entering`` what it is given, as (rows, n, size) after ``permute(back)``."""

    module: torch.nn.Module
    entering: bool
    order: tuple[int, int, int]
    back: tuple[int, int, int]


class _Event(NamedTuple):
    """A module that was called in a layer, with what it was given and gave, (rows, n, size)."""

    module: torch.nn.Module
    entered: torch.Tensor
    left: torch.Tensor


def find(loaded: LoadedModel) -> tuple[Mapping[str, Place | None], ...]:
    """The places of every layer by their names in it, in the order of the network; None for those ``OF_ATTENTION``.
    Those alone for a network whose layers do not hand on hidden states one to the next.
    """
    layers, by_layer = loaded.layers, []
    if layers is None:
        return tuple(_places_of_attention(loaded, number) for number in range(loaded.trial.n_layers))
    events: list[list[_Event]] = [[] for _ in layers.modules]
    ends = dict.fromkeys(layers.modules)
    watched = [part for layer in ends for part in layer.modules() if part in ends or not any(part.children())]

    def watch(module: Any, args: Any, kwargs: Any, output: Any) -> None:
        entered, left = (*args, kwargs.get("hidden_states"))[0], first_of(output)
        if all(isinstance(tensor, torch.Tensor) and tensor.ndim == 3 for tensor in (entered, left)):
            entered, left = (tensor.clone().permute(layers.back) for tensor in (entered, left))
            events[now.number].append(_Event(module, entered, left))

    with numbering(loaded) as now, torch.inference_mode(), capture.hooked(watched, watch, with_kwargs=True):
        loaded.sample_pass()
    projections = loaded.output_modules()
    for number, layer in enumerate(layers.modules):
        sides = {"in": (layer, True), "out": (layer, False)}
        if events[number] and events[number][-1].module is layer:
            sides |= _sides(events[number][:-1], events[number][-1], projections[number] if projections else None)
        often = Counter(event.module for event in events[number])
        places: dict[str, Place | None] = {
            name: Place(module, entering, layers.order, layers.back)
            for name, (module, entering) in sides.items()
            if often[module] <= 1  # XLNet puts weights and vectors through one dropout
        }
        places |= _places_of_attention(loaded, number)
        by_layer.append({name: places[name] for name in _IN_ORDER if name in places})
    norm = loaded.final_norm
    by_layer[-1]["final"] = by_layer[-1]["out"] if norm is None else Place(norm, False, (0, 1, 2), (0, 1, 2))
    return tuple(by_layer)


def _places_of_attention(loaded: LoadedModel, number: int) -> dict[str, None]:
    if number not in loaded.trial.attention_layers:
        return {}
    return dict.fromkeys(f"attention.{name}" for name in (("weights",) if loaded.gives_maps else OF_ATTENTION))


def _sides(
    events: Sequence[_Event], layer: _Event, projection: torch.nn.Module | None
) -> dict[str, tuple[torch.nn.Module, bool]]:
    """The modules at the places of a layer, and whether a place is what the module is given; ``layer`` is the call of
    the layer, ``projection`` the module that attention's output goes through.
    """
    width = layer.entered.shape[-1]
    sides: dict[str, tuple[torch.nn.Module, bool]] = {}
    attended = next((at for at, event in enumerate(events) if event.module is projection), -1)
    linear = [at for at, event in enumerate(events) if isinstance(event.module, _LINEAR) and at > attended]
    outer = next((at for at in reversed(linear) if events[at].left.shape[-1] == width), -1)
    size = events[outer].entered.shape[-1]
    inners = [
        at
        for at in linear
        if at < outer and events[at].entered.shape[-1] == width and events[at].left.shape[-1] in (size, 2 * size)
    ]
    if attended >= 0:
        sides["attention.out"] = (events[attended].module, False)
    if not inners:
        return sides
    sides |= {"mlp.activation": (events[outer].module, True), "mlp.out": (events[outer].module, False)}
    activation = next((event.module for event in events[inners[0] : outer] if _is_activation(event, size)), None)
    if activation is not None:
        sides["mlp.inner"] = (activation, True)
    elif len(inners) == 1 and events[inners[0]].left.shape[-1] == size:
        sides["mlp.inner"] = (events[inners[0]].module, False)
    norms = [
        at
        for at, event in enumerate(events)
        if type(event.module).__name__.endswith("Norm") and event.left.shape == layer.left.shape
    ]
    before = [at for at in norms if at < inners[0] and torch.equal(events[at].entered, layer.entered)]
    between = [at for at in norms if at < inners[0] and at not in before]
    after = [at for at in norms if at > outer]
    post = bool(after) and not before
    of_attention, of_mlp = (between, after) if post else (before[:1], between or before[1:])
    for name, of_block in (("attention.norm", of_attention), ("mlp.norm", of_mlp)):
        if of_block:
            sides[name] = (events[of_block[-1]].module, False)
    if not between:
        return sides
    # What is added may be a projection's output, or what a norm makes of it (Gemma); without a projection it is what
    # makes the sum.
    last = events[between[-1]]
    added = next(
        (e for e in events[max(attended, 0) : between[-1]] if _is_sum(last.entered, layer.entered, e.left)), None
    )
    if added is not None:
        sides |= {"attention.out": (added.module, False), "attention.residual": (last.module, True)}
    total, stream = (events[after[-1]].entered, last.left) if post else (layer.left, last.entered)
    added = next((e for e in events[outer:] if _is_sum(total, stream, e.left)), None)
    if added is not None:
        sides |= {"mlp.out": (added.module, False)}
        sides["mlp.residual"] = (events[after[-1]].module, True) if post else (layer.module, False)
    return sides


def _is_activation(event: _Event, size: int) -> bool:
    """Whether a module is given and gives as many numbers as there are neurons, and is no matrix and no dropout."""
    others = (*_LINEAR, torch.nn.Identity, torch.nn.Dropout)
    same = event.entered.shape == event.left.shape and event.left.shape[-1] == size
    named = type(event.module).__name__
    return same and not isinstance(event.module, others) and not named.endswith(("Norm", "Dropout"))


def _is_sum(total: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether one tensor is the sum of two others but for rounding."""
    close = 1e-4 if total.dtype == torch.float32 else 0.02
    return total.shape == first.shape == second.shape and torch.allclose(
        total.float(), (first + second).float(), rtol=close, atol=close * float(total.abs().max())
    )


def running_layer(number: int) -> AbstractContextManager[int]:
    """Inside the block a layer is run by itself, whose module may be several layers."""
    return capture.setting(_by_itself, number)


class Number:
    """The number of the layer that is at work, or was the last to be, and whether it still is."""

    number = -1  # before the first
    at_work = False


@contextmanager
def numbering(loaded: LoadedModel) -> Iterator[Number]:
    """Inside the block, the number of the layer at work on this thread: one module may be several layers (ALBERT).
    Raises NotSupported where layers are not called as modules.
    """
    if loaded.layers is None:
        raise NotSupported(
            f"The layers of {loaded.info.id} ({loaded.info.family}) hand on more than hidden states, or are not called "
            "one by one, so nothing is edited in them here. Choose another model, such as BERT."
        )
    numbers: dict[torch.nn.Module, list[int]] = {}
    for number, module in enumerate(loaded.layers.modules):
        numbers.setdefault(module, []).append(number)
    now = Number()

    def enter(module: torch.nn.Module, *_: Any) -> None:
        of_module, by_itself = numbers[module], _by_itself.get()
        following = (number for number in of_module if number > now.number)
        now.number = next(following, of_module[0]) if by_itself is None else by_itself
        now.at_work = True

    def leave(*_: Any) -> None:
        now.at_work = False

    with capture.hooked(numbers, enter, before=True), capture.hooked(numbers, leave):
        yield now


def names(loaded: LoadedModel) -> dict[str, tuple[int, str]]:
    """The names of all places of a network in their order, each with its layer and its name in it."""
    every: dict[str, tuple[int, str]] = {}
    for number, of_layer in enumerate(loaded.places):
        every |= {"embeddings": (0, "in")} if number == 0 and "in" in of_layer else {}
        every |= {name if name == "final" else f"layer.{number}.{name}": (number, name) for name in of_layer}
    return every


def matching(loaded: LoadedModel, wanted: Sequence[str]) -> dict[str, tuple[int, str]]:
    """The places with these names, in which "*" stands for anything. Raises InvalidInput for a name without a place."""
    every = names(loaded)
    chosen: set[str] = set()
    for pattern in wanted:
        fitting = {name for name in every if fnmatchcase(name, pattern)}
        if not fitting:
            kinds = dict.fromkeys(
                name if name in ("embeddings", "final") else f"layer.L.{place}" for name, (_, place) in every.items()
            )
            last = len(loaded.places) - 1
            raise InvalidInput(
                f"{loaded.info.id} has no place {pattern!r}, but {', '.join(kinds)} (L from 0 to {last}). "
                "Choose another name, or another model."
                if kinds
                else f"No activation of {loaded.info.id} can be named here. Choose another model, such as BERT."
            )
        chosen |= fitting
    return {name: place for name, place in every.items() if name in chosen}


Change = Callable[[torch.Tensor], torch.Tensor | None]


@contextmanager
def changing(loaded: LoadedModel, changes: Mapping[tuple[int, str], Change]) -> Iterator[None]:
    """Inside the block this thread's activations at places outside of attention, by layer and name, (rows, n, size),
    are what ``changes`` give of them; None leaves them as they are.
    """
    by_place: dict[Place, list[tuple[int, Change]]] = {}  # one may have two names
    for (number, name), change in changes.items():
        place = loaded.places[number][name]
        assert place is not None  # those of attention are no module's
        by_place.setdefault(place, []).append((number, change))
    if not by_place:
        yield
        return
    with numbering(loaded) as now, ExitStack() as hooks:
        for place, of_layers in by_place.items():
            hook = _entering if place.entering else _leaving
            guarded = partial(hook, partial(_changed, place, of_layers, now))
            hooks.enter_context(capture.hooked([place.module], guarded, before=place.entering, with_kwargs=True))
        yield


def _changed(
    place: Place, of_layers: Sequence[tuple[int, Change]], now: Number, states: torch.Tensor
) -> torch.Tensor | None:
    """What a module is given or gives of ``states``, in its own order of axes; None where nothing changes."""
    if states.ndim != len(place.back):
        return None
    before = states = states.permute(place.back)
    for number, change in of_layers:
        changed = change(states) if number == now.number else None
        states = states if changed is None else changed
    return None if states is before else states.permute(place.order)


def _entering(change: Change, _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    changed = change(args[0] if args else kwargs["hidden_states"])
    if changed is None:
        return None
    return ((changed, *args[1:]), kwargs) if args else (args, kwargs | {"hidden_states": changed})


def _leaving(change: Change, _: Any, __: Any, ___: Any, output: Any) -> Any:
    changed = change(first_of(output))
    if changed is None or not isinstance(output, tuple | list):
        return changed
    return type(output)((changed, *output[1:]))
