"""PubMedBERT: a masked-word head, no pooler and no next sentences."""

from __future__ import annotations

from published.layout import Layout, positions

LAYOUTS = [
    Layout(
        hub_id="microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract-fulltext",
        checkpoint="bert_mlm_only",
        weights=("pickle",),
        tokenizer=("vocab.txt",),
        tokenizer_config={"do_lower_case": True},
        lacks=("bos_token_id", "eos_token_id"),
        extra={"bert.embeddings.position_ids": positions()},
        tied={
            "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
            "cls.predictions.decoder.bias": "cls.predictions.bias",
        },
        beside=(".gitattributes", "LICENSE.md", "README.md", "flax_model.msgpack"),
    )
]
