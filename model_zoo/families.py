"""Where a model family differs from the rest: one entry a family, nothing for those that follow the rule.

The rule: load the class that holds the masked-word head, take attention from the fused kernel's inputs, and
read ``output_attentions`` where a family does not go through that kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model_zoo import unfused
from model_zoo.unfused import Projections


@dataclass(frozen=True, slots=True)
class Family:
    """``head`` is the Auto class that holds the most: "pretraining" where one class has both the masked-word and
    the sentence head. ``nsp`` names the sentence objective of that class. ``projections`` says where a family
    outside the fused kernel makes its queries, keys and values; without it such a family gives finished maps only.
    ``type_ids`` is set where a config does not say that its network was trained with token types. ``restores`` is set
    where the decoder was trained to write the encoder's text again (BART), and not another text or parts of it (T5).
    ``half`` is False where the network's own code mixes number formats and fails in half precision.
    """

    head: Literal["pretraining", "masked", "causal", "none"] = "masked"
    nsp: Literal["NSP", "SOP"] | None = None
    projections: Projections | None = None
    type_ids: bool = False
    restores: bool = False
    half: bool = True


FAMILIES: dict[str, Family] = {
    "albert": Family(head="pretraining", nsp="SOP"),
    "bart": Family(restores=True),
    "bert": Family(head="pretraining", nsp="NSP"),
    "big_bird": Family(head="pretraining", nsp="NSP"),
    "deberta": Family(
        half=False,
        projections=Projections(
            path="encoder.layer.{}.attention",
            query="self.in_proj.weight",
            key="self.in_proj.weight",
            value="self.in_proj.weight",
            output="output.dense.weight",
            call=unfused.deberta,
        ),
    ),
    "deberta-v2": Family(
        projections=Projections(
            path="encoder.layer.{}.attention",
            query="self.query_proj.weight",
            key="self.key_proj.weight",
            value="self.value_proj.weight",
            output="output.dense.weight",
            call=unfused.deberta_v2,
        )
    ),
    "ernie": Family(head="pretraining", nsp="NSP"),
    "fnet": Family(head="pretraining", nsp="NSP"),
    "gpt2": Family(head="causal"),
    "longformer": Family(
        projections=Projections(
            path="encoder.layer.{}.attention",
            query="self.query.weight",
            key="self.key.weight",
            value="self.value.weight",
            output="output.dense.weight",
            call=unfused.longformer,
        )
    ),
    "megatron-bert": Family(head="pretraining", nsp="NSP"),
    "mobilebert": Family(head="pretraining", nsp="NSP"),
    "mpnet": Family(
        projections=Projections(
            path="encoder.layer.{}.attention.attn",
            query="q.weight",
            key="k.weight",
            value="v.weight",
            output="o.weight",
            position_bias="encoder.relative_attention_bias.weight",
            call=unfused.mpnet,
        )
    ),
    "squeezebert": Family(
        projections=Projections(
            path="encoder.layers.{}",
            query="attention.query.weight",
            key="attention.key.weight",
            value="attention.value.weight",
            output="post_attention.conv1d.weight",
            call=unfused.squeezebert,
        )
    ),
    "t5": Family(head="none"),
    "xlnet": Family(
        head="none",
        half=False,
        type_ids=True,
        projections=Projections(
            path="layer.{}.rel_attn", query="q", key="k", value="v", output="o", call=unfused.xlnet
        ),
    ),
}


def family_of(model_type: str) -> Family:
    return FAMILIES.get(model_type, Family())
