"""XLNet."""

from __future__ import annotations

from typing import Any

import torch

from checkpoints.block import Block, Watch
from checkpoints.family import Family
from checkpoints.sizes import N_HEADS, N_LAYERS, WIDTH


def _watch(model: Any, watch: Watch) -> None:
    for layer in model.layer:
        watch(layer.rel_attn, "rel_attn_core")
        watch(layer.rel_attn, "post_attention")


def _block(model: Any, number: int, n: int, inputs: Any, made: Any) -> Block:
    module = model.layer[number].rel_attn
    d = WIDTH // model.config.num_attention_heads
    (q, k, v, k_r), options = inputs[module, "rel_attn_core"]
    bd = module.rel_shift_bnij(torch.einsum("ibnd,jbnd->bnij", q + module.r_r_bias, k_r), klen=n)
    ef = torch.einsum("ibnd,snd->ibns", q + module.r_s_bias, module.seg_embed)
    ef = torch.einsum("ijbs,ibns->bnij", options["seg_mat"], ef)
    vector = made[module, "rel_attn_core"]
    vector = vector[0] if isinstance(vector, tuple) else vector
    out = torch.einsum("ibnd,hnd->ibh", vector, module.o)[:, 0]
    q, k, v = ((states[:, 0]).transpose(0, 1) for states in (q + module.r_w_bias, k, v))
    return Block(q, k, v, (bd + ef)[0] * d**-0.5, d**-0.5, module.o.permute(1, 2, 0), 0.0, out)


CHECKPOINTS = {
    "xlnet": Family(
        model_type="xlnet",
        head="XLNetLMHeadModel",
        tokenizer="XLNetTokenizer",
        sizes={
            "d_model": WIDTH,
            "n_layer": N_LAYERS,
            "n_head": N_HEADS,
            "d_inner": 2 * WIDTH,
            "initializer_range": 0.5,
        },
        interface=False,
        max_tokens=None,
        biased=True,
        type_ids=True,
        watch=_watch,
        block=_block,
    )
}
