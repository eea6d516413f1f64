"""Megatron-BERT: outside the fused kernel; its sentence head, named as BERT's, learned sentence order."""

from model_zoo.eager_attention import Projections
from model_zoo.families.rule import Family


class MegatronBert(Family):
    model_types = ("megatron-bert",)
    head = "pretraining"
    # Shoeybi et al. 2019, section 4.2: sentence order prediction after Lan et al. 2019. Two segments stand in their
    # order (0) or are swapped (1); transformers calls the class "next sentence prediction" all the same.
    nsp = "SOP"
    without_nsp = "Megatron-BERT was trained on sentence order (SOP), but this checkpoint does not hold that head."
    projections = Projections()
