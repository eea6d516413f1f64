"""Running a loaded model: from texts to typed results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from model_zoo import capture
from model_zoo.capture import Call, as_array, weights_of
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.fair_queue import give_way
from model_zoo.loading import LoadedModel
from model_zoo.trial import flaw_of, maps_of
from model_zoo.types import (
    AttentionRun,
    Encoding,
    FloatArray,
    HiddenStates,
    LayerAttention,
    MapsLayer,
    QueryKeyLayer,
    Stack,
    TunedFor,
    read_only,
)

Texts = tuple[str, str | None]
"""A text, or a pair of texts."""

# Tokens in one padded batch, and pairs of tokens where every head's attention is wanted: large enough to keep two cores
# busy, small enough for their caches (2,048 tokens take 1.1 times as long), and to be stopped after a second or two.
_BATCH_TOKENS = 1024
_BATCH_PAIRS = 2**16

_HIDDEN_STATES = {"output_hidden_states": True}


def attend(
    loaded: LoadedModel,
    text: str | Encoding,
    text_pair: str | None = None,
    max_tokens: int | None = None,
    stack: Stack = "encoder",
    states_of: Sequence[int] | bool = False,
) -> AttentionRun:
    """One forward pass of the encoder, and of the decoder for another part, keeping what attention is made from, and
    the encoder's hidden states where they are asked for: all of them, or of the layers ``states_of``. The tokens of an
    encoding are read as they are.
    """
    source = None
    if isinstance(text, Encoding):
        encoding = text
    elif stack == "encoder":
        encoding = loaded.encode(text, text_pair, max_tokens)
    else:
        refuse_without_stack(loaded, stack)
        encoding, source = loaded.encode_decoder(text, text_pair, max_tokens), loaded.encode(text, None, max_tokens)
    if stack == "encoder":
        refuse_without_attention(loaded)
    with_states = states_of is not False
    options = _HIDDEN_STATES if with_states else {}
    layers: tuple[LayerAttention, ...]
    with torch.inference_mode():
        read = None if source is None else loaded.forward(source).last_hidden_state
        norm = loaded.final_norm if with_states else None  # found by a pass of its own, which is not to be recorded
        with loaded.recording(len(encoding)) as calls, _inputs_of(norm) as normed:
            if loaded.gives_maps:
                output = loaded.forward(encoding, read, output_attentions=True, **options)
                shape = len(encoding), len(encoding if stack != "cross" or source is None else source)
                layers = tuple(MapsLayer(as_array(maps[0])) for maps in _maps(loaded, output, stack, shape))
            else:
                output = loaded.forward(encoding, read, **options)
                masks: dict[int, np.ndarray | None] = {}
                layers = tuple(_layer(call, masks) for call in loaded.family.select_stack(stack, calls))
    if stack == "encoder":
        layers = loaded.order_by_layer(layers, _without_heads(len(encoding)))
    return AttentionRun(
        encoding=encoding,
        model=loaded.info,
        layers=layers,
        output_projections=loaded.output_projections(stack),
        stack=stack,
        source=source,
        hidden_states=_states(loaded, [encoding], output.hidden_states, normed, states_of)[0] if with_states else None,
    )


@dataclass(frozen=True, slots=True)
class Batch:
    """One padded pass of some texts of similar length: ``places`` are theirs in the list they come from. ``calls`` are
    what a layer's attention is made from, ``maps`` its finished attention in families that give nothing else; None
    for a layer without attention.
    """

    loaded: LoadedModel
    places: Sequence[int]
    encodings: Sequence[Encoding]
    calls: Sequence[Call | None]
    maps: Sequence[torch.Tensor | None]
    states: Sequence[HiddenStates | None]

    @property
    def n_layers(self) -> int:
        return len(self.maps or self.calls)

    def layers(self) -> list[list[LayerAttention]]:
        """What is kept of each layer, a text each, without padding."""
        lengths = [len(encoding) for encoding in self.encodings]
        masks: list[dict[int, np.ndarray | None]] = [{} for _ in lengths]
        none: list[LayerAttention] = [*map(_without_heads, lengths)]
        if self.maps:
            return [none if maps is None else _cut_maps(as_array(maps), lengths) for maps in self.maps]
        return [none if call is None else _cut_call(call, lengths, masks) for call in self.calls]

    @torch.inference_mode()
    def weights(self, layer: int) -> torch.Tensor:
        """Attention of a layer's heads, float (batch, heads, longest, longest). Nothing goes to padding; the rows of
        padding mean nothing.
        """
        n = max(map(len, self.encodings))
        of_layer, hidden = (self.maps or self.calls)[layer], None
        if of_layer is None:
            return torch.empty(len(self.encodings), 0, n, n, device=self.loaded.model.device)
        if isinstance(of_layer, torch.Tensor):
            return of_layer[..., :n, :n].float()
        call: Call = of_layer
        if call.mask is None or self.loaded.unfused is not None:  # elsewhere the mask hides padding itself
            lengths = torch.tensor([len(encoding) for encoding in self.encodings], device=call.key.device)
            hidden = (torch.arange(call.key.shape[2], device=call.key.device) >= lengths[:, None])[:, None, None]
        return weights_of(call, hidden)[..., :n, :n]

    @torch.inference_mode()
    def value_norms(self, layer: int) -> torch.Tensor | None:
        """‖f(x)‖ of every token in a layer's heads, (batch, heads, longest), as in ``AttentionRun.value_norms``; None
        where values or the output projection are not available.
        """
        projections = self.loaded.output_projections("encoder")
        projection = projections[layer] if layer < len(projections) else None
        call = self.calls[layer] if self.calls else None
        if call is None or projection is None:
            return None
        n = max(map(len, self.encodings))
        values = call.value[:, :, :n].float().transpose(0, 1)  # (key heads, batch, n, d')
        weight = torch.as_tensor(projection, device=values.device)  # (heads, d', width)
        group = len(weight) // len(values)
        values = (values.repeat_interleave(group, dim=0) if group > 1 else values).flatten(1, 2)
        # ‖v W‖² = v (W Wᵀ) vᵀ, where d' is a tenth of the width.
        squares = torch.linalg.vecdot(values @ (weight @ weight.transpose(-1, -2)), values)
        return squares.clamp(min=0).sqrt().unflatten(1, (-1, n)).transpose(0, 1)


def attend_batches(
    loaded: LoadedModel, encodings: Sequence[Encoding], states_of: Sequence[int] | bool = False
) -> Iterator[Batch]:
    """Padded passes of the encoder over many texts, shortest first. What a batch holds is gone with it."""
    refuse_without_attention(loaded)
    with_states = states_of is not False
    options = _HIDDEN_STATES if with_states else {}
    if loaded.gives_maps:
        options = {**options, "output_attentions": True}
    for places, of_batch, output, calls, normed in _passes(loaded, encodings, options, recorded=True):
        states: Sequence[HiddenStates] = ()
        if with_states:
            states = _states(loaded, of_batch, output.hidden_states, normed, states_of)
        batch = batch_of(loaded, places, of_batch, output, calls, states, with_maps=loaded.gives_maps)
        del output, calls, normed, states
        yield batch
        del batch


def batch_of(
    loaded: LoadedModel,
    places: Sequence[int],
    encodings: Sequence[Encoding],
    output: Any,
    calls: Sequence[Call],
    states: Sequence[HiddenStates] = (),
    *,
    with_maps: bool,
) -> Batch:
    """A padded pass of the encoder, of what it gave and its attention calls; ``with_maps`` if it was asked for those.
    Raises NotSupported where they are not a weight for any two tokens.
    """
    n = max(map(len, encodings))
    maps = _maps(loaded, output, "encoder", (n, n)) if with_maps else ()
    order_by_layer: Any = loaded.order_by_layer
    of_texts: Sequence[HiddenStates | None] = states or [None] * len(places)
    return Batch(loaded, places, encodings, order_by_layer(calls, None), order_by_layer(maps, None), of_texts)


def _passes(
    loaded: LoadedModel, encodings: Sequence[Encoding], options: Mapping[str, bool], *, recorded: bool
) -> Iterator[tuple[list[int], list[Encoding], Any, Sequence[Call], Sequence[torch.Tensor]]]:
    """Padded passes of the encoder over many texts, shortest first: their places, their tokens, what the encoder gives
    with these ``options``, its attention calls if they are ``recorded``, and what the final norm is given where hidden
    states are asked for.
    """
    norm = loaded.final_norm if options.get("output_hidden_states") else None
    for places in batches(loaded, encodings, pairs=_BATCH_PAIRS if recorded else None):
        of_batch = [encodings[index] for index in places]
        recording = loaded.recording(max(map(len, of_batch))) if recorded else nullcontext([])
        with torch.inference_mode(), recording as calls, _inputs_of(norm) as normed:
            output = loaded.encoder(**loaded.inputs(of_batch), **options)
        yield places, of_batch, output, calls, normed
        del output, calls, normed  # before the next pass, not after it: two take twice the memory


def attend_many(
    loaded: LoadedModel, texts: Sequence[Texts], max_tokens: int | None = None, states_of: Sequence[int] | bool = False
) -> Iterator[tuple[int, AttentionRun]]:
    """Runs of the encoder for many texts or pairs, batched by length; yields (index, run) as batches are done.

    Each run holds copies of its own rows, without padding: the numbers of ``attend``, but for rounding.
    """
    encodings = [loaded.encode(text, text_pair, max_tokens) for text, text_pair in texts]
    for batch in attend_batches(loaded, encodings, states_of):
        projections = loaded.output_projections("encoder")
        of_layers = batch.layers()
        for row, (place, encoding) in enumerate(zip(batch.places, batch.encodings, strict=True)):
            yield (
                place,
                AttentionRun(
                    encoding=encoding,
                    model=loaded.info,
                    layers=tuple(of_layer[row] for of_layer in of_layers),
                    output_projections=projections,
                    hidden_states=batch.states[row],
                ),
            )


def refuse_without_stack(loaded: LoadedModel, stack: Stack) -> None:
    """Raises NotSupported for a decoder's part of a model that has none."""
    if stack != "encoder" and not loaded.info.cross_attention:
        raise NotSupported(
            f"{loaded.info.id} ({loaded.info.family}) is a single stack of layers, without a decoder that attends "
            "to an encoder. Look at its only part, or choose an encoder-decoder such as BART or T5."
        )


