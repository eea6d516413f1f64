"""Questions about a whole corpus: all heads of a model measured (``measure_heads``), or sets of heads scored on its
relations (``score_head_sets``).

Both ask about a part of the corpus at a time, about as many at once as there are replicas to answer.
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
from evidence.questions.measure_heads import AverageHeads, MeasureHeads
from model_zoo.engine_methods import EngineMethods
from model_zoo.question import Streamed

Piece = TypeVar("Piece")

AT_ONCE = 512
"""Sentences in one question."""


def measure_heads(engine: EngineMethods, model: str, corpus: Corpus) -> Generator[HeadStatistics, None, None]:
    """The measures of all heads over the sentences so far, batch after batch; the last is that of the whole corpus.

    Close it to stop. Raises what ``MeasureHeads`` does.
    """
    so_far: HeadStatistics | None = None
    with closing(stream_in_parts(engine, corpus, lambda sentences: MeasureHeads(model, sentences))) as parts:
        for part in parts:
            so_far = part if so_far is None else total([so_far, part])
            yield so_far.closed() if so_far.n_texts == len(corpus) else so_far


def score_head_sets(
    engine: EngineMethods, model: str, corpus: Corpus, tried: Sequence[HeadSets]
) -> Generator[tuple[Cases, ...], None, None]:
    """The cases of all sentences so far, one ``Cases`` per relation, and which of its sets of heads are right."""
    so_far: tuple[Cases, ...] | None = None
    with closing(stream_in_parts(engine, corpus, lambda some: AverageHeads(model, some, tuple(tried)))) as parts:
        for part in parts:
            so_far = part if so_far is None else tuple(map(Cases.joined, zip(so_far, part, strict=True)))
            yield so_far


def stream_in_parts(
    engine: EngineMethods, corpus: Corpus, ask: Callable[[tuple[Sentence, ...]], Streamed[Piece, Piece]]
) -> Generator[Piece, None, None]:
    """The answers about a corpus, part by part as batches are done; on a cluster one question per replica at a time,
    then question by question.
    """
    questions: Iterator[Streamed[Piece, Piece]] = (
        ask(corpus.take(range(start, min(start + AT_ONCE, len(corpus))))) for start in range(0, len(corpus), AT_ONCE)
    )
    n_replicas = engine.n_replicas
    if n_replicas < 2:
        for question in questions:
            with closing(engine.stream(question)) as parts:
                yield from parts
        return
    with ThreadPoolExecutor(n_replicas) as threads:
        waiting = {threads.submit(engine.ask, question) for question in islice(questions, n_replicas)}
        while waiting:
            done = next(as_completed(waiting))
            waiting.discard(done)
            waiting |= {threads.submit(engine.ask, question) for question in islice(questions, 1)}
            yield done.result()
