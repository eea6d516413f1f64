"""The tokens that a model knows."""

from dataclasses import dataclass

from model_zoo.question import LoadedModel, Question
from model_zoo.types import Vocabulary


@dataclass(frozen=True, slots=True)
class ReadVocabulary(Question[Vocabulary]):
    """The tokens a model knows, by id."""

    runs_model = False

    model: str

    def answer(self, loaded: LoadedModel) -> Vocabulary:
        from model_zoo import masked

        return masked.vocabulary(loaded)
