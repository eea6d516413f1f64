"""How often sets of heads that look together find the partner of a relation."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from analysis.corpus.head_statistics import HeadSets
from analysis.corpus.relations import Cases
from analysis.corpus.sentences import Sentence
from evidence.questions.survey_heads import SurveyHeads
from model_zoo.question import LoadedModel, Streamed


@dataclass(frozen=True, slots=True)
class AverageHeads(Streamed[tuple[Cases, ...], tuple[Cases, ...]]):
    """The cases of some relations in some sentences, and which of the sets of heads ``tried`` on each are right: a set
    is where the mean of its heads' attention is largest at a partner (Limisiewicz et al. 2020).

    Raises as ``SurveyHeads`` does.
    """

    model: str
    sentences: tuple[Sentence, ...]
    tried: tuple[HeadSets, ...]

    remembered = False  # as in SurveyHeads

    def parts(self, loaded: LoadedModel) -> Iterator[tuple[Cases, ...]]:
        from evidence import surveying

        return surveying.average(loaded, self.sentences, self.tried)

    def combine(self, parts: Sequence[tuple[Cases, ...]]) -> tuple[Cases, ...]:
        return tuple(map(Cases.joined, zip(*parts, strict=True)))

    def replay(self, merged: tuple[Cases, ...]) -> Iterable[tuple[Cases, ...]]:
        return (merged,)

    @classmethod
    def example(cls, model: str) -> Self:
        return cls(model, SurveyHeads.example(model).sentences, (HeadSets("nsubj", "up", (((0, 0),),)),))
