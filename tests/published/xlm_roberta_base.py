"""XLM-RoBERTa base."""

from __future__ import annotations

from checkpoints import POSITIONS

from published.layout import Layout, linear, positions

LAYOUTS = [
    Layout(
        hub_id="FacebookAI/xlm-roberta-base",
        checkpoint="xlm-roberta",
        weights=("safetensors", "pickle"),
        tokenizer=("sentencepiece.bpe.model", "tokenizer.json"),
        tokenizer_config={"model_max_length": 512},
        config={"output_past": True, "position_embedding_type": "absolute", "use_cache": True},
        extra={"roberta.embeddings.position_ids": positions(POSITIONS + 2)} | linear("roberta.pooler.dense"),
        tied={
            "lm_head.decoder.weight": "roberta.embeddings.word_embeddings.weight",
            "lm_head.decoder.bias": "lm_head.bias",
        },
        beside=(".gitattributes", "README.md", "flax_model.msgpack", "onnx/model.onnx", "tf_model.h5"),
    )
]
