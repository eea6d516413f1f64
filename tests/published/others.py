"""Layouts that checkpoints of the hub have, and no listed model: each shows one thing that none of those does."""

from __future__ import annotations

from published.layout import GAMMA_BETA, OF_2019, Layout

_DECODER = {"cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight"}
_NO_IDS = ("bos_token_id", "eos_token_id")

LAYOUTS = [
    Layout(  # as those of the time that said nowhere that capitals count
        hub_id="others/cased-vocabulary-alone",
        checkpoint="bert",
        weights=("old pickle",),
        tokenizer=("vocab.txt",),
        lacks=(*_NO_IDS, "architectures"),
        config=OF_2019,
        renamed=GAMMA_BETA,
        tied=_DECODER,
        cased=True,
    ),
    Layout(
        hub_id="others/cased-said",
        checkpoint="bert",
        weights=("pickle",),
        tokenizer=("vocab.txt",),
        tokenizer_config={"do_lower_case": False},
        lacks=_NO_IDS,
        tied=_DECODER,
        cased=True,
    ),
    Layout(
        hub_id="others/pickle-in-parts",
        checkpoint="bert",
        weights=("pickle in parts",),
        tokenizer=("tokenizer.json",),
        lacks=_NO_IDS,
        tied=_DECODER,
    ),
    Layout(
        hub_id="others/safetensors-in-parts",
        checkpoint="roberta",
        weights=("safetensors in parts", "pickle in parts"),
        tokenizer=("merges.txt", "vocab.json"),
    ),
    Layout(
        hub_id="others/half-precision",
        checkpoint="bert",
        weights=("safetensors",),
        tokenizer=("vocab.txt",),
        lacks=_NO_IDS,
        config={"torch_dtype": "float16"},
        half=True,
    ),
    Layout(
        hub_id="others/half-precision-pickle",
        checkpoint="roberta",
        weights=("pickle",),
        tokenizer=("merges.txt", "vocab.json"),
        config={"torch_dtype": "float16"},
        tied={"lm_head.decoder.weight": "roberta.embeddings.word_embeddings.weight"},
        half=True,
        conversion=True,
    ),
    Layout(  # what model_max_length was called
        hub_id="others/max-len",
        checkpoint="bert_mlm_only",
        weights=("old pickle",),
        tokenizer=("added_tokens.json", "special_tokens_map.json", "vocab.txt"),
        tokenizer_config={"do_lower_case": True, "init_inputs": [], "max_len": 512},
        lacks=_NO_IDS,
        config=OF_2019,
        tied=_DECODER,
    ),
    Layout(
        hub_id="others/albert-with-both-heads",
        checkpoint="albert",
        weights=("pickle",),
        tokenizer=("spiece.model",),
        config={"down_scale_factor": 1, "gap_size": 0},
        tied={
            "predictions.decoder.weight": "albert.embeddings.word_embeddings.weight",
            "predictions.decoder.bias": "predictions.bias",
        },
    ),
    Layout(
        hub_id="others/t5-sentencepiece-alone",
        checkpoint="t5",
        weights=("pickle",),
        tokenizer=("spiece.model",),
        spare=28,
        tied={"lm_head.weight": "shared.weight", "encoder.embed_tokens.weight": "shared.weight"},
    ),
    Layout(
        hub_id="others/xlnet-sentencepiece-alone",
        checkpoint="xlnet",
        weights=("safetensors",),
        tokenizer=("spiece.model",),
    ),
    Layout(
        hub_id="others/camembert-sentencepiece-alone",
        checkpoint="camembert",
        weights=("pickle",),
        tokenizer=("sentencepiece.bpe.model",),
    ),
]
