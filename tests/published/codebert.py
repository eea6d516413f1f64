"""CodeBERT: a vocabulary and merges, the one with a masked-word head and the other without."""

from __future__ import annotations

from checkpoints import POSITIONS

from published.layout import Layout, linear, positions

_TOKENIZER = ("merges.txt", "special_tokens_map.json", "vocab.json")

LAYOUTS = [
    Layout(
        hub_id="microsoft/codebert-base",
        checkpoint="roberta_headless",
        weights=("pickle",),
        tokenizer=_TOKENIZER,
        tokenizer_config={"max_len": 512},
        config={"output_past": True},
        extra={"embeddings.position_ids": positions(POSITIONS + 2)},
        beside=(".gitattributes", "README.md", "flax_model.msgpack", "rust_model.ot", "tf_model.h5"),
        conversion=True,
    ),
    Layout(
        hub_id="microsoft/codebert-base-mlm",
        checkpoint="roberta",
        weights=("pickle",),
        tokenizer=_TOKENIZER,
        tokenizer_config={"max_len": 512},
        config={"output_past": True},
        extra=linear("roberta.pooler.dense"),
        tied={"lm_head.decoder.weight": "roberta.embeddings.word_embeddings.weight"},
        beside=(".gitattributes", "README.md", "flax_model.msgpack", "rust_model.ot", "tf_model.h5"),
    ),
]
