"""Which heads look there: every head of a model by one share of its attention, as an answer to one question.

From one word to another: sum over the tokens of the word looked at, mean over those of the word that looks (Clark et
al. 2019). Or the mean over a text of one of the shares of ``head_measures``: on the token before, on the word itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.head_measures import Measured
from analysis.heads import HeadTable
from analysis.words import Unit, merge, word_units
from model_zoo.types import AttentionRun, BoolArray, Encoding, FloatArray, IntArray, Shows

_LOOKED_THROUGH = 24  # tokens; a pair worth seeing stands at the beginning of a long text, where one sees it


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(Shows):
    """A share of attention in every head of a model, one entry per head in every array, in the model's order.

    ``layer`` and ``head`` count from 0. ``share`` and ``even`` are float64 from 0 to 1: what the head gives, and what a
    head of its layer gives that spreads its attention evenly over all that may be seen there; nan where a text has
    nothing to measure it on.
    """

    layer: IntArray = field(repr=False)
    head: IntArray = field(repr=False)
    share: Measured
    even: Measured

    def __len__(self) -> int:
        return len(self.share)

    @property
    def defined(self) -> bool:
        """Whether there is anything to look at: a place that exists, and that some head may see."""
        return bool((np.nan_to_num(self.even) > 0).any())

    def best(self, n: int) -> IntArray:
        """The places of the n heads with the largest shares, largest first; of equal ones the earlier first."""
        order: IntArray = np.argsort(-np.nan_to_num(self.share, nan=-1), kind="stable")[:n]
        return order

    def above(self, share: float) -> int:
        """How many heads give more than this."""
        return int((self.share > share).sum())

    def by_layer(self) -> FloatArray:
        """The shares as float32 (layers, heads of the widest layer); nan for heads that a layer does not have."""
        values = np.full((self.layer.max() + 1, self.head.max() + 1), np.nan, dtype=np.float32)
        values[self.layer, self.head] = self.share
        return values

    def to_frame(self) -> pd.DataFrame:
        """One row per head, largest share first: layer, head (from 0), share, even."""
        rows = self.best(len(self))
        columns = {"layer": self.layer, "head": self.head, "share": self.share, "even": self.even}
        return pd.DataFrame({name: values[rows] for name, values in columns.items()})


def rank_for_words(run: AttentionRun, query: Unit, key: Unit) -> Ranking:
    """How much of its attention one word gives another in every head.

    ``query`` is a word of ``run.encoding``, ``key`` of ``run.key_encoding``. Only the rows of ``query`` are computed. A
    key to which no head of a layer gives any weight counts as hidden, as in ``heads.head_table``.
    """
    layers, heads, shares, even = [], [], [], []
    for layer in range(run.n_layers):
        rows = run.layer(layer, slice(query.start, query.stop))  # (heads, queries, m)
        of_layer = rows[..., key.start : key.stop].sum(axis=-1, dtype=np.float64).mean(axis=-1)
        visible = np.any(rows > 0, axis=0)
        spread = visible[:, key.start : key.stop].sum(axis=-1) / np.maximum(visible.sum(axis=-1), 1)
        layers.append(np.full(len(rows), layer))
        heads.append(np.arange(len(rows)))
        shares.append(of_layer)
        even.append(np.full(len(rows), spread.mean()))
    return Ranking(
        layer=np.concatenate(layers),
        head=np.concatenate(heads),
        share=np.minimum(np.concatenate(shares), 1),  # a sum of float32 can be a little above
        even=np.concatenate(even),
    )


def rank_by_share(table: HeadTable, share: str) -> Ranking:
    """The heads of a table by one of the shares of ``head_measures.SHARES``."""
    return Ranking(
        layer=table.layer,
        head=table.head,
        share=getattr(table.measures, share),
        even=getattr(table.uniform, share),
    )


def sees_later(run: AttentionRun, query: Unit) -> bool:
    """Whether a word of a text gives anything that comes after it any attention, in any head."""
    rows = slice(query.start, query.stop)
    return any(bool(run.layer(layer, rows)[..., query.stop :].any()) for layer in range(run.n_layers))


def pair_worth_seeing(run: AttentionRun) -> tuple[int, int]:
    """Two words between which some head looks: (which looks, which is looked at), as places among ``word_units``.

    Of all pairs of different words that are not neighbours, the one with the largest weight in any head; without such
    a pair neighbours count too, then any two units. A long text is looked through at its beginning.
    """
    queries, keys = _beginning(run.encoding), _beginning(run.key_encoding)
    largest = np.zeros((len(queries), len(keys)), dtype=np.float32)
    for layer in range(run.n_layers):
        rows = run.layer(layer, slice(0, queries[-1].stop))[..., : keys[-1].stop]
        np.maximum(largest, merge(rows, queries, keys).max(axis=0, initial=0), out=largest)
    different = np.not_equal.outer(_spelled(queries), _spelled(keys))
    words = np.logical_and.outer(_are_words(queries), _are_words(keys)) & different
    distance = np.abs(np.subtract.outer(np.arange(len(queries)), np.arange(len(keys))))
    apart = (distance > 1) | (run.stack == "cross")  # places in two texts are not near each other
    for allowed in (words & apart, words, np.ones_like(words)):
        strengths = np.where(allowed, largest, 0)
        if strengths.any():
            query, key = np.unravel_index(int(strengths.argmax()), strengths.shape)
            return int(query), int(key)
    return 0, 0


def _beginning(encoding: Encoding) -> tuple[Unit, ...]:
    """The first words of a text, at least one."""
    units = word_units(encoding)
    return tuple(unit for unit in units if unit.stop <= _LOOKED_THROUGH) or units[:1]


def _are_words(units: tuple[Unit, ...]) -> BoolArray:
    """Tells which tokens are written with letters or digits; punctuation and special tokens are not."""
    return np.array([not unit.special and any(map(str.isalnum, unit.label)) for unit in units])


def _spelled(units: tuple[Unit, ...]) -> npt.NDArray[np.str_]:
    return np.array([unit.label.casefold() for unit in units])
