"""XtremeDistil: a tokenizer that tells where it lay on its author's disk."""

from __future__ import annotations

from published.layout import Layout, positions

LAYOUTS = [
    Layout(
        hub_id="microsoft/xtremedistil-l6-h256-uncased",
        checkpoint="bert_headless",
        weights=("pickle",),
        tokenizer=("special_tokens_map.json", "tokenizer.json", "vocab.txt"),
        tokenizer_config={
            "cls_token": "[CLS]",
            "do_basic_tokenize": True,
            "do_lower_case": True,
            "mask_token": "[MASK]",
            "name_or_path": "/mnt/models/xtremedistil-l6-h256-uncased",
            "never_split": None,
            "pad_token": "[PAD]",
            "sep_token": "[SEP]",
            "special_tokens_map_file": "/mnt/models/special_tokens_map.json",
            "strip_accents": None,
            "tokenize_chinese_chars": True,
            "unk_token": "[UNK]",
        },
        lacks=("bos_token_id", "eos_token_id"),
        config={"gradient_checkpointing": False, "position_embedding_type": "absolute"},
        extra={"embeddings.position_ids": positions()},
        beside=(".gitattributes", "README.md", "tf_model.h5"),
        conversion=True,
    )
]
