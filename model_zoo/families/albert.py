"""ALBERT: trained on the order of two sentences, whose head has a name of its own."""

from dataclasses import replace

from model_zoo.families.bert import BERT_PARTS
from model_zoo.families.rule import Family


class Albert(Family):
    model_types = ("albert",)
    head = "pretraining"
    nsp = "SOP"
    sentence_head = "sop_classifier"
    without_nsp = "ALBERT was trained on sentence order (SOP), but this checkpoint does not hold that head."
    anatomy = replace(
        BERT_PARTS,
        embedding_projection="encoder.embedding_hidden_mapping_in",
        layer="encoder.albert_layer_groups.0.albert_layers.0",  # one for all
        query_key_value=("attention.query", "attention.key", "attention.value"),
        output="attention.dense",
        attention_norm="attention.LayerNorm",
        inner="ffn",
        activation="activation",
        outer="ffn_output",
        feed_forward_norm="full_layer_layer_norm",
    )
