"""T5 small: a table of relative positions for which no later network has a place."""

from __future__ import annotations

from published.layout import Layout, noise

LAYOUTS = [
    Layout(
        hub_id="google-t5/t5-small",
        checkpoint="t5",
        weights=("safetensors", "pickle"),
        tokenizer=("spiece.model", "tokenizer.json"),
        tokenizer_config={
            "additional_special_tokens": [f"<extra_id_{number}>" for number in range(100)],
            "eos_token": "</s>",
            "extra_ids": 100,
            "model_max_length": 512,
            "pad_token": "<pad>",
            "tokenizer_class": "T5Tokenizer",
            "unk_token": "<unk>",
        },
        lacks=("bos_token_id", "dense_act_fn", "feed_forward_proj", "is_gated_act", "relative_attention_max_distance"),
        config={
            "n_positions": 512,
            "output_past": True,
            "relative_attention_max_distance": 16,
            "task_specific_params": {"summarization": {"early_stopping": True, "prefix": "summarize: "}},
        },
        extra={"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight": noise(8, 4)},
        tied={
            "encoder.embed_tokens.weight": "shared.weight",
            "decoder.embed_tokens.weight": "shared.weight",
            "lm_head.weight": "shared.weight",
        },
        beside=(
            ".gitattributes",
            "README.md",
            "flax_model.msgpack",
            "generation_config.json",
            "onnx/encoder_model.onnx",
            "rust_model.ot",
            "tf_model.h5",
        ),
        spare=28,
    )
]
