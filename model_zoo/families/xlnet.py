"""XLNet: outside the fused kernel; positions and segments are added by text, and no head fills a mask."""

from model_zoo.capture import Call
from model_zoo.eager_attention import Captured, Projections, call_with_rest
from model_zoo.families.rule import Family


def _call(captured: Captured) -> Call:
    """Its states are (n, batch, heads, d). The bias that queries have towards contents is part of them here."""
    attention = captured.attention
    query, key, value = (
        states.permute(1, 2, 0, 3) for states in (captured.query + attention.r_w_bias, captured.key, captured.value)
    )
    return call_with_rest(query, key, value, attention.scale, captured.scores)


class XLNet(Family):
    model_types = ("xlnet",)
    sums_up_last = True
    head = "none"
    half = False
    projections = Projections(path="layer.{}.rel_attn", query="q", key="k", value="v", output="o", call=_call)
