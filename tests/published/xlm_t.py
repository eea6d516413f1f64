"""XLM-T: a pickle, and sentencepiece's file with the names of its special tokens."""

from __future__ import annotations

from checkpoints import POSITIONS

from published.layout import Layout, positions

LAYOUTS = [
    Layout(
        hub_id="cardiffnlp/twitter-xlm-roberta-base",
        checkpoint="xlm-roberta",
        weights=("pickle",),
        tokenizer=("sentencepiece.bpe.model", "special_tokens_map.json"),
        config={"_name_or_path": "xlm-roberta-base", "gradient_checkpointing": False, "output_past": True},
        extra={"roberta.embeddings.position_ids": positions(POSITIONS + 2)},
        tied={
            "lm_head.decoder.weight": "roberta.embeddings.word_embeddings.weight",
            "lm_head.decoder.bias": "lm_head.bias",
        },
        beside=(".gitattributes", "README.md", "tf_model.h5"),
    )
]
