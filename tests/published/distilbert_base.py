"""DistilBERT base."""

from __future__ import annotations

from published.layout import UNCASED, Layout

LAYOUTS = [
    Layout(
        hub_id="distilbert/distilbert-base-uncased",
        checkpoint="distilbert",
        weights=("safetensors", "pickle"),
        tokenizer=("tokenizer.json", "vocab.txt"),
        tokenizer_config=UNCASED,
        lacks=("bos_token_id", "eos_token_id"),
        config={"tie_weights_": True, "transformers_version": "4.10.0.dev0"},
        tied={"vocab_projector.weight": "distilbert.embeddings.word_embeddings.weight"},
        beside=(".gitattributes", "LICENSE", "README.md", "flax_model.msgpack", "rust_model.ot", "tf_model.h5"),
    )
]
