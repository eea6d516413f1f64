"""Legal-BERT: both heads, and a config full of what generation once needed."""

from __future__ import annotations

from published.layout import OF_2019, Layout

LAYOUTS = [
    Layout(
        hub_id="nlpaueb/legal-bert-base-uncased",
        checkpoint="bert",
        weights=("pickle",),
        tokenizer=("special_tokens_map.json", "vocab.txt"),
        tokenizer_config={"do_lower_case": True, "model_max_length": 512},
        lacks=("bos_token_id", "eos_token_id"),
        config=OF_2019
        | {
            "bos_token_id": 0,
            "eos_token_ids": 0,
            "length_penalty": 1.0,
            "max_length": 20,
            "num_beams": 1,
            "num_return_sequences": 1,
            "repetition_penalty": 1.0,
            "temperature": 1.0,
            "top_k": 50,
            "top_p": 1.0,
        },
        tied={"cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight"},
        beside=(".gitattributes", "README.md", "flax_model.msgpack", "tf_model.h5"),
        conversion=True,
    )
]