def refuse_without_attention(loaded: LoadedModel) -> None:
    """Raises NotSupported for a network whose attention cannot be shown."""
    if loaded.info.attention_refusal:
        raise NotSupported(loaded.info.attention_refusal)


def _without_heads(n: int) -> MapsLayer:
    """A layer without attention."""
    return MapsLayer(np.empty((0, n, n), dtype=np.float32))


def _cut_maps(maps: FloatArray, lengths: Sequence[int]) -> list[LayerAttention]:
    """One layer's maps (batch, heads, longest, longest), a text each."""
    return [MapsLayer(maps[row, :, :n, :n].copy()) for row, n in enumerate(lengths)]


def _cut_call(
    call: Call, lengths: Sequence[int], masks: Sequence[dict[int, np.ndarray | None]]
) -> list[LayerAttention]:
    """One layer of a batch, a text each; ``masks`` holds for each text those seen before, as in ``_layer``."""
    if call.weights is not None:
        return _cut_maps(as_array(call.weights), lengths)
    query, key, value = as_array(call.query), as_array(call.key), as_array(call.value)
    layers: list[LayerAttention] = []
    for row, n in enumerate(lengths):
        mask = _mask(call, masks[row], row, n)
        causal = call.causal
        if mask is not None and mask.dtype == np.bool_ and np.array_equal(mask[0], np.tri(n, dtype=bool)):
            mask, causal = None, True  # beside padding this is all that hides a key, and takes no memory
        layers.append(
            QueryKeyLayer(
                query=query[row, :, :n].copy(),
                key=key[row, :, :n].copy(),
                value=value[row, :, :n].copy(),
                scaling=call.scaling,
                mask=mask,
                causal=causal,
            )
        )
    return layers


