"""SqueezeBERT: half precision, and a few places in the vocabulary that no token takes."""

from __future__ import annotations

from published.layout import Layout, positions

LAYOUTS = [
    Layout(
        hub_id="squeezebert/squeezebert-uncased",
        checkpoint="squeezebert",
        weights=("pickle",),
        tokenizer=("tokenizer.json", "vocab.txt"),
        tokenizer_config={"do_lower_case": True, "model_max_length": 512},
        lacks=("architectures", "bos_token_id", "eos_token_id"),
        config={"pad_token_id": 0},
        extra={"transformer.embeddings.position_ids": positions()},
        tied={
            "cls.predictions.decoder.weight": "transformer.embeddings.word_embeddings.weight",
            "cls.predictions.decoder.bias": "cls.predictions.bias",
        },
        beside=(".gitattributes", "README.md"),
        half=True,
        spare=6,
    )
]
