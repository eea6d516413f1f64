"""MPNet."""

from __future__ import annotations

from typing import Any

from checkpoints.block import Block, Watch, of_linear, split_heads
from checkpoints.family import BERT_SIZES, Family
from checkpoints.sizes import POSITIONS, WIDTH


def _watch(model: Any, watch: Watch) -> None:
    watch(model.encoder, "compute_position_bias")
    for layer in model.encoder.layer:
        watch(layer.attention.attn.q)
        watch(layer.attention.attn.o)


def _block(model: Any, number: int, n: int, inputs: Any, made: Any) -> Block:  # noqa: ARG001
    module, heads = model.encoder.layer[number].attention.attn, model.config.num_attention_heads
    (states,) = inputs[module.q]
    q, k, v = (split_heads(getattr(module, name)(states)[0], heads) for name in "qkv")
    bias = made[model.encoder, "compute_position_bias"][0]
    return Block(q, k, v, bias, (WIDTH // heads) ** -0.5, *of_linear(module.o, heads), made[module.o][0])


CHECKPOINTS = {
    "mpnet": Family(
        model_type="mpnet",
        head="MPNetForMaskedLM",
        tokenizer="MPNetTokenizer",
        sizes=BERT_SIZES | {"max_position_embeddings": POSITIONS + 2},
        mlm=True,
        interface=False,
        biased=True,
        watch=_watch,
        block=_block,
    )
}
