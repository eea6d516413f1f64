"""XLM-RoBERTa-XL: as RoBERTa, with norms that stand elsewhere."""

from model_zoo.families.roberta import Roberta


class XlmRobertaXl(Roberta):
    model_types = ("xlm-roberta-xl",)
    anatomy = None
