"""RoBERTa base: positions are saved with the weights, and a pooler that nobody trained."""

from __future__ import annotations

from checkpoints import POSITIONS

from published.layout import Layout, linear, positions

LAYOUTS = [
    Layout(
        hub_id="FacebookAI/roberta-base",
        checkpoint="roberta",
        weights=("safetensors", "pickle"),
        tokenizer=("tokenizer.json", "vocab.json", "merges.txt"),
        tokenizer_config={"model_max_length": 512},
        extra={"roberta.embeddings.position_ids": positions(POSITIONS + 2)} | linear("roberta.pooler.dense"),
        tied={
            "lm_head.decoder.weight": "roberta.embeddings.word_embeddings.weight",
            "lm_head.decoder.bias": "lm_head.bias",
        },
        beside=(
            ".gitattributes",
            "README.md",
            "dict.txt",
            "flax_model.msgpack",
            "rust_model.ot",
            "tf_model.h5",
        ),
    )
]
