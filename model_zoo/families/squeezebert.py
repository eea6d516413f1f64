"""SqueezeBERT: outside the fused kernel; convolutions make its queries, keys and values."""

from model_zoo.capture import Call
from model_zoo.eager_attention import Captured, Projections
from model_zoo.families.rule import Family


def _call(captured: Captured) -> Call:
    """Its states are (batch, width, n): a convolution's."""
    query, key, value = (states.unflatten(1, (captured.n_heads, -1)).transpose(2, 3) for states in captured.states)
    return Call(query, key, value, query.shape[-1] ** -0.5)


class SqueezeBert(Family):
    model_types = ("squeezebert",)
    projections = Projections(
        path="encoder.layers.{}",
        query="attention.query.weight",
        key="attention.key.weight",
        value="attention.value.weight",
        output="post_attention.conv1d.weight",
        call=_call,
    )
