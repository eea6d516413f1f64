"""Running a loaded model: from texts to typed results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from model_zoo import capture
from model_zoo.capture import Call
from model_zoo.errors import NotSupported
from model_zoo.families import Maps
from model_zoo.loading import LoadedModel
from model_zoo.types import (
    AttentionRun,
    Encoding,
    FloatArray,
    HiddenStates,
    LayerAttention,
    MapsLayer,
    Part,
    QueryKeyLayer,
)

# Tokens in one padded batch: large enough to keep two cores busy, small enough for a laptop's memory.
_BATCH_TOKENS = 2048


def attend(
    loaded: LoadedModel, text: str, text_pair: str | None, max_tokens: int | None = None, part: Part = "encoder"
) -> AttentionRun:
    """One forward pass of the encoder, and of the decoder for another part, keeping what attention is made from."""
    if part == "encoder":
        encoding, source = loaded.encode(text, text_pair, max_tokens), None
    elif loaded.info.cross_attention:
        encoding, source = loaded.written(text, text_pair, max_tokens), loaded.encode(text, None, max_tokens)
    else:
        raise NotSupported(
            f"{loaded.info.id} ({loaded.info.family}) is one stack of layers without a decoder that looks at an "
            "encoder. Look at its only part, or choose an encoder-decoder such as BART or T5."
        )
    layers: tuple[LayerAttention, ...]
    with torch.inference_mode():
        states = None if source is None else loaded.forward(source).last_hidden_state
        with capture.recording() as calls:
            if loaded.gives_maps:
                layers = tuple(MapsLayer(_numpy(m[0])) for m in _maps(loaded, encoding, states, part))
            else:
                loaded.forward(encoding, states)
                # A layer of the decoder looks at its own text first, then at the encoder's.
                wanted = {"encoder": calls, "decoder": calls[0::2], "cross": calls[1::2]}[part]
                masks: dict[int, np.ndarray] = {}
                layers = tuple(_layer(call, masks) for call in wanted)
    if not layers:
        raise NotSupported(f"{loaded.info.id} ({loaded.info.family}) has no attention to show. Choose another model.")
    return AttentionRun(
        encoding=encoding,
        model=loaded.info,
        layers=layers,
        output_factors=loaded.output_factors(part),
        part=part,
        source=source,
    )


def _maps(loaded: LoadedModel, encoding: Encoding, states: torch.Tensor | None, part: Part) -> Maps:
    """Finished attention of one part, (1, heads, queries, keys) a layer."""
    output = loaded.forward(encoding, states, output_attentions=True)
    if part == "encoder":
        return loaded.family.maps(output.attentions or ())
    maps: Maps = (output.attentions if part == "decoder" else output.cross_attentions) or ()
    return maps


def _numpy(tensor: torch.Tensor) -> FloatArray:
    """float32 on the CPU; shares memory with the tensor where it is that already."""
    return tensor.detach().float().cpu().numpy()


def _layer(call: Call, masks: dict[int, np.ndarray]) -> QueryKeyLayer:
    """The first text of a batch. ``masks`` holds those seen before, since layers hand on one and the same."""
    return QueryKeyLayer(
        query=_numpy(call.query[0]),
        key=_numpy(call.key[0]),
        value=_numpy(_own(call.value, call.query)[0]),
        scaling=call.scaling,
        mask=_mask(call, masks),
        causal=call.causal,
    )


def _own(value: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    """Values in memory of their own where one matrix made them together with queries and keys that were then
    replaced (by rotary embedding): a view would keep all three alive.
    """
    storage = value.untyped_storage()
    shared = storage.data_ptr() == query.untyped_storage().data_ptr()
    return value.clone() if storage.nbytes() > value.nbytes and not shared else value


def _mask(call: Call, masks: dict[int, np.ndarray]) -> np.ndarray | None:
    """Mask and position bias as one array (1 or heads, n, m), or None where every key may be seen and none is
    favoured: T5's cross-attention has a bias of zeros.
    """
    position_bias = call.position_bias if call.position_bias is not None and call.position_bias.any() else None
    if call.mask is None and position_bias is None:
        return None
    known = id(call.mask if position_bias is None else position_bias)
    if known not in masks:
        mask = None if call.mask is None else call.mask[0].cpu()
        if position_bias is not None:
            bias = position_bias[0].float().cpu()
            if mask is None:
                mask = bias
            elif mask.dtype == torch.bool:
                mask = bias.masked_fill(~mask, -torch.inf)
            else:
                mask = bias + mask
        assert mask is not None
        masks[known] = mask.numpy() if mask.dtype == torch.bool else _numpy(mask)
    return masks[known]


def hidden_states(loaded: LoadedModel, texts: Sequence[str]) -> Iterator[tuple[int, HiddenStates]]:
    """Hidden states of many texts, batched by length; yields (index of the text, states) as batches are done.

    Shorter texts come first. Padding is masked and cut off again.
    """
    encodings = [loaded.encode(text) for text in texts]
    order = sorted(range(len(texts)), key=lambda i: len(encodings[i]))
    for batch in _batches(order, encodings):
        inputs = loaded.inputs([encodings[i] for i in batch])
        with torch.inference_mode():
            states = loaded.encoder(**inputs, output_hidden_states=True).hidden_states
        stacked = torch.stack(states, dim=1).float().cpu().numpy()  # (batch, layers + 1, n, width)
        for row, index in enumerate(batch):
            encoding = encodings[index]
            yield index, HiddenStates(encoding, np.ascontiguousarray(stacked[row, :, : len(encoding)]))


def _batches(order: Sequence[int], encodings: Sequence[Encoding]) -> Iterator[list[int]]:
    """Runs of similar length whose padded size stays within ``_BATCH_TOKENS``; ``order`` is shortest first."""
    batch: list[int] = []
    for index in order:
        if batch and (len(batch) + 1) * len(encodings[index]) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
