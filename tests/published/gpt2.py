"""GPT-2: saved without its head, with the masks of every layer among the weights."""

from __future__ import annotations

from checkpoints import POSITIONS

from published.layout import Layout, seen

LAYOUTS = [
    Layout(
        hub_id="openai-community/gpt2",
        checkpoint="gpt2",
        weights=("safetensors", "pickle"),
        tokenizer=("merges.txt", "tokenizer.json", "vocab.json"),
        tokenizer_config={"model_max_length": 1024},
        config={
            "n_ctx": POSITIONS,
            "summary_activation": None,
            "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}},
        },
        renamed=((r"^transformer\.", ""),),
        extra=seen("h.{}.attn.bias"),
        beside=(
            ".gitattributes",
            "64.tflite",
            "README.md",
            "flax_model.msgpack",
            "generation_config.json",
            "onnx/decoder_model.onnx",
            "rust_model.ot",
            "tf_model.h5",
        ),
    )
]
