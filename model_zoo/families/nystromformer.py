"""Nyströmformer: with fewer landmarks than a segment has tokens, its network takes texts of a whole segment alone."""

from typing import Any

import torch

from model_zoo.families.rule import Family


class Nystromformer(Family):
    model_types = ("nystromformer",)

    def padded_length(self, config: Any) -> int:
        return config.segment_means_seq_len if config.num_landmarks != config.segment_means_seq_len else 0

    def max_tokens(self, config: Any) -> int | None:
        return self.padded_length(config) or None

    def mask(self, tokens: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """One for every query alike, (batch, 1, 1, n): transformers would make it for as many queries as tokens, and
        where landmarks ask there are fewer.
        """
        return ((1 - tokens) * torch.finfo(dtype).min).to(dtype)[:, None, None]
