"""EconBERTa: DeBERTa-v3 as its user saved it, with everything that a tokenizer saves."""

from __future__ import annotations

from published.layout import Layout

LAYOUTS = [
    Layout(
        hub_id="worldbank/econberta",
        checkpoint="deberta-v2_headless",
        weights=("pickle",),
        tokenizer=("added_tokens.json", "special_tokens_map.json", "spm.model", "tokenizer.json"),
        tokenizer_config={
            "bos_token": "[CLS]",
            "cls_token": "[CLS]",
            "do_lower_case": False,
            "eos_token": "[SEP]",
            "mask_token": "[MASK]",
            "model_max_length": 1000000000000000019884624838656,
            "pad_token": "[PAD]",
            "sep_token": "[SEP]",
            "sp_model_kwargs": {},
            "special_tokens_map_file": None,
            "split_by_punct": False,
            "tokenizer_class": "DebertaV2Tokenizer",
            "unk_token": "[UNK]",
            "vocab_type": "spm",
        },
        lacks=("bos_token_id", "eos_token_id"),
        config={"torch_dtype": "float32", "transformers_version": "4.25.1"},
        spare=100,
    )
]
