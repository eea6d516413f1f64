"""GPT-2."""

from __future__ import annotations

from checkpoints.family import Family
from checkpoints.sizes import N_HEADS, N_LAYERS, POSITIONS, WIDTH

CHECKPOINTS = {
    "gpt2": Family(
        model_type="gpt2",
        head="GPT2LMHeadModel",
        tokenizer="GPT2Tokenizer",
        sizes={
            "n_embd": WIDTH,
            "n_layer": N_LAYERS,
            "n_head": N_HEADS,
            "n_positions": POSITIONS,
            "initializer_range": 0.3,
        },
        causal=True,
        final_norm="ln_f",
        has_mask=False,
    )
}
