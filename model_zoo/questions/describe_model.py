"""What is known of a model once it is loaded."""

from dataclasses import dataclass

from model_zoo.question import LoadedModel, Question
from model_zoo.types import ModelInfo


@dataclass(frozen=True, slots=True)
class DescribeModel(Question[ModelInfo]):
    """What is known about a model once it is loaded; loads it if need be."""

    of_loaded = True
    runs_model = False

    model: str

    def answer(self, loaded: LoadedModel) -> ModelInfo:
        return loaded.info
