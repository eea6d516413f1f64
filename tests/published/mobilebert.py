"""MobileBERT."""

from __future__ import annotations

from published.layout import Layout, positions

LAYOUTS = [
    Layout(
        hub_id="google/mobilebert-uncased",
        checkpoint="mobilebert",
        weights=("pickle",),
        tokenizer=("tokenizer.json", "vocab.txt"),
        lacks=("architectures", "bos_token_id", "eos_token_id"),
        extra={"mobilebert.embeddings.position_ids": positions()},
        tied={
            "cls.predictions.decoder.weight": "mobilebert.embeddings.word_embeddings.weight",
            "cls.predictions.decoder.bias": "cls.predictions.bias",
        },
        beside=(".gitattributes", "README.md", "rust_model.ot", "tf_model.h5"),
    )
]
