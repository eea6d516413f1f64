"""What a network does with a few words, found out when it is loaded, so that no list has to name families that differ:
whether its attention is a weight for each pair of tokens, which of its layers make it, whether padding changes a text's
numbers, and whether a token sees those after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from model_zoo import capture
from model_zoo.errors import BadCheckpoint
from model_zoo.types import Encoding
from model_zoo.types.wording import counted

LoadedModel = Any  # that of model_zoo.loading, which imports this file

# Words that any vocabulary can spell.
SAMPLE = "a b c"
_LETTERS = "a b c d e f g h i j k l m n o p q r s t u v"

# How far numbers may differ that are the same but for rounding, as shares of the largest.
_ROUNDING, _HALF_ROUNDING = 1e-4, 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What was found out of a network's encoder.

    ``attention_layers`` are the numbers of the layers whose attention is seen, in the order in which it is computed,
    and ``n_heads`` their most heads; where there is none to show, 0 and ``why_no_attention``, the predicate of a
    sentence. ``pads``: texts of several lengths can share a batch. ``causal``: no token sees a later one.
    """

    n_layers: int
    attention_layers: tuple[int, ...]
    n_heads: int
    why_no_attention: str
    pads: bool
    causal: bool


def try_out(loaded: LoadedModel) -> Trial:
    """Run a few words through the encoder. Raises BadCheckpoint where what comes out are no numbers, and whatever the
    network fails with.
    """
    letters = loaded.encode(_LETTERS)
    part = letters.first(max(1, len(letters) // 2))
    n = len(part)
    with torch.inference_mode():
        output, maps, numbers = _passed(loaded, [part])
        last = output[0]
        if not last.isfinite().all():
            raise BadCheckpoint(
                f"The network of “{loaded.info.id}” makes numbers that are infinite, or none at all, of a few words. "
                "Its training may have failed, or a file be damaged: choose another checkpoint, or copy this one again."
            )
        try:
            batch, maps_of_batch, _ = _passed(loaded, [part, letters])
            pads = n < len(letters) and _alike(batch[0][:1, :n], last[:, :n])
        except RuntimeError:  # torch's, of a network that takes no padding
            batch, maps_of_batch, _ = _passed(loaded, [letters])
            pads = False
    states = getattr(output, "hidden_states", None)
    n_layers = len(states) - 1 if states else getattr(loaded.model.config, "num_hidden_layers", 0)
    if len(maps) == n_layers:
        numbers = range(n_layers)
    why = flaw_of(maps, n, n) or flaw_of(maps_of_batch, len(letters), len(letters))
    if not why and (len({*numbers}) < len(maps) or not {*numbers} <= {*range(n_layers)}):
        why = f"computes attention {counted(len(maps), 'time')} in {counted(n_layers, 'layer')}, in ways of its own"
    return Trial(
        n_layers=n_layers,
        attention_layers=() if why else tuple(numbers),
        n_heads=0 if why else max(layer.shape[1] for layer in maps),
        why_no_attention=why,
        pads=pads,
        causal=n < len(letters) and _alike(batch[0][-1:, :n], last[:, :n]),
    )


def leave_the_fused_kernel_where_wrong(loaded: LoadedModel) -> None:
    """Have a network compute attention by its own code where the fused kernel gives other numbers: some networks look
    at the kernel's name, and hand over what only kernels that they know can use (DeepSeek's choice of keys).
    """
    encoding, model = loaded.encode(_LETTERS), loaded.model
    with torch.inference_mode():
        fused = loaded.forward(encoding)[0]
        model.set_attn_implementation("eager")
        unchanged = loaded.forward(encoding)[0]
    if _alike(fused, unchanged):
        model.set_attn_implementation(capture.IMPLEMENTATION)


def maps_of(output: Any, name: str = "attentions") -> list[torch.Tensor]:
    """Finished attention of an output, (batch, heads, queries, keys) a layer that has some."""
    return [maps for maps in getattr(output, name, None) or () if maps is not None]


def _passed(loaded: LoadedModel, encodings: Sequence[Encoding]) -> tuple[Any, list[torch.Tensor], Sequence[int]]:
    """The encoder's output for some texts, its attention (batch, heads, n, n), and the numbers of the layers that made
    it, as far as modules bear them.
    """
    inputs = loaded.inputs(encodings)
    if not loaded.gives_maps:
        with loaded.recording(max(map(len, encodings))) as calls:
            output = loaded.encoder(**inputs, output_hidden_states=True)
        layers = [call.layer for call in calls]
        return output, [capture.weights_of(call) for call in calls], [layer for layer in layers if layer is not None]
    made: dict[int, int] = {}

    def watch(module: Any, _: Any, output: Any) -> None:
        made.update((id(part), module.layer_idx) for part in output if isinstance(output, tuple))

    numbered = [module for module in loaded.encoder.modules() if isinstance(getattr(module, "layer_idx", None), int)]
    with capture.hooked(numbered, watch):
        output = loaded.encoder(**inputs, output_attentions=True, output_hidden_states=True)
    maps = maps_of(output)
    return output, maps, [made[id(weights)] for weights in maps if id(weights) in made]


def flaw_of(maps: Sequence[Any], n_queries: int, n_keys: int) -> str:
    """What keeps layers' maps from being (batch, heads, queries, keys), as the predicate of a sentence; empty where
    nothing does.
    """
    if not maps:
        return "has no attention to show"
    for of_layer in maps:
        if not isinstance(of_layer, torch.Tensor):
            return "gives attention that is not a weight for any two tokens"
        if of_layer.ndim != 4 or of_layer.shape[2:] != (n_queries, n_keys):
            shape = " × ".join(map(str, of_layer.shape[1:]))
            return f"gives attention as {shape} numbers for {n_queries} tokens, not as a weight for any two of them"
    return ""


def _alike(states: torch.Tensor, others: torch.Tensor) -> bool:
    """Whether vectors are the same but for rounding."""
    share = _ROUNDING if states.dtype == torch.float32 else _HALF_ROUNDING
    return states.shape == others.shape and bool((states - others).abs().max() <= share * others.abs().max().clamp(1))
