"""Longformer base: a tokenizer of RoBERTa's files, and a window for each layer."""

from __future__ import annotations

from checkpoints import POSITIONS

from published.layout import Layout, linear, positions

LAYOUTS = [
    Layout(
        hub_id="allenai/longformer-base-4096",
        checkpoint="longformer",
        weights=("pickle",),
        tokenizer=("merges.txt", "tokenizer.json", "vocab.json"),
        lacks=("architectures",),
        config={
            "attention_mode": "longformer",
            "attention_window": [8, 8, 8],
            "gradient_checkpointing": False,
            "ignore_attention_mask": False,
            "sep_token_id": 2,
        },
        extra={"longformer.embeddings.position_ids": positions(POSITIONS + 2)} | linear("longformer.pooler.dense"),
        tied={
            "lm_head.decoder.weight": "longformer.embeddings.word_embeddings.weight",
            "lm_head.decoder.bias": "lm_head.bias",
        },
        beside=(".gitattributes", "README.md", "rust_model.ot", "tf_model.h5"),
    )
]
