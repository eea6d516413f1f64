"""TinyBERT: a pickle of 2019, a config that says of no family, heads that nobody trained and what it learned with."""

from __future__ import annotations

from published.layout import Layout, linear

LAYOUTS = [
    Layout(
        hub_id="huawei-noah/TinyBERT_General_4L_312D",
        checkpoint="bert",
        weights=("old pickle",),
        tokenizer=("vocab.txt",),
        lacks=("architectures", "bos_token_id", "eos_token_id", "layer_norm_eps", "model_type", "pad_token_id"),
        config={"cell": {}, "emb_size": 32, "pre_trained": "", "structure": [], "training": ""},
        extra=linear("fit_dense") | linear("fit_denses.0", n_out=24) | linear("fit_denses.1", n_out=24),
        tied={"cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight"},
    )
]
