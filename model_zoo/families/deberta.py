"""DeBERTa: outside the fused kernel; one matrix makes queries, keys and values, positions are added by text."""

from typing import Any

from model_zoo.capture import Call
from model_zoo.eager_attention import Captured, Projections, call_with_rest, split_heads
from model_zoo.families.rule import Family

WITHOUT_NSP = "DeBERTa was trained without next-sentence prediction."


def _call(captured: Captured) -> Call:
    """The matrix goes head by head; the biases of queries and values come after it."""
    attention = captured.attention.get_submodule("self")
    query, key, value = split_heads(captured.query, captured.n_heads).chunk(3, dim=-1)
    query = query + attention.q_bias.unflatten(0, (captured.n_heads, 1, -1))
    value = value + attention.v_bias.unflatten(0, (captured.n_heads, 1, -1))
    scaling = (query.shape[-1] * (1 + len(attention.pos_att_type))) ** -0.5
    # A copy of the keys: a view would keep all that the matrix has made.
    return call_with_rest(query, key.clone(), value, scaling, captured.scores if attention.relative_attention else None)


class Deberta(Family):
    model_types = ("deberta",)
    without_nsp = WITHOUT_NSP
    half = False
    projections = Projections(
        query="self.in_proj.weight", key="self.in_proj.weight", value="self.in_proj.weight", call=_call
    )

    def projections_of(self, config: Any) -> Projections | None:
        """There are none with talking heads, which mix the weights of all heads after softmax: behind a head's weights
        there are no scores of its own.
        """
        return None if getattr(config, "talking_head", False) else self.projections
