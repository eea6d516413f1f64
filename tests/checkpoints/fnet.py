"""FNet, which has no attention."""

from __future__ import annotations

from checkpoints.family import BERT_SIZES, Family

CHECKPOINTS = {
    "fnet": Family(
        model_type="fnet",
        head="FNetForPreTraining",
        tokenizer="FNetTokenizer",
        # Fourier transforms add up all tokens and all numbers of each: the weights are narrower for it.
        sizes={key: value for key, value in BERT_SIZES.items() if key != "num_attention_heads"},
        mlm=True,
        nsp="NSP",
        attention=False,
        interface=False,
        type_ids=True,
    )
}
