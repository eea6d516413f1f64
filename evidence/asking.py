"""A corpus asked about: all heads of a model (``survey``), or sets of heads on its relations (``try_together``).

Both ask a part of the corpus at a time, as many at once as there are replicas to answer.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from itertools import islice
from typing import TypeVar

from analysis.corpus.head_statistics import HeadSets, HeadStatistics, total
from analysis.corpus.relations import Cases
from analysis.corpus.sentences import Corpus, Sentence
from evidence.questions.average_heads import AverageHeads
from evidence.questions.survey_heads import SurveyHeads
from model_zoo.engine_interface import EngineInterface
from model_zoo.question import Streamed

Piece = TypeVar("Piece")

AT_ONCE = 512
"""Sentences in one question."""


def survey(engine: EngineInterface, model: str, corpus: Corpus) -> Generator[HeadStatistics, None, None]:
    """The survey of all sentences so far, batch after batch; the last is that of the whole corpus.

    Close it to stop. Raises what ``SurveyHeads`` does.
    """
    so_far: HeadStatistics | None = None
    with closing(pieces(engine, corpus, lambda sentences: SurveyHeads(model, sentences))) as found:
        for part in found:
            so_far = part if so_far is None else total([so_far, part])
            yield so_far.closed()


def try_together(
    engine: EngineInterface, model: str, corpus: Corpus, tried: Sequence[HeadSets]
) -> Generator[tuple[Cases, ...], None, None]:
    """The cases of all sentences so far, a relation each, and which of its sets of heads are right."""
    so_far: tuple[Cases, ...] | None = None
    with closing(pieces(engine, corpus, lambda sentences: AverageHeads(model, sentences, tuple(tried)))) as found:
        for part in found:
            so_far = part if so_far is None else tuple(map(Cases.joined, zip(so_far, part, strict=True)))
            yield so_far


def pieces(
    engine: EngineInterface, corpus: Corpus, ask: Callable[[tuple[Sentence, ...]], Streamed[Piece, Piece]]
) -> Generator[Piece, None, None]:
    """What is found in a corpus, part by part as batches are done; on a cluster a question for each replica at a time,
    then question by question.
    """
    questions = _questions(corpus, ask)
    n_replicas = engine.n_replicas
    if n_replicas < 2:
        for question in questions:
            with closing(engine.stream(question)) as found:
                yield from found
        return
    with ThreadPoolExecutor(n_replicas) as threads:
        waiting = {threads.submit(engine.ask, question) for question in islice(questions, n_replicas)}
        while waiting:
            done = next(as_completed(waiting))
            waiting.discard(done)
            for question in questions:
                waiting.add(threads.submit(engine.ask, question))
                break
            yield done.result()


def _questions(
    corpus: Corpus, ask: Callable[[tuple[Sentence, ...]], Streamed[Piece, Piece]]
) -> Iterator[Streamed[Piece, Piece]]:
    for start in range(0, len(corpus), AT_ONCE):
        yield ask(corpus.take(range(start, min(start + AT_ONCE, len(corpus)))))
