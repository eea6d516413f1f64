"""ERNIE and MobileBERT: BERT's heads, and layers with more in them."""

from model_zoo.families.bert import Bert


class Ernie(Bert):
    model_types = ("ernie", "mobilebert")
    anatomy = None
