"""A loaded model run over the sentences of a corpus, and its heads measured batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import torch

from analysis.corpus.relations import Cases
from analysis.corpus.sentences import Sentence
from analysis.corpus.survey import Averaging, Layer, Measuring, Survey, Together
from model_zoo.capture import as_array
from model_zoo.loading import LoadedModel
from model_zoo.running import Batch, attend_batches


def survey(loaded: LoadedModel, sentences: Sequence[Sentence]) -> Iterator[Survey]:
    """The survey of each batch as it is done. Its layers are measured side by side: what numpy does here is done on one
    core.
    """
    with ThreadPoolExecutor(torch.get_num_threads()) as threads:
        for batch, of_batch in batches(loaded, sentences):
            measuring = Measuring(of_batch, batch.encodings)
            layers = threads.map(partial(_measured, measuring, batch), range(batch.n_layers))
            yield measuring.survey(list(layers))


def _measured(measuring: Measuring, batch: Batch, layer: int) -> Layer:
    return measuring.layer(as_array(batch.weights(layer)), batch.value_norms(layer))


def average(
    loaded: LoadedModel, sentences: Sequence[Sentence], tried: Sequence[Together]
) -> Iterator[tuple[Cases, ...]]:
    """The cases of each batch as it is done, a relation each."""
    layers = sorted({layer for one in tried for group in one.groups for layer, _ in group})
    for batch, of_batch in batches(loaded, sentences):
        averaging = Averaging(of_batch, batch.encodings, tried)
        for layer in layers:
            averaging.layer(layer, as_array(batch.weights(layer)))
        yield averaging.cases()


def batches(loaded: LoadedModel, sentences: Sequence[Sentence]) -> Iterator[tuple[Batch, list[Sentence]]]:
    """Padded passes over sentences, shortest first, each with its own."""
    encodings = [loaded.encode(sentence.text) for sentence in sentences]
    for batch in attend_batches(loaded, encodings):
        yield batch, [sentences[place] for place in batch.places]
