"""The structural probe: a linear map under which squared distances between words are distances in the parse tree.

Hewitt & Manning 2019, "A Structural Probe for Finding Syntax in Word Representations" (NAACL): the distance probe
d_B(h_i, h_j)² = ‖B (h_i - h_j)‖², the depth probe ‖B h_i‖², how they are trained, and how they are scored.
``structural_study`` does so for all layers of a model.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from analysis.probing.classifier import moments, one_thread
from analysis.probing.features import ArrayVectors
from analysis.ranks import spearman
from model_zoo.types import BoolArray, DoubleArray, FloatArray, IntArray

Kind = Literal["distance", "depth"]

# Adam (Kingma & Ba 2015) from small random weights in batches of 20 sentences, as in the authors' program. There the
# rate falls to a tenth whenever the development loss does not; here it stays, and what is kept is a running mean of the
# weights of some 200 steps (Polyak & Juditsky 1992), whose loss falls smoothly until the probe starts to overfit. A
# rate that is halved at every rise, which is often noise, ends far too early: 0.96 instead of 0.85 at layer 1 of
# embedded/bilstm, 0.83 instead of 0.78 at layer 6 of embedded/bert (development loss of distances, 400 templates).
BATCH: Final = 20
RATE: Final = 0.005
MOMENTS: Final = (0.9, 0.999)
AVERAGED: Final = 0.995  # of the mean is kept at each step; less in the first ones, or the start would weigh too much
START: Final = 0.05
EPOCHS: Final = 1000
# Without a lower development loss for so many epochs, and so many steps, training ends. Few sentences make short
# epochs, and the loss may stand still, or even rise, for a hundred steps before B has turned to the trees.
PATIENCE: Final = 8
PATIENCE_STEPS: Final = 200
LEAST_GAIN: Final = 1e-4  # by which a development loss must be lower to count

# Rows of B unless said otherwise. As many rows as columns take three times as long at width 384, and gave the same
# UUAS within the intervals.
RANK: Final = 64

SPEARMAN_LENGTHS: Final = range(5, 51)  # words of the sentences that Spearman correlations are averaged over


@dataclass(frozen=True, slots=True)
class StructuralProbe:
    """``projection`` is B, float32 (rank, width), on vectors as the model gives them; it was trained for ``epochs``,
    and ``development_loss`` is its lowest.
    """

    kind: Kind
    projection: FloatArray = field(repr=False)
    epochs: int
    development_loss: float

    def distances(self, vectors: FloatArray) -> DoubleArray:
        """‖B (h_i - h_j)‖² of each pair of the vectors (n, width), (n, n)."""
        seen = vectors @ self.projection.T
        return squared_distances(seen.astype(np.float64))

    def depths(self, vectors: FloatArray) -> DoubleArray:
        """‖B h_i‖² of each of the vectors (n, width), (n,)."""
        depths: DoubleArray = np.square((vectors @ self.projection.T).astype(np.float64)).sum(axis=1)
        return depths


def squared_distances(points: DoubleArray) -> DoubleArray:
    """‖x_i - x_j‖² of each pair of the points (n, dimensions), (n, n): symmetric, with zeros on the diagonal."""
    centred = points - points.mean(axis=0)  # far from the origin the difference of large squares would round
    products = centred @ centred.T
    squares = np.diag(products)
    distances: DoubleArray = np.maximum(squares[:, None] + squares - 2 * products, 0)
    np.fill_diagonal(distances, 0)
    return distances


@dataclass(frozen=True, slots=True)
class Sentences:
    """What a probe is trained on: ``vectors`` float32 (words, width) of all sentences, the rows of each sentence's
    words in ``places``, and what to reach, ``targets``: distances (n, n) or depths (n,), one per sentence.
    """

    vectors: FloatArray = field(repr=False)
    places: Sequence[IntArray] = field(repr=False)
    targets: Sequence[IntArray] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Sentences side by side: word ``rows[w]`` is word ``at[w]`` of sentence ``of[w]``; ``target`` and ``weight`` are
    (sentences, longest, longest) or (sentences, longest), the weight 0 beyond a sentence's end.
    """

    rows: IntArray
    of: IntArray
    at: IntArray
    target: FloatArray
    weight: FloatArray


def _batch(data: Sentences, chosen: IntArray) -> _Batch:
    lengths = [len(data.places[i]) for i in chosen]
    longest = max(lengths)
    shape = (len(chosen), *(longest,) * data.targets[chosen[0]].ndim)
    target, weight = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.float32)
    for place, (i, n) in enumerate(zip(chosen, lengths, strict=True)):
        inside = (slice(n),) * data.targets[i].ndim
        target[place][inside] = data.targets[i]
        weight[place][inside] = 1 / data.targets[i].size / len(chosen)
    return _Batch(
        rows=np.concatenate([data.places[i] for i in chosen]),
        of=np.repeat(np.arange(len(chosen)), lengths),
        at=np.concatenate([np.arange(n) for n in lengths]),
        target=target,
        weight=weight,
    )


