"""ERNIE."""

from __future__ import annotations

from checkpoints.family import BERT_SIZES, Family

CHECKPOINTS = {
    "ernie": Family(
        model_type="ernie",
        head="ErnieForPreTraining",
        tokenizer="BertTokenizer",
        sizes=BERT_SIZES,
        mlm=True,
        nsp="NSP",
        type_ids=True,
    )
}
