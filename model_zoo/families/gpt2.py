"""GPT-2: a decoder, whose head says which token is next."""

from model_zoo.families.rule import Family, Parts


class Gpt2(Family):
    model_types = ("gpt2",)
    without_nsp = "A decoder such as GPT-2 predicts the next token; it was not trained to judge pairs of sentences."
    anatomy = Parts(
        embeddings=(("token", "wte"), ("position", "wpe")),
        layer="h.{}",
        query_key_value=("attn.c_attn",),
        output="attn.c_proj",
        attention_norm="ln_1",
        inner="mlp.c_fc",
        activation="mlp.act",
        outer="mlp.c_proj",
        feed_forward_norm="ln_2",
        pre_norm=True,
    )
