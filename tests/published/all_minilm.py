"""Sentence-BERT: a tokenizer.json that cuts and pads, and the files of sentence-transformers."""

from __future__ import annotations

from published.layout import Layout, positions

LAYOUTS = [
    Layout(
        hub_id="sentence-transformers/all-MiniLM-L6-v2",
        checkpoint="bert_headless",
        weights=("safetensors", "pickle"),
        tokenizer=("special_tokens_map.json", "tokenizer.json", "vocab.txt"),
        tokenizer_config={
            "cls_token": "[CLS]",
            "do_basic_tokenize": True,
            "do_lower_case": True,
            "mask_token": "[MASK]",
            "model_max_length": 512,
            "name_or_path": "nreimers/MiniLM-L6-H384-uncased",
            "never_split": None,
            "pad_token": "[PAD]",
            "sep_token": "[SEP]",
            "special_tokens_map_file": "/root/special_tokens_map.json",
            "strip_accents": None,
            "tokenize_chinese_chars": True,
            "tokenizer_class": "BertTokenizer",
            "unk_token": "[UNK]",
        },
        tokenizer_json={
            "truncation": {"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0},
            "padding": {
                "strategy": {"Fixed": 128},
                "direction": "Right",
                "pad_to_multiple_of": None,
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "[PAD]",
            },
        },
        lacks=("bos_token_id", "eos_token_id"),
        config={
            "_name_or_path": "nreimers/MiniLM-L6-H384-uncased",
            "gradient_checkpointing": False,
            "position_embedding_type": "absolute",
            "transformers_version": "4.8.2",
            "use_cache": True,
        },
        extra={"embeddings.position_ids": positions()},
        beside=(
            ".gitattributes",
            "README.md",
            "data_config.json",
            "onnx/model.onnx",
            "openvino/openvino_model.bin",
            "rust_model.ot",
            "tf_model.h5",
            "train_script.py",
        ),
        pooling={
            "modules.json": [
                {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
                {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
                {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
            ],
            "1_Pooling/config.json": {
                "word_embedding_dimension": 384,
                "pooling_mode_cls_token": False,
                "pooling_mode_mean_tokens": True,
                "pooling_mode_max_tokens": False,
                "pooling_mode_mean_sqrt_len_tokens": False,
            },
            "sentence_bert_config.json": {"max_seq_length": 256, "do_lower_case": False},
            "config_sentence_transformers.json": {
                "__version__": {"sentence_transformers": "2.0.0", "transformers": "4.6.1", "pytorch": "1.8.1"}
            },
        },
    )
]
