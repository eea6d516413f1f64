"""DeBERTa v2 and v3: outside the fused kernel; positions are added by text."""

from model_zoo.capture import Call
from model_zoo.eager_attention import Captured, Projections, call_with_rest, split_heads
from model_zoo.families.deberta import WITHOUT_NSP
from model_zoo.families.rule import Family


def _call(captured: Captured) -> Call:
    attention = captured.attention.get_submodule("self")
    query, key, value = (split_heads(states, captured.n_heads) for states in captured.states)
    n_terms = 1 + sum(kind in attention.pos_att_type for kind in ("c2p", "p2c"))
    scaling = (query.shape[-1] * n_terms) ** -0.5
    return call_with_rest(query, key, value, scaling, captured.scores if attention.relative_attention else None)


class DebertaV2(Family):
    model_types = ("deberta-v2",)
    without_nsp = WITHOUT_NSP
    projections = Projections(
        query="self.query_proj.weight", key="self.key_proj.weight", value="self.value_proj.weight", call=_call
    )
