"""DeBERTa base: no word of whose class it is, and a masked-word head under names that no network has."""

from __future__ import annotations

from published.layout import Layout, linear, norm

LAYOUTS = [
    Layout(
        hub_id="microsoft/deberta-base",
        checkpoint="deberta_headless",
        weights=("pickle",),
        tokenizer=("vocab.json", "merges.txt"),
        tokenizer_config={"do_lower_case": False, "vocab_type": "gpt2"},
        lacks=("architectures", "bos_token_id", "eos_token_id"),
        config={"padding_idx": 0, "pad_token_id": 0, "pos_att_type": "c2p|p2c", "pooler_dropout": 0},
        renamed=((r"^", "deberta."),),
        extra=linear("lm_predictions.lm_head.dense")
        | norm("lm_predictions.lm_head.LayerNorm")
        | {"lm_predictions.lm_head.bias": linear("", n_out=400)[".bias"]},
        beside=(".gitattributes", "README.md", "bpe_encoder.bin", "rust_model.ot", "tf_model.h5"),
    )
]
