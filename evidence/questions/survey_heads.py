"""What every head does in some sentences of a corpus."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from analysis.corpus.head_statistics import HeadStatistics, total
from analysis.corpus.sentences import Sentence
from model_zoo.question import LoadedModel, Streamed
from reading.sentences import plain_words


@dataclass(frozen=True, slots=True)
class SurveyHeads(Streamed[HeadStatistics, HeadStatistics]):
    """Run sentences in batches of similar length and measure every head: where its attention goes, with how much it
    carries, how often it finds the partner of each relation, the tree that it spans, and its strongest examples.

    Never more than a batch is held. The answers to parts of a corpus add up to that of the whole, in any order.
    Raises NotSupported for models without attention.
    """

    model: str
    sentences: tuple[Sentence, ...]

    remembered = False  # who asks adds the parts up; of a corpus they would push everything else out of memory

    def parts(self, loaded: LoadedModel) -> Iterator[HeadStatistics]:
        from evidence import surveying

        return surveying.survey(loaded, self.sentences)

    def combine(self, parts: Sequence[HeadStatistics]) -> HeadStatistics:
        return total(parts)

    def replay(self, merged: HeadStatistics) -> Iterable[HeadStatistics]:
        return (merged,)

    @classmethod
    def example(cls, model: str) -> Self:
        text = "The cat sat on a mat."
        spans = tuple(plain_words(text))
        nothing = ("_",) * len(spans)
        return cls(model, (Sentence(0, text, spans, nothing, nothing, (-2,) * len(spans)),))
