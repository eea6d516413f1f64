"""Megatron-BERT."""

from __future__ import annotations

from checkpoints.block import bert_block, watch_bert
from checkpoints.family import BERT_SIZES, Family

CHECKPOINTS = {
    "megatron-bert": Family(
        model_type="megatron-bert",
        head="MegatronBertForPreTraining",
        tokenizer="BertTokenizer",
        sizes=BERT_SIZES,
        mlm=True,
        nsp="SOP",
        interface=False,
        type_ids=True,
        final_norm="encoder.ln",
        watch=watch_bert,
        block=bert_block,
    )
}
