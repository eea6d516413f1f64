"""The probe itself: multinomial logistic regression on standardized vectors, its accuracy and its interval.

scikit-learn fits whatever fits into ``FIT_BYTES``; more examples are fitted by the same objective summed
block by block, so that memory does not grow with them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import ThreadpoolController

from analysis.probing.data import IntArray
from analysis.probing.features import Vectors
from model_zoo.types import FloatArray

DoubleArray = npt.NDArray[np.float64]

FIT_BYTES = 24 * 2**20
TOLERANCE = 1e-3  # largest component of the mean loss's gradient at which fitting stops
MAX_ITERATIONS = 500


_BLAS = ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Matrix products on one thread. A probe's are small: threads that wait for each other made fitting
    twenty
    times slower where something else was running."""
    with _BLAS.limit(limits=1, user_api="blas"):
        yield


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A fitted probe: log p = log softmax(weights · (x - mean) / scale + intercept) over ``n_classes``
    labels.

    ``seen`` are the numbers of the labels it was trained on; weights (seen, width), intercept (seen,). A
    label it has not seen has probability 0.
    """

    n_classes: int
    seen: IntArray
    weights: FloatArray
    intercept: FloatArray
    mean: FloatArray
    scale: FloatArray

    def log_probabilities(self, vectors: Vectors, rows: IntArray) -> FloatArray:
        """Natural log of each label's probability, float32 (rows, classes)."""
        result = np.full((len(rows), self.n_classes), -np.inf, dtype=np.float32)
        start = 0
        # (x - mean) / scale · w = x · (w / scale) - mean · (w / scale)
        weights = (self.weights / self.scale).T
        intercept = self.intercept - self.mean @ weights
        for block in vectors.blocks(rows):
            result[start : start + len(block), self.seen] = log_softmax(block @ weights + intercept, axis=1)
            start += len(block)
        return result


def fit(vectors: Vectors, rows: IntArray, labels: IntArray, n_classes: int, *, fit_bytes: int = FIT_BYTES) -> Probe:
    """Train on these rows with labels 0 .. n_classes - 1 (not all need occur), one a row.

    Minimizes Σ -log p + ‖weights‖² / 2, that is C = 1, by L-BFGS on features of mean 0 and variance 1 in the
    training rows. With two labels it is the binary case: one weight vector.
    """
    seen, codes = np.unique(labels, return_inverse=True)
    mean, scale = _moments(vectors, rows)
    if len(seen) == 1:  # nothing to tell apart
        weights, intercept = np.zeros((1, vectors.width), np.float32), np.zeros(1, np.float32)
    elif 4 * len(rows) * vectors.width <= fit_bytes:
        features = (np.concatenate(list(vectors.blocks(rows))) - mean) / scale
        model = LogisticRegression(C=1.0, solver="lbfgs", tol=TOLERANCE, max_iter=MAX_ITERATIONS)
        with warnings.catch_warnings():
            # Not reaching the tolerance means labels the vectors do not settle; accuracy is measured anyway.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(features, codes)
        weights, intercept = _both(model.coef_, model.intercept_)
    else:
        weights, intercept = _fit_blocks(vectors, rows, codes, len(seen), mean, scale)
    return Probe(
        n_classes=n_classes,
        seen=seen.astype(np.int64),
        weights=weights,
        intercept=intercept,
        mean=mean,
        scale=scale,
    )


def _both(weights: DoubleArray, intercept: DoubleArray) -> tuple[FloatArray, FloatArray]:
    """The binary case's one weight vector as two, of which the first is 0."""
    if len(weights) == 1:
        weights = np.concatenate([np.zeros_like(weights), weights])
        intercept = np.concatenate([np.zeros_like(intercept), intercept])
    return weights.astype(np.float32), intercept.astype(np.float32)


