"""A loaded model run over the sentences of a corpus, and its heads measured batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Final

from analysis.corpus.head_statistics import BatchMeasurer, HeadSetAverager, HeadSets, HeadStatistics, Layer
from analysis.corpus.relations import Cases
from analysis.corpus.sentences import Sentence
from model_zoo.capture import as_array
from model_zoo.loading import LoadedModel
from model_zoo.running import Batch, attend_batches

_SIDE_BY_SIDE: Final = 2
"""Layers measured at a time."""


def survey(loaded: LoadedModel, sentences: Sequence[Sentence]) -> Iterator[HeadStatistics]:
    """The survey of each batch as it is done."""
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as threads:
        for batch, of_batch in batches(loaded, sentences):
            measuring = BatchMeasurer(of_batch, batch.encodings)
            yield measuring.statistics(list(_layers(batch, measuring, threads)))


def _layers(batch: Batch, measuring: BatchMeasurer, threads: Executor) -> Iterator[Layer]:
    """The layers in their order, as many measured side by side as there are threads: what numpy does of one is done on
    one core. No more than these are in memory.
    """
    for start in range(0, batch.n_layers, _SIDE_BY_SIDE):
        some = range(start, min(start + _SIDE_BY_SIDE, batch.n_layers))
        weights = [as_array(batch.weights(layer)) for layer in some]
        yield from threads.map(measuring.layer, weights, [batch.value_norms(layer) for layer in some])


def average(
    loaded: LoadedModel, sentences: Sequence[Sentence], tried: Sequence[HeadSets]
) -> Iterator[tuple[Cases, ...]]:
    """The cases of each batch as it is done, a relation each."""
    layers = sorted({layer for one in tried for group in one.groups for layer, _ in group})
    for batch, of_batch in batches(loaded, sentences):
        averaging = HeadSetAverager(of_batch, batch.encodings, tried)
        for layer in layers:
            averaging.layer(layer, as_array(batch.weights(layer)))
        yield averaging.cases()


def batches(loaded: LoadedModel, sentences: Sequence[Sentence]) -> Iterator[tuple[Batch, list[Sentence]]]:
    """Padded passes over sentences, shortest first, each with its own."""
    encodings = [loaded.encode(sentence.text) for sentence in sentences]
    for batch in attend_batches(loaded, encodings):
        yield batch, [sentences[place] for place in batch.places]
