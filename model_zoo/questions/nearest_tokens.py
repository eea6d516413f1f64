"""The tokens whose embeddings are most similar to that of another."""

from dataclasses import dataclass
from typing import ClassVar

from model_zoo.question import LoadedModel, Question
from model_zoo.types import Neighbour


@dataclass(frozen=True, slots=True)
class NearestTokens(Question[tuple[Neighbour, ...]]):
    """The tokens whose input embeddings have the highest cosine with that of a token, given by its id, best first.

    Special tokens, and rows of the table that belong to no token, are left out.
    """

    example_fields: ClassVar = {"token": 7, "top_k": 3}

    model: str
    token: int
    top_k: int = 10

    def answer(self, loaded: LoadedModel) -> tuple[Neighbour, ...]:
        from model_zoo import embedding_table

        return embedding_table.nearest(loaded, self.token, self.top_k)
