"""What the attention of families outside transformers' AttentionInterface is made from, by their own modules."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

Watch = Callable[..., None]
"""``watch(module)`` or ``watch(module, method)`` keeps what it is given and what it makes of it."""


@dataclass
class Block:
    """What one layer's attention computes, by its own modules: q and k (heads, n, d), v (heads, n, d), what is added to
    q·k (heads, n, n), the factor before softmax, W_O (heads, d, width), and with b_O what comes out (n, width).
    """

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    added: torch.Tensor
    factor: float
    w_o: torch.Tensor
    b_o: torch.Tensor | float
    out: torch.Tensor


def _split_heads(states: torch.Tensor, heads: int) -> torch.Tensor:
    """(n, width) as (heads, n, d)."""
    return states.unflatten(1, (heads, -1)).transpose(0, 1)


def _of_linear(dense: Any, heads: int) -> tuple[torch.Tensor, torch.Tensor]:
    """W_O (heads, d, width) and b_O of an output projection."""
    return dense.weight.T.unflatten(0, (heads, -1)), dense.bias


def _watch_bert(model: Any, watch: Watch) -> None:
    """What each attention is given and what comes out, where modules are named as BERT's."""
    for layer in model.encoder.layer:
        watch(layer.attention.self)
        watch(layer.attention.output.dense)


def _bert(model: Any, number: int, n: int, inputs: Any, made: Any) -> Block:
    """Three linear modules named as BERT's, nothing added; padding beyond ``n`` cut off."""
    attention, heads = model.encoder.layer[number].attention, model.config.num_attention_heads
    states = inputs[attention.self][0][0][:n]
    q, k, v = (_split_heads(getattr(attention.self, name)(states), heads) for name in ("query", "key", "value"))
    dense = attention.output.dense
    return Block(q, k, v, torch.zeros(heads, n, n), q.shape[-1] ** -0.5, *_of_linear(dense, heads), made[dense][0][:n])


def _longformer(model: Any, number: int, n: int, inputs: Any, made: Any) -> Block:
    reach = model.config.attention_window[number] // 2
    places = torch.arange(n)
    hidden = (places[:, None] - places).abs() > reach
    plain = _bert(model, number, n, inputs, made)
    return replace(plain, added=plain.added.masked_fill(hidden, -torch.inf))


def _watch_deberta(model: Any, watch: Watch) -> None:
    """Of both versions: what each attention is given, and what it makes of positions."""
    _watch_bert(model, watch)
    for layer in model.encoder.layer:
        for method in ("disentangled_att_bias", "disentangled_attention_bias"):
            if hasattr(layer.attention.self, method):
                watch(layer.attention.self, method)


def _deberta(model: Any, number: int, n: int, inputs: Any, made: Any) -> Block:
    """Of both versions, which name the projections and what is added for positions differently."""
    attention, heads = model.encoder.layer[number].attention, model.config.num_attention_heads
    inner = attention.self
    states = inputs[inner][0][0]
    if model.config.model_type == "deberta":
        added = "disentangled_att_bias"
        # The rows of in_proj are q, k, v of the first head, then of the second ...
        rows = (inner.in_proj.weight @ states.T).reshape(heads, 3, -1, n).transpose(2, 3)
        q = rows[:, 0] + inner.q_bias.reshape(heads, 1, -1)
        k, v = rows[:, 1], rows[:, 2] + inner.v_bias.reshape(heads, 1, -1)
    else:
        added = "disentangled_attention_bias"
        q, k, v = (_split_heads(getattr(inner, f"{name}_proj")(states), heads) for name in ("query", "key", "value"))
    bias = made[inner, added].reshape(heads, n, n) if inner.relative_attention else torch.zeros(heads, n, n)
    factor = (q.shape[-1] * (1 + len(inner.pos_att_type))) ** -0.5
    dense = attention.output.dense
    return Block(q, k, v, bias, factor, *_of_linear(dense, heads), made[dense][0][:n])


def _watch_mpnet(model: Any, watch: Watch) -> None:
    watch(model.encoder, "compute_position_bias")
    for layer in model.encoder.layer:
        watch(layer.attention.attn.q)
        watch(layer.attention.attn.o)


def _mpnet(model: Any, number: int, n: int, inputs: Any, made: Any) -> Block:  # noqa: ARG001
    module, heads = model.encoder.layer[number].attention.attn, model.config.num_attention_heads
    (states,) = inputs[module.q]
    q, k, v = (_split_heads(getattr(module, name)(states)[0], heads) for name in "qkv")
    bias = made[model.encoder, "compute_position_bias"][0]
    return Block(q, k, v, bias, q.shape[-1] ** -0.5, *_of_linear(module.o, heads), made[module.o][0])


def _watch_squeezebert(model: Any, watch: Watch) -> None:
    for layer in model.encoder.layers:
        watch(layer.attention.query)
        watch(layer.post_attention.conv1d)


def _squeezebert(model: Any, number: int, n: int, inputs: Any, made: Any) -> Block:
    layer, heads = model.encoder.layers[number], model.config.num_attention_heads
    (states,) = inputs[layer.attention.query]
    q, k, v = (_split_heads(getattr(layer.attention, name)(states)[0].T, heads) for name in ("query", "key", "value"))
    conv = layer.post_attention.conv1d
    out = made[conv][0].T  # read before it is asked again
    # What it makes of one number a head, all else 0: its matrix, whatever the groups.
    w_o = conv(torch.eye(model.config.hidden_size)[:, :, None])[..., 0] - conv.bias
    added, factor = torch.zeros(heads, n, n), q.shape[-1] ** -0.5
    return Block(q, k, v, added, factor, w_o.unflatten(0, (heads, -1)), conv.bias, out)


def _watch_xlnet(model: Any, watch: Watch) -> None:
    for layer in model.layer:
        watch(layer.rel_attn, "rel_attn_core")
        watch(layer.rel_attn, "post_attention")


def _xlnet(model: Any, number: int, n: int, inputs: Any, made: Any) -> Block:
    module = model.layer[number].rel_attn
    (q, k, v, k_r), options = inputs[module, "rel_attn_core"]
    bd = module.rel_shift_bnij(torch.einsum("ibnd,jbnd->bnij", q + module.r_r_bias, k_r), klen=n)
    ef = torch.einsum("ibnd,snd->ibns", q + module.r_s_bias, module.seg_embed)
    ef = torch.einsum("ijbs,ibns->bnij", options["seg_mat"], ef)
    vector = made[module, "rel_attn_core"]
    vector = vector[0] if isinstance(vector, tuple) else vector
    out = torch.einsum("ibnd,hnd->ibh", vector, module.o)[:, 0]
    q, k, v = ((states[:, 0]).transpose(0, 1) for states in (q + module.r_w_bias, k, v))
    factor = q.shape[-1] ** -0.5
    return Block(q, k, v, (bd + ef)[0] * factor, factor, module.o.permute(1, 2, 0), 0.0, out)


REFERENCES: dict[str, tuple[Callable[[Any, Watch], None], Callable[[Any, int, int, Any, Any], Block]]] = {
    "bert": (_watch_bert, _bert),
    "deberta": (_watch_deberta, _deberta),
    "longformer": (_watch_bert, _longformer),
    "mpnet": (_watch_mpnet, _mpnet),
    "squeezebert": (_watch_squeezebert, _squeezebert),
    "xlnet": (_watch_xlnet, _xlnet),
}
"""By the name of a family: ``watch(model, watch)`` keeps what is needed while the network reads a text of n tokens, and
``block(model, layer, n, inputs, made)`` computes from what was kept.
"""
