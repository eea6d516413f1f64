"""BERT base and large: all that the hub has had a format for, weights named as in TensorFlow."""

from __future__ import annotations

from published.layout import GAMMA_BETA, UNCASED, Layout

LAYOUTS = [
    Layout(
        hub_id=hub_id,
        checkpoint="bert",
        weights=("safetensors", "pickle"),
        tokenizer=("tokenizer.json", "vocab.txt"),
        tokenizer_config=UNCASED,
        lacks=("bos_token_id", "eos_token_id"),
        config={
            "architectures": ["BertForMaskedLM"],
            "gradient_checkpointing": False,
            "position_embedding_type": "absolute",
            "transformers_version": "4.6.0.dev0",
            "use_cache": True,
        },
        renamed=GAMMA_BETA,
        tied={"cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight"},
        beside=(
            ".gitattributes",
            "LICENSE",
            "README.md",
            "coreml/model.mlmodel",
            "flax_model.msgpack",
            "model.onnx",
            "rust_model.ot",
            "tf_model.h5",
            "whole-word-masking.tar.gz",
        ),
    )
    for hub_id in ("google-bert/bert-base-uncased", "google-bert/bert-large-uncased")
]
