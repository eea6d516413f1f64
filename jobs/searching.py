"""A search through a corpus for sentences in which a head looks from some words to others: a job."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import closing
from typing import Final

from analysis.corpus.looks import Looks
from analysis.corpus.pattern import Pattern, may_match
from analysis.corpus.sentences import Corpus
from evidence.questions.look import Look
from jobs.job import Job, time_left
from model_zoo.engine_interface import EngineInterface
from model_zoo.types import counted

_AT_ONCE: Final = 256  # sentences a question


class Searching(Job):
    """Asks about those sentences that can match at all, in a random order, so that what is known when it is stopped is
    a fair sample. ``looks`` is what was found so far; None where no sentence can match, or none was read yet.

    ``layer``, ``head`` and ``joined`` are those of ``Look``.
    """

    doing = "searching a corpus"

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
        super().__init__()
        self.corpus = corpus
        self.looks: Looks | None = None
        self.asked = model, query, key, layer, head, joined
        self.n_sentences = 0
        """How many can match."""
        self._engine = engine
        self._seconds = 0.0

    @property
    def n_read(self) -> int:
        return 0 if self.looks is None else self.looks.n_sentences

    @property
    def share(self) -> float:
        return self.n_read / self.n_sentences if self.n_sentences else 0.0

    @property
    def progress(self) -> str:
        said = f"{self.n_read:,} of {counted(self.n_sentences, 'sentence')} read"
        return f"{said}{time_left(self._seconds, self.share)}."

    @property
    def n_ended(self) -> int:
        """The page has something new to show at every quarter."""
        return int(4 * self.share)

    def steps(self) -> Generator[None, None, None]:
        model, query, key, layer, head, joined = self.asked
        numbers = may_match(self.corpus, query, key)
        self.n_sentences = len(numbers)
        yield
        for start in range(0, len(numbers), _AT_ONCE):
            sentences = self.corpus.take(numbers[start : start + _AT_ONCE])
            began = time.monotonic()
            with closing(self._engine.stream(Look(model, sentences, query, key, layer, head, joined))) as parts:
                for part in parts:
                    self._seconds += time.monotonic() - began
                    self.looks = part if self.looks is None else self.looks + part
                    yield
                    began = time.monotonic()
