"""How probable a model finds each token of a text."""

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question, normalize
from model_zoo.types import SCHEMES, Scheme, TokenScores


@dataclass(frozen=True, slots=True)
class ScoreTokens(Question[TokenScores]):
    """ln P of every token: each masked in turn (pseudo-log-likelihood), or given those before it (causal models). For a
    list of texts, a list of these.

    The ``scheme`` "original" is ln P(token | rest), by Salazar et al. 2020; "word l2r" also masks what follows a token
    in its word, so that the scores of a word's pieces sum to the word's (Kauf & Ivanova 2023); "causal" is ln P(token |
    those before it), which only causal models have. Without a choice it is "original", or "causal". See
    ``TokenScores``.

    With ``positions`` only these tokens are scored, where each takes a run of its own: a long text can be scored in
    parts. A causal model scores all in one run.
    """

    needs = "mlm"
    full_precision = True
    example_fields: ClassVar = {"text": "The cat sat."}

    model: str
    text: str
    scheme: Scheme | None = None
    positions: Collection[int] | None = None

    def check(self) -> None:
        if self.scheme is not None and self.scheme not in SCHEMES:
            raise InvalidInput(f"There is no scheme {self.scheme!r}. Choose {', '.join(map(repr, SCHEMES))}.")
        normalize(self, positions=None if self.positions is None else frozenset(self.positions))

    def resolved(self, loaded: LoadedModel) -> Self:
        scheme = self.scheme or ("causal" if loaded.info.lm else "original")
        return replace(self, scheme=scheme, positions=None if scheme == "causal" else self.positions)

    @property
    def together(self) -> Hashable:
        return self.scheme

    @classmethod
    def answer_all(cls, loaded: LoadedModel, questions: Sequence[Self]) -> Iterator[tuple[int, TokenScores]]:
        from model_zoo import causal, masked

        scheme = questions[0].resolved(loaded).scheme
        read = [question.text for question in questions]
        if scheme == "causal":
            return causal.token_scores(loaded, read)
        if loaded.info.lm:
            raise InvalidInput(f"{loaded.info.id} reads left to right and masks nothing. Choose the scheme 'causal'.")
        return masked.token_scores(loaded, read, scheme or "original", [question.positions for question in questions])
