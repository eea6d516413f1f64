"""DeBERTa, with and without its head."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from checkpoints.block import Block, Watch, of_linear, watch_bert
from checkpoints.family import BERT_SIZES, Family
from checkpoints.sizes import WIDTH

DEBERTA_SIZES = BERT_SIZES | {
    "relative_attention": True,
    "position_biased_input": False,
    "pos_att_type": ["c2p", "p2c"],
    "type_vocab_size": 0,
    "max_relative_positions": -1,
}


def watch_deberta(model: Any, watch: Watch) -> None:
    """Of both versions: what each attention is given, and what it makes of positions."""
    watch_bert(model, watch)
    for layer in model.encoder.layer:
        for method in ("disentangled_att_bias", "disentangled_attention_bias"):
            if hasattr(layer.attention.self, method):
                watch(layer.attention.self, method)


def _block(model: Any, number: int, n: int, inputs: Any, made: Any) -> Block:
    attention, heads = model.encoder.layer[number].attention, model.config.num_attention_heads
    inner, d = attention.self, WIDTH // heads
    states = inputs[inner][0][0]
    added = torch.zeros(heads, n, n)
    if inner.relative_attention:
        added = made[inner, "disentangled_att_bias"].reshape(heads, n, n)
    # The rows of in_proj are q, k, v of the first head, then of the second ...
    rows = (inner.in_proj.weight @ states.T).reshape(heads, 3, d, n).transpose(2, 3)
    q = rows[:, 0] + inner.q_bias.reshape(heads, 1, d)
    k, v = rows[:, 1], rows[:, 2] + inner.v_bias.reshape(heads, 1, d)
    factor = (d * (1 + len(inner.pos_att_type))) ** -0.5
    dense = attention.output.dense
    return Block(q, k, v, added, factor, *of_linear(dense, heads), made[dense][0][:n])


_DEBERTA = Family(
    model_type="deberta",
    head="DebertaForMaskedLM",
    tokenizer="DebertaTokenizer",
    sizes=DEBERTA_SIZES,
    mlm=True,
    interface=False,
    biased=True,
    runs_beyond=True,
    watch=watch_deberta,
    block=_block,
)
CHECKPOINTS = {"deberta": _DEBERTA, "deberta_headless": replace(_DEBERTA, head="DebertaModel", mlm=False)}
