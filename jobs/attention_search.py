"""A search through a corpus for sentences in which a head looks from some words to others: a job."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from analysis.corpus.looks import Looks
from analysis.corpus.pattern import Pattern, may_match
from analysis.corpus.sentences import Corpus
from evidence.questions.look import Look
from jobs.job import StagedJob
from model_zoo.engine_interface import EngineInterface

_AT_ONCE: Final = 256  # sentences a question


class AttentionSearchJob(StagedJob):
    """Asks about those sentences that can match at all, in a random order, so that what is known when it is stopped is
    a fair sample. ``looks`` is what was found so far; None where no sentence can match, or none was read yet.

    ``layer``, ``head`` and ``joined`` are those of ``Look``.
    """

    doing = "searching a corpus"
    unit = "sentence"

    def __init__(
        self,
        engine: EngineInterface,
        model: str,
        corpus: Corpus,
        query: Pattern,
        key: Pattern,
        layer: int | None = None,
        head: int | None = None,
        joined: bool = False,
    ) -> None:
        super().__init__(engine, stage="Searching")
        self.corpus = corpus
        self.looks: Looks | None = None
        self.arguments = model, query, key, layer, head, joined

    def steps(self) -> Generator[None, None, None]:
        model, query, key, layer, head, joined = self.arguments
        numbers = may_match(self.corpus, query, key)
        self.n_total = len(numbers)
        yield

        def note(part: Looks) -> None:
            self.looks = part if self.looks is None else self.looks + part
            self.n_done = self.looks.n_sentences

        for start in range(0, len(numbers), _AT_ONCE):
            sentences = self.corpus.take(numbers[start : start + _AT_ONCE])
            yield from self._read(self._engine.stream(Look(model, sentences, query, key, layer, head, joined)), note)
