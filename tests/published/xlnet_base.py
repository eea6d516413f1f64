"""XLNet base: a pickle, sentencepiece's file and a tokenizer.json, and no word on the tokenizer."""

from __future__ import annotations

from published.layout import Layout

LAYOUTS = [
    Layout(
        hub_id="xlnet/xlnet-base-cased",
        checkpoint="xlnet",
        weights=("old pickle",),
        tokenizer=("spiece.model", "tokenizer.json"),
        config={
            "bos_token_id": 1,
            "d_head": 8,
            "mem_len": None,
            "output_past": True,
            "reuse_len": None,
            "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 250}},
            "untie_r": True,
        },
        tied={"lm_loss.weight": "transformer.word_embedding.weight"},
        beside=(".gitattributes", "README.md", "rust_model.ot", "tf_model.h5"),
        conversion=True,
    )
]
