"""DistilBERT: the parts of its layers, and why it has no sentence head."""

from model_zoo.families.rule import Family, Parts


class DistilBert(Family):
    model_types = ("distilbert",)
    without_nsp = "DistilBERT was distilled from BERT without the next-sentence head and without segments."
    anatomy = Parts(
        embeddings=(("token", "embeddings.word_embeddings"), ("position", "embeddings.position_embeddings")),
        embedding_norm="embeddings.LayerNorm",
        layer="transformer.layer.{}",
        query_key_value=("attention.q_lin", "attention.k_lin", "attention.v_lin"),
        output="attention.out_lin",
        attention_norm="sa_layer_norm",
        inner="ffn.lin1",
        activation="ffn.activation",
        outer="ffn.lin2",
        feed_forward_norm="output_layer_norm",
    )
