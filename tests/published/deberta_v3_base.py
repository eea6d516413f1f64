"""DeBERTa-v3 base: half precision, sentencepiece's file alone, and two heads that no network has a place for."""

from __future__ import annotations

from published.layout import Layout, linear, noise, norm

LAYOUTS = [
    Layout(
        hub_id="microsoft/deberta-v3-base",
        checkpoint="deberta-v2_headless",
        weights=("pickle",),
        tokenizer=("spm.model",),
        tokenizer_config={"do_lower_case": False, "vocab_type": "spm"},
        lacks=("architectures", "bos_token_id", "eos_token_id"),
        config={"pos_att_type": "p2c|c2p", "pooler_dropout": 0},
        renamed=((r"^", "deberta."),),
        extra=linear("lm_predictions.lm_head.dense")
        | norm("lm_predictions.lm_head.LayerNorm")
        | {"lm_predictions.lm_head.bias": noise(261)}
        | linear("mask_predictions.dense")
        | norm("mask_predictions.LayerNorm")
        | linear("mask_predictions.classifier", n_out=1),
        beside=(
            ".gitattributes",
            "README.md",
            "generator_config.json",
            "pytorch_model.generator.bin",
            "rust_model.ot",
            "tf_model.h5",
        ),
        half=True,
        spare=100,
        conversion=True,
    )
]
