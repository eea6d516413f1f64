"""BigBird: outside the fused kernel; full attention up to the length from which its own would be sparse."""

from typing import Any

from model_zoo.eager_attention import Projections
from model_zoo.families.rule import Family


class BigBird(Family):
    """Its sparse attention looks at blocks in a window, at the first and last block, and at random ones. transformers
    uses it for long texts only, and outside of training it draws no blocks: the first one stands for every random one,
    counted again each time. These numbers are of no model that was trained, so texts end where it would begin.
    transformers also changes a network for good when a short text comes; set to full attention from the start, a text's
    numbers do not depend on which came before.
    """

    model_types = ("big_bird",)
    projections = Projections()
    # google-research/bigbird trains on single texts with segment_ids of zeros, and with use_nsp=False: the second type
    # that its config names and the sentence head that its checkpoint holds have learned nothing.
    type_ids = False
    without_nsp = "BigBird was trained on masked words only, without next-sentence prediction."

    def configure(self, config: Any) -> None:
        config.attention_type = "original_full"

    def max_tokens(self, config: Any) -> int:
        """The longest text of which transformers computes full attention: BigBirdModel.forward."""
        return int((5 + 2 * config.num_random_blocks) * config.block_size)
