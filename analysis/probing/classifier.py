"""The probe itself: multinomial logistic regression on standardized vectors, or a network with one hidden layer.

scikit-learn fits whatever fits into ``FIT_BYTES``; more examples are fitted by the same objective summed block by
block, so that memory does not grow with them. It is imported where something is fitted: that takes a second, and a page
that shows results does without it.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from analysis.probing.features import Vectors
from model_zoo.errors import InvalidInput
from model_zoo.types import DoubleArray, FloatArray, IntArray

if TYPE_CHECKING:
    from sklearn.neural_network import MLPClassifier
    from threadpoolctl import ThreadpoolController

ProbeKind = Literal["linear", "mlp"]

FIT_BYTES = 24 * 2**20
TOLERANCE = 1e-4  # largest component of the mean loss's gradient at which fitting stops: scikit-learn's default
MAX_ITERATIONS = 5000  # far more than fitting takes; scikit-learn's 100 are too few for many a layer
HIDDEN = 64  # units of the network's hidden layer
NETWORK_BYTES = 256 * 2**20  # vectors that a network is trained on are held in memory
EPOCHS = 100
STRENGTHS = (0.01, 0.1, 1.0)  # values of C to choose from, one for all layers: the smaller, the smaller the weights


@functools.cache
def _blas() -> ThreadpoolController:
    """It knows the libraries loaded by then, so those that fit have to be."""
    import scipy.optimize  # noqa: F401
    import sklearn.linear_model  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Matrix products on one thread. A probe's are small: threads that wait for each other made fitting twenty times
    slower where something else was running.
    """
    with _blas().limit(limits=1, user_api="blas"):
        yield


@contextmanager
def many_labels() -> Iterator[None]:
    """No warning about more labels than half the examples, which happens with little data, nor about a network that
    could train longer: its number of epochs is the setting.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of unique classes")
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearProbe:
    """log p = log softmax(weights · (x - mean) / scale + intercept) over ``n_classes`` labels.

    ``seen`` are the numbers of the labels it was trained on; weights (seen, width), intercept (seen,). A
    label it has not seen has probability 0.
    """

    n_classes: int
    seen: IntArray = field(repr=False)
    weights: FloatArray = field(repr=False)
    intercept: FloatArray = field(repr=False)
    mean: FloatArray = field(repr=False)
    scale: FloatArray = field(repr=False)

    def log_probabilities(self, vectors: Vectors, rows: IntArray) -> FloatArray:
        """Float32 (rows, classes), natural logs; -inf for a class that was not among the training examples."""
        from scipy.special import log_softmax

        # (x - mean) / scale · w = x · (w / scale) - mean · (w / scale)
        weights = (self.weights / self.scale).T
        intercept = self.intercept - self.mean @ weights
        judged = (log_softmax(block @ weights + intercept, axis=1) for block in vectors.blocks(rows))
        return _stack_columns(judged, self.seen, (len(rows), self.n_classes))


@dataclass(frozen=True, slots=True)
class NetworkProbe:
    """A network of one hidden layer; ``mean`` and ``scale`` (width,) standardize what it reads."""

    n_classes: int
    network: MLPClassifier
    mean: FloatArray = field(repr=False)
    scale: FloatArray = field(repr=False)

    def log_probabilities(self, vectors: Vectors, rows: IntArray) -> FloatArray:
        """Float32 (rows, classes), natural logs; -inf for a class that was not among the training examples."""
        standardized = ((block - self.mean) / self.scale for block in vectors.blocks(rows))
        judged = (self.network.predict_log_proba(block) for block in standardized)
        return _stack_columns(judged, self.network.classes_, (len(rows), self.n_classes))


Probe = LinearProbe | NetworkProbe
"""What was fitted on vectors and their labels."""


def _stack_columns(blocks: Iterable[FloatArray], seen: IntArray, shape: tuple[int, int]) -> FloatArray:
    """Blocks of (some rows, labels seen) as one float32 (rows, classes), -inf for labels not seen."""
    result = np.full(shape, -np.inf, dtype=np.float32)
    start = 0
    for block in blocks:
        result[start : start + len(block), seen] = block
        start += len(block)
    return result


def fit(
    vectors: Vectors,
    rows: IntArray,
    labels: IntArray,
    n_classes: int,
    *,
    c: float = 1.0,
    kind: ProbeKind = "linear",
    seed: int = 0,
    fit_bytes: int = FIT_BYTES,
) -> Probe:
    """Train on these rows with labels 0 .. n_classes - 1 (not all need occur), one per row.

    Minimizes Σ -log p + ‖weights‖² / (2 C) on features of mean 0 and variance 1 in the training rows: with L-BFGS to
    scikit-learn's default tolerance if the probe is "linear" (one weight vector for two labels); with Adam, starting
    from ``seed``, if it is an "mlp". Raises InvalidInput for more vectors than a network takes.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    seen, codes = np.unique(labels, return_inverse=True)
    mean, scale = moments(vectors, rows)
    n_bytes = 4 * len(rows) * vectors.width
    if kind == "mlp" and len(seen) > 1:
        if n_bytes > NETWORK_BYTES:
            raise InvalidInput(
                f"A network as a probe takes at most {NETWORK_BYTES // (4 * vectors.width):,} examples "
                f"of this model's vectors, and there are {len(rows):,}. Use fewer sentences, or the linear probe."
            )
        network = MLPClassifier((HIDDEN,), alpha=1 / c, max_iter=EPOCHS, random_state=seed)
        with many_labels():
            network.fit((np.concatenate(list(vectors.blocks(rows))) - mean) / scale, labels)
        return NetworkProbe(n_classes, network, mean, scale)
    if len(seen) == 1:  # nothing to tell apart
        weights, intercept = np.zeros((1, vectors.width), np.float32), np.zeros(1, np.float32)
    elif n_bytes <= fit_bytes:
        features = (np.concatenate(list(vectors.blocks(rows))) - mean) / scale
        model = LogisticRegression(C=c, solver="lbfgs", tol=TOLERANCE, max_iter=MAX_ITERATIONS)
        with many_labels():
            model.fit(features, codes)
        weights, intercept = _both(model.coef_, model.intercept_)
    else:
        weights, intercept = _fit_blocks(vectors, rows, codes, len(seen), mean, scale, c)
    return LinearProbe(
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


def moments(vectors: Vectors, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of each feature, (width,); 1 for features that do not vary."""
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
    vectors: Vectors, rows: IntArray, codes: IntArray, n_classes: int, mean: FloatArray, scale: FloatArray, c: float
) -> tuple[FloatArray, FloatArray]:
    """The same minimum as scikit-learn's, with loss and gradient summed over blocks of rows."""
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    n_vectors = 1 if n_classes == 2 else n_classes
    width = vectors.width

    def loss(flat: DoubleArray) -> tuple[float, DoubleArray]:
        parameters = flat.reshape(n_vectors, width + 1)
        weights, intercept = parameters[:, :-1].astype(np.float32), parameters[:, -1].astype(np.float32)
        total = 0.5 / c * float(np.square(parameters[:, :-1]).sum())
        gradient = np.zeros_like(parameters)
        gradient[:, :-1] = parameters[:, :-1] / c
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

    optimum = minimize(
        loss,
        np.zeros(n_vectors * (width + 1)),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MAX_ITERATIONS, "gtol": TOLERANCE, "ftol": 64 * np.finfo(float).eps},
    )
    parameters = optimum.x.reshape(n_vectors, width + 1)
    return _both(parameters[:, :-1], parameters[:, -1])
