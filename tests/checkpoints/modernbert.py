"""ModernBERT."""

from __future__ import annotations

from checkpoints.family import BERT_SIZES, Family

CHECKPOINTS = {
    "modernbert": Family(
        model_type="modernbert",
        head="ModernBertForMaskedLM",
        tokenizer="PreTrainedTokenizerFast",
        # One full layer, then two that see 4 tokens to each side.
        sizes=BERT_SIZES | {"global_attn_every_n_layers": 3, "local_attention": 8},
        mlm=True,
        final_norm="final_norm",
        runs_beyond=True,
    )
}
