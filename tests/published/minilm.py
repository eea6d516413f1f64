"""MiniLM: a pickle and a vocabulary."""

from __future__ import annotations

from published.layout import OF_2019, Layout, positions

LAYOUTS = [
    Layout(
        hub_id="microsoft/MiniLM-L12-H384-uncased",
        checkpoint="bert_headless",
        weights=("pickle",),
        tokenizer=("vocab.txt",),
        lacks=("architectures", "bos_token_id", "eos_token_id"),
        config=OF_2019 | {"gradient_checkpointing": False},
        renamed=((r"^", "bert."),),
        extra={"bert.embeddings.position_ids": positions()},
        beside=(".gitattributes", "README.md", "flax_model.msgpack", "rust_model.ot", "tf_model.h5"),
    )
]
