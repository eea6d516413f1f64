"""How one query's attention comes about: its products with every key, their sums, the softmax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd

from model_zoo.errors import InvalidInput
from model_zoo.types import BoolArray, FloatArray, softmax

# Additive masks write the lowest number of their format instead of -inf; float16's is -65504.
_MASKED_BELOW: Final = -1e4


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryNumbers:
    """Everything between one query vector and its row of attention weights, over n keys of width d.

    query (d,), keys (n, d), products (n, d) = query · key · scaling element by element, sums (n,) over each
    row of products, bias (n,) added to the sums (by position; exactly 0 where there is none), scores (n,)
    = sums + bias (-inf where masked), masked (n,), weights (n,) = softmax(scores).
    """

    query: FloatArray = field(repr=False)
    keys: FloatArray = field(repr=False)
    scaling: float
    products: FloatArray = field(repr=False)
    sums: FloatArray = field(repr=False)
    bias: FloatArray = field(repr=False)
    scores: FloatArray = field(repr=False)
    masked: BoolArray = field(repr=False)
    weights: FloatArray = field(repr=False)

    @property
    def has_bias(self) -> bool:
        return bool(self.bias.any())


def query_numbers(query: FloatArray, keys: FloatArray, scores: FloatArray, scaling: float) -> QueryNumbers:
    """Takes one query's attention apart; softmax(q·k · scaling + bias) of Vaswani et al. 2017, eq. 1.

    query (d,), keys (n, d) and scores (n,) are one row of ``AttentionRun.query_key``; ``scaling`` is the layer's
    factor, usually 1/√d. What the products do not account for in a score is the bias that the model adds for where the
    tokens stand: a learned number per distance (T5, MPNet), or terms that depend on the tokens, too (DeBERTa; XLNet,
    also for which text they stand in). Raises InvalidInput when the shapes do not fit or there is no key.
    """
    n, d = keys.shape
    if query.shape != (d,) or scores.shape != (n,):
        raise InvalidInput(
            f"A query of shape {query.shape} and scores of shape {scores.shape} do not fit {n} keys of width {d}."
        )
    if n == 0:
        raise InvalidInput("There is no key to compare the query with. Show at least one token.")
    products = query * keys * np.float32(scaling)
    sums = products.sum(axis=-1)
    masked = scores < _MASKED_BELOW
    scores = np.where(masked, np.float32(-np.inf), scores)
    bias = np.where(masked, np.float32(0), np.where(masked, np.float32(0), scores) - sums)
    # float32 sums of d products differ by the order of summing; what is smaller than that is not a bias.
    noise = 1e-5 * np.abs(products).sum(axis=-1) + 1e-5
    bias = np.where(np.abs(bias) <= noise, np.float32(0), bias)
    return QueryNumbers(
        query=query,
        keys=keys,
        scaling=scaling,
        products=products,
        sums=sums,
        bias=bias,
        scores=scores,
        masked=masked,
        weights=softmax(scores),
    )


def neuron_table(numbers: QueryNumbers, key_labels: Sequence[str]) -> pd.DataFrame:
    """One row per key: its token, sum, bias, score, whether it is masked, weight; then query, key and product.

    The vectors' columns are ``query_1 ... key_1 ... product_1 ...``; the query is repeated in every row, so
    that each row can be checked by itself: product_i = query_i · key_i · scaling, and sum = Σ product_i.
    """
    n, d = numbers.keys.shape
    if len(key_labels) != n:
        raise InvalidInput(f"{len(key_labels)} labels do not fit {n} keys.")
    table = pd.DataFrame(
        {
            "position": np.arange(1, n + 1),
            "token": list(key_labels),
            "scaling": numbers.scaling,
            "sum": numbers.sums,
            "bias": numbers.bias,
            "score": numbers.scores,
            "masked": numbers.masked,
            "weight": numbers.weights,
        }
    )
    vectors = {"query": np.tile(numbers.query, (n, 1)), "key": numbers.keys, "product": numbers.products}
    parts = [pd.DataFrame(values, columns=[f"{name}_{i}" for i in range(1, d + 1)]) for name, values in vectors.items()]
    return pd.concat([table, *parts], axis=1)
