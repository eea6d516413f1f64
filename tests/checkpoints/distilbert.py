"""DistilBERT."""

from __future__ import annotations

from checkpoints.family import Family
from checkpoints.sizes import N_HEADS, N_LAYERS, POSITIONS, WIDTH

CHECKPOINTS = {
    "distilbert": Family(
        model_type="distilbert",
        head="DistilBertForMaskedLM",
        tokenizer="BertTokenizer",
        sizes={
            "dim": WIDTH,
            "n_layers": N_LAYERS,
            "n_heads": N_HEADS,
            "hidden_dim": 2 * WIDTH,
            "max_position_embeddings": POSITIONS,
            "initializer_range": 0.3,
        },
        mlm=True,
    )
}
