"""CamemBERT base: sentencepiece's file and a tokenizer.json."""

from __future__ import annotations

from checkpoints import POSITIONS

from published.layout import Layout, linear, positions

LAYOUTS = [
    Layout(
        hub_id="almanach/camembert-base",
        checkpoint="camembert",
        weights=("safetensors", "pickle"),
        tokenizer=("sentencepiece.bpe.model", "tokenizer.json"),
        tokenizer_config={"model_max_length": 512},
        config={"bos_token_id": 5, "eos_token_id": 6, "output_past": True},
        extra={"roberta.embeddings.position_ids": positions(POSITIONS + 2)} | linear("roberta.pooler.dense"),
        tied={"lm_head.decoder.weight": "roberta.embeddings.word_embeddings.weight"},
        beside=(".gitattributes", "README.md", "tf_model.h5"),
    )
]
