"""ELECTRA's two networks: the generator's weights are safetensors too, the discriminator's are not."""

from __future__ import annotations

from published.layout import UNCASED, Layout, Weights, positions


def _electra(half: str, weights: tuple[Weights, ...], tied: dict[str, str]) -> Layout:
    return Layout(
        hub_id=f"google/electra-small-{half}",
        checkpoint=f"electra_{half}",
        weights=weights,
        tokenizer=("tokenizer.json", "vocab.txt"),
        tokenizer_config=UNCASED,
        lacks=("bos_token_id", "eos_token_id", "summary_type"),
        config={"generator_size": "0.25", "summary_last_dropout": 0.1, "vocab_type": "uncased"},
        extra={"electra.embeddings.position_ids": positions()},
        tied=tied,
        beside=(".gitattributes", "README.md", "flax_model.msgpack", "rust_model.ot", "tf_model.h5"),
    )


LAYOUTS = [
    _electra(
        "generator",
        ("safetensors", "pickle"),
        {"generator_lm_head.weight": "electra.embeddings.word_embeddings.weight"},
    ),
    _electra("discriminator", ("pickle",), {}),
]
