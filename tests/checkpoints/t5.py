"""T5."""

from __future__ import annotations

from checkpoints.family import Family
from checkpoints.sizes import N_HEADS, N_LAYERS, WIDTH

CHECKPOINTS = {
    "t5": Family(
        model_type="t5",
        head="T5ForConditionalGeneration",
        tokenizer="T5Tokenizer",
        sizes={
            "d_model": WIDTH,
            "d_kv": WIDTH // N_HEADS,
            "d_ff": 2 * WIDTH,
            "num_layers": N_LAYERS,
            "num_decoder_layers": N_LAYERS - 1,
            "num_heads": N_HEADS,
            "relative_attention_num_buckets": 8,
            "relative_attention_max_distance": 16,
            "initializer_factor": 1.5,
        },
        cross_attention=True,
        max_tokens=None,
        biased=True,
        final_norm="final_layer_norm",
        has_mask=False,
    )
}
