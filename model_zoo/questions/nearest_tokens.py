"""Which tokens have embeddings most like that of another."""

from __future__ import annotations

from dataclasses import dataclass

from model_zoo.question import LoadedModel, Question, check_top_k
from model_zoo.types import Neighbour


@dataclass(frozen=True, slots=True)
class NearestTokens(Question[tuple[Neighbour, ...]]):
    """See ``EngineInterface.nearest_tokens``."""

    model: str
    token: int
    top_k: int = 10

    def __post_init__(self) -> None:
        check_top_k(self.top_k)

    def answer(self, loaded: LoadedModel) -> tuple[Neighbour, ...]:
        from model_zoo import embedding_table

        return embedding_table.nearest(loaded, self.token, self.top_k)

    @classmethod
    def example(cls, model: str) -> NearestTokens:
        return cls(model, 7, 3)
