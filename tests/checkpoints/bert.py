"""BERT, with both its heads, with one and with none."""

from __future__ import annotations

from dataclasses import replace

from checkpoints.family import BERT_SIZES, Family

_BERT = Family(
    model_type="bert",
    head="BertForPreTraining",
    tokenizer="BertTokenizer",
    sizes=BERT_SIZES,
    mlm=True,
    nsp="NSP",
    type_ids=True,
)
CHECKPOINTS = {
    "bert": _BERT,
    "bert_mlm_only": replace(_BERT, head="BertForMaskedLM", nsp=None),
    "bert_headless": replace(_BERT, head="BertModel", mlm=False, nsp=None),
}
