"""MPNet base: more places in the vocabulary than BERT's, a pooler, positions."""

from __future__ import annotations

from checkpoints import POSITIONS

from published.layout import Layout, linear, positions

LAYOUTS = [
    Layout(
        hub_id="microsoft/mpnet-base",
        checkpoint="mpnet",
        weights=("pickle",),
        tokenizer=("special_tokens_map.json", "tokenizer.json", "vocab.txt"),
        tokenizer_config={"do_lower_case": True, "model_max_length": 512},
        extra={"mpnet.embeddings.position_ids": positions(POSITIONS + 2)} | linear("mpnet.pooler.dense"),
        tied={
            "lm_head.decoder.weight": "mpnet.embeddings.word_embeddings.weight",
            "lm_head.decoder.bias": "lm_head.bias",
        },
        beside=(".gitattributes", "tf_model.h5"),
    )
]
