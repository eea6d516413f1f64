"""ELECTRA: why it has no sentence head."""

from dataclasses import replace

from model_zoo.families.bert import BERT_PARTS
from model_zoo.families.rule import Family


class Electra(Family):
    model_types = ("electra",)
    without_nsp = "ELECTRA was trained on masked and replaced words, without next-sentence prediction."
    anatomy = replace(BERT_PARTS, embedding_projection="embeddings_project")
