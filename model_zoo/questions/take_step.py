"""One step of training at one mask: the loss, its gradient, and the predictions before and after."""

from dataclasses import dataclass
from typing import ClassVar

from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question
from model_zoo.types import TrainingStep


@dataclass(frozen=True, slots=True)
class TakeStep(Question[TrainingStep]):
    """Hide the token at a position, and take one step of gradient descent towards it: see ``TrainingStep``. A copy is
    trained; the model stays unchanged.

    Raises NotSupported and InvalidInput as ``fill_mask`` does.
    """

    needs = "mlm"
    full_precision = True
    example_fields: ClassVar = {"text": "The cat sat.", "position": 2, "top_k": 3}

    model: str
    text: str
    position: int
    rate: float = 0.001
    top_k: int = 8

    def check(self) -> None:
        if not 0 < self.rate <= 10:
            raise InvalidInput(f"A learning rate of {self.rate} is not one of a step. Choose one above 0 and up to 10.")

    def extra_bytes(self, loaded: LoadedModel) -> int:
        return 2 * loaded.n_bytes  # a copy that learns, and its gradients

    def answer(self, loaded: LoadedModel) -> TrainingStep:
        from model_zoo import gradient_step

        return gradient_step.take(loaded, self.text, self.position, self.rate, self.top_k)
