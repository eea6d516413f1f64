"""ELECTRA's two networks."""

from __future__ import annotations

from dataclasses import replace

from checkpoints.family import BERT_SIZES, Family

_GENERATOR = Family(
    model_type="electra",
    head="ElectraForMaskedLM",
    tokenizer="BertTokenizer",
    sizes=BERT_SIZES | {"embedding_size": 16},
    mlm=True,
    type_ids=True,
)
CHECKPOINTS = {
    "electra_generator": _GENERATOR,
    "electra_discriminator": replace(_GENERATOR, head="ElectraForPreTraining", mlm=False),
}
