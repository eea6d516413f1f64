"""Which tokens a prediction depends on, by hiding words, by gradients, by parts of its logit or by attention."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from model_zoo.errors import InvalidInput
from model_zoo.question import OWN_BEST, LoadedModel, Question, check_choice
from model_zoo.types import MEASURES, METHODS, Attribution, Measure, Method, TargetAnswer

MOST_STEPS = 1024


@dataclass(frozen=True, slots=True)
class Attribute(Question[Attribution]):
    """Feature attribution: how much each token contributes to a prediction, by one of ``METHODS``.

    "occlusion" hides one word at a time, and divides the loss among the word's tokens. Integrated gradients go from the
    text with every token hidden (see ``Change.hidden``) to the text, in so many ``steps``, and report how far their sum
    is from its exact value. "DecompX" splits the answer's logit into parts of tokens and of biases. The methods of
    attention, and "contributions" and "value zeroing" (see ``Contribute``), which are followed through all layers as
    "rollout" is, look from the vector that the prediction is read from. Raises NotSupported where a method does not fit
    a model, InvalidInput for value zeroing in a text of more than 256 tokens.
    """

    full_precision = True
    example_fields: ClassVar = {"text": "The cat sat.", "masked": (2,), "steps": 2}

    model: str
    text: str
    text_pair: str | None = None
    masked: Collection[int] = ()
    aim: TargetAnswer = OWN_BEST
    method: Method = "integrated gradients"
    measure: Measure = "log P"
    steps: int = 32

    def check(self) -> None:
        check_choice(self.method, METHODS, "method {}")
        check_choice(self.measure, MEASURES, "measure {}")
        if self.measure == "logit difference" and self.aim.foil is None:
            raise InvalidInput("A logit difference is between two answers. Give the second one, too.")
        if not 1 <= self.steps <= MOST_STEPS:
            raise InvalidInput(f"{self.steps:,} steps cannot be taken. Choose 1 to {MOST_STEPS:,}.")

    def answer(self, loaded: LoadedModel) -> Attribution:
        from model_zoo.interventions.attribute import attribute
        from model_zoo.interventions.reading import reader

        read = reader(loaded, self.text, self.text_pair, self.masked, self.aim)
        return attribute(read, self.method, self.measure, self.steps)
