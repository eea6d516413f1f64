"""FNet: Fourier transforms in place of attention, and both of BERT's heads."""

from model_zoo.families.rule import Family


class FNet(Family):
    model_types = ("fnet",)
    head = "pretraining"
    nsp = "NSP"
