"""ModernBERT base: the angles of its positions are said as they were in 2024."""

from __future__ import annotations

from published.layout import Layout

LAYOUTS = [
    Layout(
        hub_id="answerdotai/ModernBERT-base",
        checkpoint="modernbert",
        weights=("safetensors", "pickle"),
        tokenizer=("special_tokens_map.json", "tokenizer.json"),
        tokenizer_config={
            "clean_up_tokenization_spaces": True,
            "cls_token": "[CLS]",
            "mask_token": "[MASK]",
            "model_input_names": ["input_ids", "attention_mask"],
            "model_max_length": 8192,
            "pad_token": "[PAD]",
            "sep_token": "[SEP]",
            "tokenizer_class": "PreTrainedTokenizerFast",
            "unk_token": "[UNK]",
        },
        config={
            "cls_token_id": 1,
            "sep_token_id": 2,
            "global_rope_theta": 160000.0,
            "gradient_checkpointing": False,
            "layer_norm_eps": 1e-05,
            "local_rope_theta": 10000.0,
            "position_embedding_type": "absolute",
            "torch_dtype": "float32",
            "transformers_version": "4.47.0.dev0",
        },
        tied={"decoder.weight": "model.embeddings.tok_embeddings.weight"},
        beside=(".gitattributes", "README.md", "onnx/model.onnx"),
        spare=8,
    )
]
