"""Whether questions are answered at all."""

from dataclasses import dataclass
from typing import ClassVar

from model_zoo.questions.fill_mask import FillMask


@dataclass(frozen=True, slots=True)
class ProbeHealth(FillMask):
    """One word to predict. The answer is not remembered, so that the model has to run."""

    remembered: ClassVar[bool] = False
