"""DeBERTa v2 and v3, with and without the head."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from checkpoints.block import Block, of_linear, split_heads
from checkpoints.deberta import DEBERTA_SIZES, watch_deberta
from checkpoints.family import Family
from checkpoints.sizes import WIDTH

SIZES = DEBERTA_SIZES | {"position_buckets": 8, "share_att_key": True, "norm_rel_ebd": "layer_norm"}


def _block(model: Any, number: int, n: int, inputs: Any, made: Any) -> Block:
    attention, heads = model.encoder.layer[number].attention, model.config.num_attention_heads
    inner = attention.self
    states = inputs[inner][0][0]
    added = torch.zeros(heads, n, n)
    if inner.relative_attention:
        added = made[inner, "disentangled_attention_bias"].reshape(heads, n, n)
    q, k, v = (split_heads(getattr(inner, f"{name}_proj")(states), heads) for name in ("query", "key", "value"))
    factor = (WIDTH // heads * (1 + len(inner.pos_att_type))) ** -0.5
    dense = attention.output.dense
    return Block(q, k, v, added, factor, *of_linear(dense, heads), made[dense][0][:n])


_DEBERTA = Family(
    model_type="deberta-v2",
    head="DebertaV2ForMaskedLM",
    tokenizer="DebertaV2Tokenizer",
    sizes=SIZES,
    mlm=True,
    interface=False,
    biased=True,
    runs_beyond=True,
    watch=watch_deberta,
    block=_block,
)
CHECKPOINTS = {"deberta-v2": _DEBERTA, "deberta-v2_headless": replace(_DEBERTA, head="DebertaV2Model", mlm=False)}