def loss_and_gradient(projection: FloatArray, data: Sentences) -> tuple[float, FloatArray]:
    """The loss of B (rank, width) on the sentences, and its derivative by B.

    The paper's loss, section 2.2: 1/|s|² Σ_ij |d_T(i, j) - d_B(h_i, h_j)²| of each sentence s, or 1/|s| Σ_i of the
    depths, averaged over the sentences.
    """
    everything = _batch(data, np.arange(len(data.places)))
    return _loss_and_gradient(projection, data.vectors, everything)


def _loss_and_gradient(projection: FloatArray, vectors: FloatArray, batch: _Batch) -> tuple[float, FloatArray]:
    words = vectors[batch.rows]
    error, seen = _errors(projection, words, batch)
    loss = float((np.abs(error) * batch.weight).sum(dtype=np.float64))
    pull = np.sign(error) * batch.weight
    if batch.target.ndim == 2:  # d ‖z‖² / dz = 2 z
        by_seen = 2 * pull[..., None] * seen
    else:  # Σ_j of d ‖z_i - z_j‖² / dz_i = 2 (z_i - z_j), and each pair twice
        by_seen = 4 * (pull.sum(axis=2)[..., None] * seen - pull @ seen)
    gradient: FloatArray = (by_seen[batch.of, batch.at].T @ words).astype(projection.dtype, copy=False)
    return loss, gradient


def _loss(projection: FloatArray, vectors: FloatArray, batch: _Batch) -> float:
    error, _ = _errors(projection, vectors[batch.rows], batch)
    return float((np.abs(error) * batch.weight).sum(dtype=np.float64))


def _errors(projection: FloatArray, words: FloatArray, batch: _Batch) -> tuple[FloatArray, FloatArray]:
    """What is predicted minus the target, and the projected words (sentences, longest, rank)."""
    seen = np.zeros((*batch.target.shape[:2], len(projection)), dtype=words.dtype)
    seen[batch.of, batch.at] = words @ projection.T
    if batch.target.ndim == 2:
        return np.square(seen).sum(axis=2) - batch.target, seen
    products = seen @ seen.transpose(0, 2, 1)
    squares = np.einsum("bii->bi", products)
    return squares[:, :, None] + squares[:, None] - 2 * products - batch.target, seen


def training(
    train: Sentences, development: Sentences, *, rank: int | None = RANK, seed: int = 0
) -> Generator[float, None, StructuralProbe]:
    """Train a probe; yields the development loss of its mean weights after each epoch, returns the probe at the lowest.

    The kind follows from the targets: (n, n) are distances, (n,) depths. ``rank`` None is as many rows of B as the
    vectors are wide. Features are divided by their standard deviation in training, and for distances centred, which
    changes what training does and not what B can reach: the probe returned is for vectors as they are.
    """
    kind: Kind = "distance" if train.targets[0].ndim == 2 else "depth"
    width = train.vectors.shape[1]
    rows = np.concatenate(train.places)
    mean, scale = moments(ArrayVectors(train.vectors), rows)
    scale = scale * np.float32(np.sqrt(width))
    shift = mean if kind == "distance" else np.zeros_like(mean)
    # Both may be parts of one array, which then need not be standardized twice.
    same = development.vectors is train.vectors
    vectors = (train.vectors - shift) / scale
    held_out = vectors if same else (development.vectors - shift) / scale
    rng = np.random.default_rng(seed)
    b = rng.uniform(-START, START, size=(min(rank or width, width), width)).astype(np.float32)
    batches, judges = _batches(train), _batches(development)
    sizes = np.array([len(batch.target) for batch in judges])
    first, second = np.zeros_like(b), np.zeros_like(b)
    averaged = b.copy()
    best, best_loss, steps, waited, epochs = b.copy(), np.inf, 0, 0, 0
    patience = max(PATIENCE, PATIENCE_STEPS / len(batches))
    while epochs < EPOCHS and waited < patience:
        with one_thread():
            for i in rng.permutation(len(batches)):
                _, gradient = _loss_and_gradient(b, vectors, batches[i])
                steps += 1
                # In place: at full rank B is as large as a batch, and copies of it took half the time.
                first += (1 - MOMENTS[0]) * (gradient - first)
                np.square(gradient, out=gradient)
                gradient -= second
                second += (1 - MOMENTS[1]) * gradient
                np.sqrt(second, out=gradient)
                gradient += 1e-8
                np.divide(first, gradient, out=gradient)
                gradient *= RATE * np.sqrt(1 - MOMENTS[1] ** steps) / (1 - MOMENTS[0] ** steps)
                b -= gradient
                np.subtract(b, averaged, out=gradient)
                gradient *= 1 - min(AVERAGED, (1 + steps) / (10 + steps))
                averaged += gradient
            loss = float(np.average([_loss(averaged, held_out, batch) for batch in judges], weights=sizes))
        epochs += 1
        if loss < best_loss - LEAST_GAIN:
            best, best_loss, waited = averaged.copy(), loss, 0
        else:
            waited += 1
        yield loss
    return StructuralProbe(kind, (best / scale).astype(np.float32), epochs, best_loss)


