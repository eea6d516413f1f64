"""MobileBERT."""

from __future__ import annotations

from checkpoints.family import BERT_SIZES, Family

CHECKPOINTS = {
    "mobilebert": Family(
        model_type="mobilebert",
        head="MobileBertForPreTraining",
        tokenizer="BertTokenizer",
        # It normalizes little inside, so that wider weights would grow from layer to layer.
        sizes=BERT_SIZES | {"embedding_size": 16, "intra_bottleneck_size": 16, "initializer_range": 0.2},
        mlm=True,
        nsp="NSP",
        type_ids=True,
    )
}
