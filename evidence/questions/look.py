"""Where a head looks from some words to others: in which sentences, how much, and beside what by chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, ClassVar, Self

from analysis.corpus.looks import Looks
from analysis.corpus.pattern import Pattern
from analysis.corpus.sentences import Sentence
from model_zoo.errors import InvalidInput
from model_zoo.question import Streamed
from model_zoo.text import check_texts

if TYPE_CHECKING:
    from model_zoo.loading import LoadedModel

MOST_SENTENCES = 1000
MOST_HITS = 1000


@dataclass(frozen=True, slots=True)
class Look(Streamed[Looks, Looks]):
    """How much one head looks from the words that match ``query`` to those that match ``key``, in each sentence that
    holds both; without a ``head`` every head of a ``layer``, without that every head.

    Attention between words: pieces summed into keys, averaged over queries. A word that matches both is not paired with
    itself; ``joined`` leaves only words of which one is the other's head in the tree. The parts are of some sentences
    each, and add up. Raises InvalidInput for a layer or head that does not exist, NotSupported for a model without
    attention.
    """

    model: str
    sentences: tuple[Sentence, ...]
    query: Pattern
    key: Pattern
    layer: int | None = None
    head: int | None = None
    joined: bool = False
    most: int = 50

    remembered: ClassVar[bool] = False  # asked once for each part of a corpus, by a job that keeps the sum

    def check(self) -> None:
        if not 1 <= len(self.sentences) <= MOST_SENTENCES:
            raise InvalidInput(f"A question is about 1 to {MOST_SENTENCES:,} sentences. Ask for them in parts.")
        check_texts([sentence.text for sentence in self.sentences])
        if not 1 <= self.most <= MOST_HITS:
            raise InvalidInput(f"{self.most} pairs of each head cannot be kept. Choose 1 to {MOST_HITS:,}.")
        if self.head is not None and self.layer is None:
            raise InvalidInput("A head is one of a layer. Choose the layer, too.")

    def parts(self, loaded: LoadedModel) -> Iterator[Looks]:
        from evidence import looking

        return looking.look(
            loaded,
            self.sentences,
            self.query,
            self.key,
            layer=self.layer,
            head=self.head,
            joined=self.joined,
            most=self.most,
        )

    def combine(self, parts: Sequence[Looks]) -> Looks:
        return reduce(Looks.__add__, parts)

    def replay(self, merged: Looks) -> Iterable[Looks]:
        return (merged,)

    @classmethod
    def example(cls, model: str) -> Self:
        text = "The cat sat."
        sentence = Sentence(0, text, ((0, 3), (4, 7), (8, 11), (11, 12)), ("_",) * 4, ("_",) * 4, (-2,) * 4)
        return cls(model, (sentence,), Pattern("word", ("sat",)), Pattern("word", ("cat",)))
