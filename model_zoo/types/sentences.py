"""What the sentence head predicts for two sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model_zoo.types.encoding import Encoding
from model_zoo.types.models import ModelInfo
from model_zoo.types.shows import DataFrame, Shows, table


@dataclass(frozen=True, slots=True)
class SentenceScore(Shows):
    """The sentence head's prediction for A, B: softmax of ``logits`` (is next, is not) gives ``p_next``.

    ``kind`` "SOP" (ALBERT) asks another question: whether A and B are in their order or were swapped.
    """

    p_next: float
    logits: tuple[float, float]
    kind: Literal["NSP", "SOP"]
    encoding: Encoding
    model: ModelInfo

    def __repr__(self) -> str:
        return f"<SentenceScore {self.model.id}: {self.kind} {self.p_next:.4f}, {self.encoding.summary()}>"

    def to_frame(self) -> DataFrame:
        """Two rows: answer ("is next" and "is not"; for SOP "in order" and "swapped"), logit, probability."""
        answers = ("is next", "is not") if self.kind == "NSP" else ("in order", "swapped")
        return table({"answer": answers, "logit": self.logits, "probability": [self.p_next, 1 - self.p_next]})