def _maps(loaded: LoadedModel, output: Any, stack: Stack, shape: tuple[int, int]) -> tuple[torch.Tensor, ...]:
    """Finished attention of one part, (batch, heads, *shape) a layer. Raises NotSupported where it is of another."""
    maps = maps_of(output, "cross_attentions" if stack == "cross" else "attentions")
    flaw = flaw_of(maps, *shape)
    if flaw:
        raise NotSupported(f"{loaded.info.id} ({loaded.info.family}) {flaw}. Choose another text or another model.")
    return tuple(maps)


def _layer(call: Call, masks: dict[int, np.ndarray | None]) -> LayerAttention:
    """The first text of a batch; its maps alone where others were put in their place. ``masks`` holds the masks seen
    before, since layers hand on one and the same.
    """
    if call.weights is not None:
        return MapsLayer(as_array(call.weights[0]))
    return QueryKeyLayer(
        query=as_array(call.query[0]),
        key=as_array(call.key[0]),
        value=as_array(_without_shared_memory(call.value, call.query)[0]),
        scaling=call.scaling,
        mask=_mask(call, masks),
        causal=call.causal,
    )


def _without_shared_memory(value: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    """Values in memory of their own where one matrix made them together with queries and keys that were then
    replaced (by rotary embedding): a view would keep all three alive.
    """
    storage = value.untyped_storage()
    shared = storage.data_ptr() == query.untyped_storage().data_ptr()
    return value.clone() if storage.nbytes() > value.nbytes and not shared else value


def _mask(call: Call, masks: dict[int, np.ndarray | None], row: int = 0, n: int | None = None) -> np.ndarray | None:
    """Mask and position bias of a text as one array (1 or heads, n, m), or None where every key may be seen and none
    is favoured: T5's cross-attention has a bias of zeros. ``n`` cuts padding off, and with it what only hides padding.
    """
    position_bias = call.position_bias if call.position_bias is not None and call.position_bias.any() else None
    if call.mask is None and position_bias is None:
        return None
    known = id(call.mask if position_bias is None else position_bias)
    if known not in masks:
        mask = None if call.mask is None else _of_text(call.mask, row, n)
        if position_bias is not None:
            bias = _of_text(position_bias, row, n).float()
            if mask is None:
                mask = bias
            elif mask.dtype == torch.bool:
                mask = bias.masked_fill(~mask, -torch.inf)
            else:
                mask = bias + mask
        assert mask is not None
        array = mask.numpy() if mask.dtype == torch.bool else as_array(mask)
        if n is not None:
            hides_nothing = array.all() if mask.dtype == torch.bool else not array.any()
            masks[known] = None if hides_nothing else read_only(array.copy())
        else:
            masks[known] = read_only(array)  # now, so that all layers hold one and the same
    return masks[known]


def _of_text(mask: torch.Tensor, row: int, n: int | None) -> torch.Tensor:
    """One text's part of a mask (1 or batch, 1 or heads, longest, longest), on the CPU."""
    return mask[min(row, len(mask) - 1), :, :n, :n].cpu()


def hidden_states(
    loaded: LoadedModel,
    texts: Sequence[Texts],
    layers: Sequence[int] | None = None,
    max_tokens: int | None = None,
) -> Iterator[tuple[int, HiddenStates]]:
    """Hidden states of many texts or pairs, batched by length; yields (index of the text, states) as batches are done.

    Shorter texts come first. Padding is masked and cut off again. ``layers`` are those wanted, 0 after the embeddings;
    all without it. Raises InvalidInput for one that does not exist.
    """
    encodings = [loaded.encode(text, text_pair, max_tokens) for text, text_pair in texts]
    for places, of_batch, output, _, normed in _passes(loaded, encodings, _HIDDEN_STATES, recorded=False):
        states = _states(loaded, of_batch, output.hidden_states, normed, True if layers is None else layers)
        yield from zip(places, states, strict=True)


def _states(
    loaded: LoadedModel,
    encodings: Sequence[Encoding],
    states: Sequence[torch.Tensor],
    normed: Sequence[torch.Tensor],
    states_of: Sequence[int] | bool,
) -> list[HiddenStates]:
    """The vectors of each text of a batch: ``states`` (batch, longest, width) a layer, what is ``normed`` at the end
    before it is; of the layers ``states_of``, or all.
    """
    alike = len({getattr(layer, "shape", None) for layer in states}) == 1 and states[0].ndim == 3
    if not alike or states[0].shape[1] < max(map(len, encodings)):
        raise NotSupported(
            f"The layers of {loaded.info.id} ({loaded.info.family}) do not give one vector of one width for each "
            "token, so they cannot be put side by side. Choose another model."
        )
    chosen = tuple(range(len(states)) if isinstance(states_of, bool) else states_of)
    for layer in chosen:
        if not 0 <= layer < len(states):
            raise InvalidInput(
                f"{loaded.info.id} has hidden states 0 (after the embeddings) to {len(states) - 1} "
                f"(after the last layer); {layer} does not exist. Choose one of these."
            )
    stacked = as_array(torch.stack([states[layer] for layer in chosen], dim=1))  # (batch, layers, longest, width)
    kept = normed and normed[-1].shape[-1] == stacked.shape[-1]  # Reformer's norm reads two streams side by side
    last = as_array(normed[-1]) if kept else None  # (batch, longest, width)
    limit = loaded.info.pooling.max_tokens if loaded.info.pooling is not None else None
    return [
        HiddenStates(
            encoding,
            np.ascontiguousarray(stacked[row, :, : len(encoding)]),
            chosen,
            last_unnormed=None if last is None else last[row, : len(encoding)].copy(),
            published_limit=limit if limit is not None and len(encoding) > limit else None,
        )
        for row, encoding in enumerate(encodings)
    ]


@contextmanager
def _inputs_of(module: torch.nn.Module | None) -> Iterator[list[torch.Tensor]]:
    """What this thread gives to a module inside the block; nothing where there is no module."""
    noted: list[torch.Tensor] = []
    modules = [] if module is None else [module]
    with capture.hooked(modules, lambda _, inputs: noted.append(inputs[0]), before=True):
        yield noted


def batches(
    loaded: LoadedModel,
    encodings: Sequence[Encoding],
    task: TunedFor | None = None,
    most: int | None = None,
    pairs: int | None = None,
) -> Iterator[list[int]]:
    """Their places, shortest first, in batches whose padded size stays within ``most`` tokens, else within
    ``_BATCH_TOKENS``, and within so many ``pairs`` of tokens; one by one where a text's numbers, or what a head for a
    ``task`` reads of them, depend on what it shares a batch with.
    """
    most = _BATCH_TOKENS if most is None else most
    alone = len(encodings) > 1 and not loaded.pads_for(task)
    batch: list[int] = []
    for index in sorted(range(len(encodings)), key=lambda place: len(encodings[place])):
        n = len(encodings[index])
        size = (len(batch) + 1) * n
        if batch and (alone or size > most or (pairs is not None and size * n > pairs)):
            yield batch
            give_way()
            batch = []
        batch.append(index)
    if batch:
        yield batch
