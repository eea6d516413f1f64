"""BART base: saved without the head that its matrix of words makes, so that names lack their beginning."""

from __future__ import annotations

from published.layout import Layout

LAYOUTS = [
    Layout(
        hub_id="facebook/bart-base",
        checkpoint="bart",
        weights=("safetensors", "pickle"),
        tokenizer=("tokenizer.json", "vocab.json", "merges.txt"),
        config={
            "architectures": ["BartModel"],
            "activation_dropout": 0.1,
            "add_bias_logits": False,
            "add_final_layer_norm": False,
            "decoder_start_token_id": 2,
            "early_stopping": True,
            "forced_bos_token_id": 0,
            "forced_eos_token_id": 2,
            "gradient_checkpointing": False,
            "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
            "label2id": {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2},
            "no_repeat_ngram_size": 3,
            "normalize_before": False,
            "normalize_embedding": True,
            "num_beams": 4,
            "num_hidden_layers": 3,
            "task_specific_params": {"summarization": {"length_penalty": 1.0, "max_length": 128, "num_beams": 4}},
        },
        without=("final_logits_bias",),
        renamed=((r"^model\.", ""),),
        tied={"encoder.embed_tokens.weight": "shared.weight", "decoder.embed_tokens.weight": "shared.weight"},
        beside=(".gitattributes", "README.md", "flax_model.msgpack", "rust_model.ot", "tf_model.h5"),
    )
]
