"""BERT, with both its heads, with one and with none."""

from __future__ import annotations

from checkpoints.family import BERT_SIZES, Family

CHECKPOINTS = {
    "bert": Family(
        model_type="bert",
        head="BertForPreTraining",
        tokenizer="BertTokenizer",
        sizes=BERT_SIZES,
        mlm=True,
        nsp="NSP",
        type_ids=True,
    ),
    "bert_mlm_only": Family(
        model_type="bert", head="BertForMaskedLM", tokenizer="BertTokenizer", sizes=BERT_SIZES, mlm=True, type_ids=True
    ),
    "bert_headless": Family(
        model_type="bert", head="BertModel", tokenizer="BertTokenizer", sizes=BERT_SIZES, type_ids=True
    ),
}
