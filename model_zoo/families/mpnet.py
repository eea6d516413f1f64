"""MPNet: outside the fused kernel; one bias by position for all layers."""

from model_zoo.eager_attention import Projections
from model_zoo.families.rule import Family


class MPNet(Family):
    model_types = ("mpnet",)
    without_nsp = "MPNet was trained without next-sentence prediction."
    projections = Projections(
        path="encoder.layer.{}.attention.attn",
        query="q.weight",
        key="k.weight",
        value="v.weight",
        output="o.weight",
        position_bias="encoder.relative_attention_bias.weight",
    )
