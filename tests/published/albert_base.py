"""ALBERT base: sentencepiece's file and a tokenizer.json, a pooler, and no head for the order of sentences."""

from __future__ import annotations

from published.layout import Layout, linear, positions

LAYOUTS = [
    Layout(
        hub_id="albert/albert-base-v2",
        checkpoint="albert_mlm_only",
        weights=("safetensors", "pickle"),
        tokenizer=("spiece.model", "tokenizer.json"),
        tokenizer_config={"model_max_length": 512},
        config={
            "down_scale_factor": 1,
            "gap_size": 0,
            "net_structure_type": 0,
            "num_memory_blocks": 0,
            "classifier_dropout_prob": 0.1,
        },
        extra={"albert.embeddings.position_ids": positions()} | linear("albert.pooler"),
        tied={
            "predictions.decoder.weight": "albert.embeddings.word_embeddings.weight",
            "predictions.decoder.bias": "predictions.bias",
        },
        beside=(
            ".gitattributes",
            "README.md",
            "flax_model.msgpack",
            "rust_model.ot",
            "tf_model.h5",
            "with-prefix-tf_model.h5",
        ),
    )
]
