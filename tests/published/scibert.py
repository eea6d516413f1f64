"""SciBERT: a pickle of 2019, a vocabulary, and a config that says neither what it is nor of which family."""

from __future__ import annotations

from published.layout import Layout

LAYOUTS = [
    Layout(
        hub_id="allenai/scibert_scivocab_uncased",
        checkpoint="bert",
        weights=("old pickle",),
        tokenizer=("vocab.txt",),
        lacks=("architectures", "bos_token_id", "eos_token_id", "layer_norm_eps", "model_type", "pad_token_id"),
        tied={"cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight"},
        beside=(".gitattributes", "README.md", "flax_model.msgpack"),
        conversion=True,
    )
]
