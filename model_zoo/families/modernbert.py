"""ModernBERT: the parts of its layers, and why it has no sentence head."""

from model_zoo.families.rule import Family, Parts


class ModernBert(Family):
    model_types = ("modernbert",)
    without_nsp = "ModernBERT was trained on masked words only, and takes no segments."
    anatomy = Parts(
        embeddings=(("token", "embeddings.tok_embeddings"),),
        embedding_norm="embeddings.norm",
        layer="layers.{}",
        query_key_value=("attn.Wqkv",),
        output="attn.Wo",
        attention_norm="attn_norm",
        inner="mlp.Wi",
        activation="mlp.act",
        outer="mlp.Wo",
        feed_forward_norm="mlp_norm",
        pre_norm=True,
        gated=True,
        rotary="rotary_emb",
    )
