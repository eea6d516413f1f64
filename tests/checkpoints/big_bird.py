"""BigBird, with a sentence head that its authors left untrained."""

from __future__ import annotations

from checkpoints.block import bert_block, watch_bert
from checkpoints.family import BERT_SIZES, Family

CHECKPOINTS = {
    "big_bird": Family(
        model_type="big_bird",
        head="BigBirdForPreTraining",
        tokenizer="BigBirdTokenizer",
        # As published its attention is sparse where a text is longer than 2 + 3 + 2 · 1 blocks.
        sizes=BERT_SIZES | {"attention_type": "block_sparse", "block_size": 8, "num_random_blocks": 1},
        mlm=True,
        interface=False,
        max_tokens=56,
        runs_beyond=True,
        watch=watch_bert,
        block=bert_block,
    )
}
