"""RoBERTa and its kin: why they have no sentence head."""

from typing import ClassVar

from model_zoo.families.bert import BERT_PARTS
from model_zoo.families.rule import Family, Parts

WITHOUT_NSP = (
    "Its authors left next-sentence prediction out of training: "
    "on full-length texts the model did as well or better on its tasks without it (Liu et al. 2019)."
)


class Roberta(Family):
    model_types: ClassVar[tuple[str, ...]] = ("roberta", "camembert", "xlm-roberta")
    without_nsp = WITHOUT_NSP
    anatomy: ClassVar[Parts | None] = BERT_PARTS
