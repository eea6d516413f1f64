"""The tokens whose embeddings are most similar to that of another."""

from dataclasses import dataclass
from typing import Self

from model_zoo.question import LoadedModel, Question
from model_zoo.types import Neighbour


@dataclass(frozen=True, slots=True)
class NearestTokens(Question[tuple[Neighbour, ...]]):
    """The tokens whose input embeddings have the highest cosine with that of a token, given by its id, best first.

    Special tokens, and rows of the table that belong to no token, are left out.
    """

    model: str
    token: int
    top_k: int = 10

    def answer(self, loaded: LoadedModel) -> tuple[Neighbour, ...]:
        from model_zoo import embedding_table

        return embedding_table.nearest(loaded, self.token, self.top_k)

    @classmethod
    def example(cls, model: str) -> Self:
        return cls(model, 7, 3)
