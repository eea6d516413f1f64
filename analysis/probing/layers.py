"""At which depth a task is solved, as one number: expected layer, centre of gravity (Tenney et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.intervals import around, left_out
from model_zoo.types import BoolArray, DoubleArray, IntArray

HALVINGS = 200  # of the test texts: with others the ends of a built-in task's interval move by about 0.05


@dataclass(frozen=True, slots=True)
class Depth:
    """A number of layers, the embeddings being 0, with its 95 % interval over held-out texts (jackknife).

    It is not bound to the layers there are: where a task is solved in layer 1, chance is as likely to put it below 1 as
    above.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ByText:
    """Of each of the texts that items are from: how many items each layer gets ``right`` (texts, layers + 1), and how
    many there are, ``size`` (texts,).
    """

    right: DoubleArray = field(repr=False)
    size: DoubleArray = field(repr=False)


def accuracy_by_text(correct: Sequence[BoolArray], group: IntArray) -> ByText:
    """Counts items text by text; ``correct`` tells for each layer which it gets right, ``group`` is each one's text."""
    _, place = np.unique(group, return_inverse=True)
    right = [np.bincount(place, weights=of_layer.astype(np.float64)) for of_layer in correct]
    return ByText(np.stack(right, axis=1), np.bincount(place).astype(np.float64))


def expected_layer(development: ByText, test: ByText, seed: int) -> Depth | None:
    """Σ l Δ(l) / Σ Δ(l) over l = 1 .. L with Δ(l) = S(l) - S(l - 1); None where the layers gain nothing on layer 0.

    In Tenney et al. S(l) is the score of a probe that sees all layers up to l; here it is that of the best single layer
    up to l. The highest of several noisy scores is too high, so which layer is best is not read off the scores
    themselves: one half of the test texts, together with all development texts, says which layers set a record, the
    other half what these score, and the other way round, over ``HALVINGS`` halvings. What noise seems to gain is then 0
    in the mean, and may be less than 0. At least four test texts.
    """
    n_layers, n_development, n_test = test.right.shape[1], len(development.size), len(test.size)
    # Sums over all texts, then without each of them in turn.
    chosen_by = development.right.sum(axis=0) - _padded(development.right, 1, n_test)
    scores = np.zeros((1 + n_development + n_test, n_layers))
    rng = np.random.default_rng(seed)
    for _ in range(HALVINGS):
        half = rng.permutation(n_test) < n_test // 2
        for here in (half, ~half):
            choosing, right = (
                test.right[part].sum(axis=0) - _padded(np.where(part[:, None], test.right, 0), 1 + n_development, 0)
                for part in (here, ~here)
            )
            size = test.size[~here].sum() - _padded(np.where(here, 0, test.size)[:, None], 1 + n_development, 0)
            scores += expected_layer_of_records(chosen_by + choosing, right / size) / (2 * HALVINGS)
    return _depth(weighted_by_gain(scores))


def expected_layer_of_records(choosing: DoubleArray, scores: DoubleArray) -> DoubleArray:
    """The score of the layer with the highest ``choosing`` so far, of equals the lowest; all (rows, layers + 1)."""
    highest = np.maximum.accumulate(choosing, axis=1)
    record = np.ones(choosing.shape, dtype=bool)
    record[:, 1:] = choosing[:, 1:] > highest[:, :-1]
    holder = np.maximum.accumulate(np.where(record, np.arange(choosing.shape[1]), 0), axis=1)
    return np.take_along_axis(scores, holder, axis=1)


def weighted_by_gain(scores: DoubleArray) -> DoubleArray:
    """Σ l Δ(l) / Σ Δ(l) of each row of scores (rows, layers + 1); nan where Σ Δ(l) is not above 0."""
    return _mean_place(np.diff(scores, axis=1), 1)


def centre_of_gravity(test: ByText, majority: DoubleArray) -> Depth | None:
    """Σ l w(l) / Σ w(l) over l = 0 .. L with w(l) = max(score(l) - majority, 0); None where all are 0.

    ``majority`` (texts,) tells how many items of each text always giving the same label gets right. Tenney et al. take
    the learned mixing weights of the layers for w. Here each layer has a probe of its own, and its accuracy above the
    majority takes their place; the embeddings count as layer 0.
    """
    above = test.right - majority[:, None]
    size = test.size.sum() - _padded(test.size[:, None], 1, 0)
    return _depth(_mean_place(np.maximum((above.sum(axis=0) - _padded(above, 1, 0)) / size, 0), 0))


def _padded(values: DoubleArray, before: int, after: int) -> DoubleArray:
    """The rows with so many rows of zeros around them."""
    return np.pad(values, ((before, after), (0, 0)))


def _mean_place(weights: DoubleArray, first: int) -> DoubleArray:
    """The mean of the columns' numbers, counted from ``first``, by the weights of each row."""
    total = weights.sum(axis=1)
    places = np.arange(first, first + weights.shape[1])
    return np.divide(weights @ places, total, out=np.full(len(weights), np.nan), where=total > 0)


def _depth(values: DoubleArray) -> Depth | None:
    """From the value for all texts and those without each of them."""
    value, *without = values
    return None if np.isnan(value) else Depth(float(value), *around(float(value), [left_out(without)]))
