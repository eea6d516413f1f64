"""SqueezeBERT."""

from __future__ import annotations

from typing import Any

import torch

from checkpoints.block import Block, Watch, split_heads
from checkpoints.family import BERT_SIZES, Family
from checkpoints.sizes import WIDTH


def _watch(model: Any, watch: Watch) -> None:
    for layer in model.encoder.layers:
        watch(layer.attention.query)
        watch(layer.post_attention.conv1d)


def _block(model: Any, number: int, n: int, inputs: Any, made: Any) -> Block:
    layer, heads = model.encoder.layers[number], model.config.num_attention_heads
    (states,) = inputs[layer.attention.query]
    q, k, v = (split_heads(getattr(layer.attention, name)(states)[0].T, heads) for name in ("query", "key", "value"))
    conv = layer.post_attention.conv1d
    out = made[conv][0].T
    # What it makes of one number a head, all else 0: its matrix, whatever the groups.
    w_o = conv(torch.eye(WIDTH)[:, :, None])[..., 0] - conv.bias
    d = WIDTH // heads
    return Block(q, k, v, torch.zeros(heads, n, n), d**-0.5, w_o.reshape(heads, d, WIDTH), conv.bias, out)


CHECKPOINTS = {
    "squeezebert": Family(
        model_type="squeezebert",
        head="SqueezeBertForMaskedLM",
        tokenizer="BertTokenizer",
        sizes=BERT_SIZES | {"embedding_size": WIDTH},
        mlm=True,
        interface=False,
        type_ids=True,
        watch=_watch,
        block=_block,
    )
}