def _batches(data: Sentences) -> list[_Batch]:
    """All sentences, about equally long ones together: padding would cost most of the time otherwise."""
    order = np.argsort([len(rows) for rows in data.places], kind="stable")
    return [_batch(data, order[start : start + BATCH]) for start in range(0, len(order), BATCH)]


def spanning_tree(distances: DoubleArray, counted: BoolArray) -> IntArray:
    """The edges of the minimum spanning tree over the counted words, (counted - 1, 2), the lower place first.

    ``distances`` (n, n), ``counted`` (n,): the paper leaves punctuation out here.
    """
    from scipy.sparse.csgraph import minimum_spanning_tree

    places = np.flatnonzero(counted)
    # The same constant on every edge changes no tree, and a distance of 0 would be no edge to scipy.
    among = 1.0 + distances[np.ix_(places, places)]
    edges = np.column_stack(minimum_spanning_tree(np.triu(among, k=1)).nonzero())
    pairs: IntArray = np.sort(places[edges].reshape(-1, 2), axis=1).astype(np.int64)
    return pairs


def edges_found(gold: IntArray, recovered: IntArray) -> BoolArray:
    """Which of the gold edges (g, 2) are among the found ones (f, 2), whatever their direction. The mean over all edges
    of all sentences is the undirected unlabelled attachment score, UUAS.
    """
    known = {(int(min(edge)), int(max(edge))) for edge in recovered}
    return np.array([(int(min(edge)), int(max(edge))) in known for edge in gold], dtype=np.bool_)


def ordering(predicted: DoubleArray, gold: IntArray | DoubleArray) -> DoubleArray:
    """Spearman's rank correlation of each row of two matrices (rows, n), (rows,).

    NaN where the gold row is the same throughout, so that there is no order to find; 0 where only the prediction is.
    """
    return np.where(np.ptp(gold, axis=1) == 0, np.nan, np.nan_to_num(spearman(predicted, gold)))


def distance_spearman(predicted: DoubleArray, gold: IntArray) -> DoubleArray:
    """For each word of a sentence, Spearman's correlation of predicted and true distances to all *other* words, (n,).

    Both are (n, n). The authors' program counts each word's distance to itself as well, 0 in both, which alone gives
    random distances an expected 3 / (n + 1): numbers from it are higher than these, most of all for short sentences.
    """
    n = len(gold)
    others = ~np.eye(n, dtype=bool)
    return ordering(predicted[others].reshape(n, n - 1), gold[others].reshape(n, n - 1))


def mean_over_lengths(values: Sequence[DoubleArray], lengths: IntArray) -> float | None:
    """The mean of the values of all sentences of a length, averaged over the lengths 5 to 50 that occur.

    ``values`` has an array for each sentence, in which NaN is ignored; ``lengths`` (sentences,) is in words.
    None where no sentence of such a length has a value.
    """
    sums, counts, kinds = _sums_by_length(values, lengths)
    if not len(kinds):
        return None
    weights = np.ones((1, len(sums)))
    return float(_macro(weights, sums, counts, kinds, lengths)[0])


def mean_over_lengths_interval(
    values: Sequence[DoubleArray], lengths: IntArray, *, draws: int, seed: int, level: float = 0.95
) -> tuple[float, float] | None:
    """Percentile bootstrap interval of ``mean_over_lengths``, drawing whole sentences with replacement."""
    sums, counts, kinds = _sums_by_length(values, lengths)
    if not len(kinds):
        return None
    usable = np.isin(lengths, kinds) & (counts > 0)
    sums, counts, lengths = sums[usable], counts[usable], lengths[usable]
    rng = np.random.default_rng(seed)
    n, means = len(sums), []
    for start in range(0, draws, 100):  # so that a large file's draws are not in memory all at once
        weights = rng.multinomial(n, np.full(n, 1 / n), size=min(100, draws - start)).astype(np.float64)
        means.append(_macro(weights, sums, counts, kinds, lengths))
    low, high = np.quantile(np.concatenate(means), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _sums_by_length(values: Sequence[DoubleArray], lengths: IntArray) -> tuple[DoubleArray, DoubleArray, IntArray]:
    """Sum and number of each sentence's values, and the lengths that have any."""
    sums = np.array([np.nansum(row) for row in values], dtype=np.float64)
    counts = np.array([np.isfinite(row).sum() for row in values], dtype=np.float64)
    inside = (lengths >= SPEARMAN_LENGTHS.start) & (lengths < SPEARMAN_LENGTHS.stop) & (counts > 0)
    return sums, counts, np.unique(lengths[inside])


def _macro(
    weights: DoubleArray, sums: DoubleArray, counts: DoubleArray, kinds: IntArray, lengths: IntArray
) -> DoubleArray:
    """For each row of weights (draws, sentences) the mean over the lengths drawn of the mean at each."""
    of_kind = (lengths[:, None] == kinds).astype(np.float64)
    total, number = weights @ (sums[:, None] * of_kind), weights @ (counts[:, None] * of_kind)
    drawn = number > 0
    means = np.divide(total, number, out=np.zeros_like(total), where=drawn)
    means_of_draws: DoubleArray = means.sum(axis=1) / drawn.sum(axis=1)
    return means_of_draws
