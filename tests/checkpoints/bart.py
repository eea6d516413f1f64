"""BART."""

from __future__ import annotations

from checkpoints.family import Family
from checkpoints.sizes import N_HEADS, N_LAYERS, POSITIONS, WIDTH

CHECKPOINTS = {
    "bart": Family(
        model_type="bart",
        head="BartForConditionalGeneration",
        tokenizer="RobertaTokenizer",
        sizes={
            "d_model": WIDTH,
            "encoder_layers": N_LAYERS,
            "decoder_layers": N_LAYERS - 1,
            "encoder_attention_heads": N_HEADS,
            "decoder_attention_heads": N_HEADS,
            "encoder_ffn_dim": 2 * WIDTH,
            "decoder_ffn_dim": 2 * WIDTH,
            "max_position_embeddings": POSITIONS,
            "init_std": 0.2,
        },
        mlm=True,
        cross_attention=True,
    )
}
