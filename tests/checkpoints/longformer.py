"""Longformer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from checkpoints.block import Block, bert_block, watch_bert
from checkpoints.family import ROBERTA_SIZES, ROBERTA_TOKENS, Family


def _block(model: Any, number: int, n: int, inputs: Any, made: Any) -> Block:
    reach = model.config.attention_window[number] // 2
    places = torch.arange(n)
    hidden = (places[:, None] - places).abs() > reach
    plain = bert_block(model, number, n, inputs, made)
    return replace(plain, added=plain.added.masked_fill(hidden, -torch.inf))


CHECKPOINTS = {
    "longformer": Family(
        model_type="longformer",
        head="LongformerForMaskedLM",
        tokenizer="RobertaTokenizer",
        # Each token sees 4 tokens to each side.
        sizes=ROBERTA_SIZES | {"attention_window": 8},
        mlm=True,
        interface=False,
        max_tokens=ROBERTA_TOKENS,
        runs_beyond=True,
        watch=watch_bert,
        block=_block,
    )
}
