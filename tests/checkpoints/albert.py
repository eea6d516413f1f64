"""ALBERT, with both its heads and with one."""

from __future__ import annotations

from dataclasses import replace

from checkpoints.family import BERT_SIZES, Family

_ALBERT = Family(
    model_type="albert",
    head="AlbertForPreTraining",
    tokenizer="AlbertTokenizer",
    sizes=BERT_SIZES | {"embedding_size": 16},
    mlm=True,
    nsp="SOP",
    type_ids=True,
)
CHECKPOINTS = {"albert": _ALBERT, "albert_mlm_only": replace(_ALBERT, head="AlbertForMaskedLM", nsp=None)}