def _moments(vectors: Vectors, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation a feature, (width,); 1 for features that do not vary."""
    mean = np.zeros(vectors.width)
    for block in vectors.blocks(rows):
        mean += block.sum(axis=0, dtype=np.float64)
    mean /= len(rows)
    squares = np.zeros(vectors.width)
    for block in vectors.blocks(rows):
        squares += np.square(block - mean).sum(axis=0)
    scale = np.sqrt(squares / len(rows))
    # What rounding leaves of a constant feature must not be blown up to variance 1.
    constant = scale <= 1e-6 * np.maximum(np.abs(mean), 1e-6)
    scale[constant] = 1.0
    return mean.astype(np.float32), scale.astype(np.float32)


def _fit_blocks(
    vectors: Vectors, rows: IntArray, codes: IntArray, n_classes: int, mean: FloatArray, scale: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The same minimum as scikit-learn's, with loss and gradient summed over blocks of rows."""
    n_vectors = 1 if n_classes == 2 else n_classes
    width = vectors.width

    def loss(flat: DoubleArray) -> tuple[float, DoubleArray]:
        parameters = flat.reshape(n_vectors, width + 1)
        weights, intercept = parameters[:, :-1].astype(np.float32), parameters[:, -1].astype(np.float32)
        total = 0.5 * float(np.square(parameters[:, :-1]).sum())
        gradient = np.zeros_like(parameters)
        gradient[:, :-1] = parameters[:, :-1]
        start = 0
        for block in vectors.blocks(rows):
            features = (block - mean) / scale
            target = codes[start : start + len(block)]
            start += len(block)
            scores = features @ weights.T + intercept
            if n_vectors == 1:
                scores = np.concatenate([np.zeros_like(scores), scores], axis=1)
            log_p = log_softmax(scores, axis=1)
            total -= float(log_p[np.arange(len(target)), target].sum(dtype=np.float64))
            error = np.exp(log_p)
            error[np.arange(len(target)), target] -= 1
            error = error[:, -n_vectors:]
            gradient[:, :-1] += error.T @ features
            gradient[:, -1] += error.sum(axis=0)
        return total / len(rows), gradient.ravel() / len(rows)

    found = minimize(
        loss,
        np.zeros(n_vectors * (width + 1)),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MAX_ITERATIONS, "gtol": TOLERANCE, "ftol": 64 * np.finfo(float).eps},
    )
    parameters = found.x.reshape(n_vectors, width + 1)
    return _both(parameters[:, :-1], parameters[:, -1])


def bootstrap_interval(
    correct: npt.NDArray[np.bool_], group: IntArray, *, draws: int, seed: int, level: float = 0.95
) -> tuple[float, float]:
    """Percentile bootstrap interval of the accuracy (Efron 1979), drawing whole texts with replacement.

    ``correct`` and ``group`` have one entry an item; items of one text are drawn together, because the words
    of a sentence are not independent. An accuracy of 1 or 0 gives an interval of no width.
    """
    _, place = np.unique(group, return_inverse=True)
    size = np.bincount(place).astype(np.float64)
    right = np.bincount(place, weights=correct.astype(np.float64))
    rng = np.random.default_rng(seed)
    accuracy = np.empty(draws)
    for i in range(draws):
        drawn = rng.integers(len(size), size=len(size))
        accuracy[i] = right[drawn].sum() / size[drawn].sum()
    low, high = np.quantile(accuracy, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def majority_accuracy(train: IntArray, test: IntArray) -> float:
    """Accuracy of always giving the label most frequent in training (the smallest number among equals)."""
    return float((test == np.bincount(train).argmax()).mean())


def word_accuracy(train_words: list[str], train: IntArray, test_words: list[str], test: IntArray) -> float:
    """Accuracy of a judge that sees only the word: its most frequent label in training, without context.

    A word not met in training gets the label most frequent overall.
    """
    overall = int(np.bincount(train).argmax())
    by_word: dict[str, list[int]] = {}
    for word, label in zip(train_words, train, strict=True):
        by_word.setdefault(word, []).append(int(label))
    best = {word: int(np.bincount(labels).argmax()) for word, labels in by_word.items()}
    return float(np.mean([best.get(word, overall) == label for word, label in zip(test_words, test, strict=True)]))
