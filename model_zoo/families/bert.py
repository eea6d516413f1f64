"""BERT and those with its two heads in one class: masked words and next sentence."""

from typing import ClassVar

from model_zoo.families.rule import Family, Parts

BERT_PARTS = Parts(
    embeddings=(
        ("token", "embeddings.word_embeddings"),
        ("position", "embeddings.position_embeddings"),
        ("segment", "embeddings.token_type_embeddings"),
    ),
    embedding_norm="embeddings.LayerNorm",
    layer="encoder.layer.{}",
    query_key_value=("attention.self.query", "attention.self.key", "attention.self.value"),
    output="attention.output.dense",
    attention_norm="attention.output.LayerNorm",
    inner="intermediate.dense",
    activation="intermediate.intermediate_act_fn",
    outer="output.dense",
    feed_forward_norm="output.LayerNorm",
)


class Bert(Family):
    model_types: ClassVar[tuple[str, ...]] = ("bert",)
    head = "pretraining"
    nsp = "NSP"
    anatomy: ClassVar[Parts | None] = BERT_PARTS
