"""What every head does in some sentences of a corpus, and how often sets of heads together find the partner of a
relation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from analysis.arrays import Array
from analysis.corpus.head_statistics import BatchMeasurer, HeadSetAverager, HeadSets, HeadStatistics, Layer, total
from analysis.corpus.relations import Cases
from analysis.corpus.sentences import Sentence
from model_zoo.allocator import give_back
from model_zoo.question import LoadedModel, Streamed
from reading.sentences import plain_words

if TYPE_CHECKING:
    import torch

    from model_zoo.running import Batch

_SIDE_BY_SIDE: Final = 2
"""Layers measured at a time."""


@dataclass(frozen=True, slots=True)
class MeasureHeads(Streamed[HeadStatistics, HeadStatistics]):
    """Run sentences in batches of similar length and measure every head: where its attention goes, with how much it
    carries, how often it finds the partner of each relation, the tree that it spans, and its strongest examples.

    Never more than a batch is held. The answers to parts of a corpus add up to that of the whole, in any order.
    Raises NotSupported for models without attention.
    """

    model: str
    sentences: tuple[Sentence, ...]

    remembered = False  # who asks adds the parts up; of a corpus they would push everything else out of memory

    def parts(self, loaded: LoadedModel) -> Iterator[HeadStatistics]:
        with ThreadPoolExecutor(_SIDE_BY_SIDE) as threads:
            for batch, sentences in _batches(loaded, self.sentences):
                measuring = BatchMeasurer(sentences, batch.encodings)
                statistics = measuring.statistics(list(_layers(batch, measuring, threads)))
                del batch, measuring  # here and below: it is not to be there beside the next
                yield statistics

    def combine(self, parts: Sequence[HeadStatistics]) -> HeadStatistics:
        return total(parts)

    @classmethod
    def example(cls, model: str) -> Self:
        text = "The cat sat on a mat."
        spans = tuple(plain_words(text))
        nothing = ("_",) * len(spans)
        return cls(model, (Sentence(0, text, spans, nothing, nothing, (-2,) * len(spans)),))


@dataclass(frozen=True, slots=True)
class AverageHeads(Streamed[tuple[Cases, ...], tuple[Cases, ...]]):
    """The cases of some relations in some sentences, and which of the sets of heads ``tried`` on each are right: a set
    is where the mean of its heads' attention is largest at a partner (Limisiewicz et al. 2020).

    Raises as ``MeasureHeads`` does.
    """

    model: str
    sentences: tuple[Sentence, ...]
    tried: tuple[HeadSets, ...]

    remembered = False  # as in MeasureHeads

    def parts(self, loaded: LoadedModel) -> Iterator[tuple[Cases, ...]]:
        layers = sorted({layer for sets in self.tried for group in sets.groups for layer, _ in group})
        for batch, sentences in _batches(loaded, self.sentences):
            averaging = HeadSetAverager(sentences, batch.encodings, self.tried)
            for layer in layers:
                averaging.layer(layer, array_of(batch.weights(layer)))
            cases = averaging.cases()
            del batch, averaging
            yield cases

    def combine(self, parts: Sequence[tuple[Cases, ...]]) -> tuple[Cases, ...]:
        return tuple(map(Cases.joined, zip(*parts, strict=True)))

    @classmethod
    def example(cls, model: str) -> Self:
        return cls(model, MeasureHeads.example(model).sentences, (HeadSets("nsubj", "up", (((0, 0),),)),))


def _layers(batch: Batch, measuring: BatchMeasurer, threads: Executor) -> Iterator[Layer]:
    """The layers in their order, as many measured side by side as there are threads: what numpy does of one is done on
    one core. No more than these are in memory.
    """
    for start in range(0, batch.n_layers, _SIDE_BY_SIDE):
        some = range(start, min(start + _SIDE_BY_SIDE, batch.n_layers))
        weights = [array_of(batch.weights(layer)) for layer in some]
        norms = [None if norm is None else array_of(norm) for norm in map(batch.value_norms, some)]
        on_cores = bool(weights) and isinstance(weights[0], np.ndarray)
        yield from (threads.map if on_cores else map)(measuring.layer, weights, norms)


def array_of(tensor: torch.Tensor) -> Array:
    """What attention is measured as: numpy's, whose small products are faster, on the CPU, else the tensor."""
    return tensor.numpy() if tensor.device.type == "cpu" else tensor


def _batches(loaded: LoadedModel, sentences: Sequence[Sentence]) -> Iterator[tuple[Batch, list[Sentence]]]:
    """Padded passes over sentences, shortest first, each with its own."""
    from model_zoo.running import attend_batches

    for batch in attend_batches(loaded, [loaded.encode(sentence.text) for sentence in sentences]):
        of_batch = [sentences[place] for place in batch.places]
        yield batch, of_batch
        del batch
    give_back()  # batches of all sizes leave gaps, which would add up from question to question
