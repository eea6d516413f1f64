"""How a model represents the positions of tokens."""

from dataclasses import dataclass
from typing import ClassVar

from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question
from model_zoo.types import Positions


@dataclass(frozen=True, slots=True)
class ReadPositions(Question[Positions]):
    """How a model represents the first ``n`` positions: a learned table, angles, or a bias by distance."""

    runs_model = False
    example_fields: ClassVar = {"n": 8}

    model: str
    n: int = 64

    def check(self) -> None:
        if self.n < 2:
            raise InvalidInput("Positions are compared with each other. Ask for at least two.")

    def answer(self, loaded: LoadedModel) -> Positions:
        from model_zoo import embedding_table

        return embedding_table.positions(loaded, self.n)
