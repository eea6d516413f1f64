"""One query taken apart: products, sums, bias, mask and weights against numbers known by hand."""

import numpy as np
import pytest

from analysis.neuron import neuron_table, query_numbers
from model_zoo.errors import InvalidInput
from model_zoo.types import QueryKeyLayer

QUERY = np.array([1.0, 2.0], dtype=np.float32)
KEYS = np.array([[2.0, 1.0], [0.0, -1.0], [4.0, 0.0]], dtype=np.float32)


def scores(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def test_by_hand() -> None:
    numbers = query_numbers(QUERY, KEYS, scores(2, -1, 2), 0.5)
    assert numbers.products.tolist() == [[1, 1], [0, -1], [2, 0]]
    assert numbers.sums.tolist() == [2, -1, 2]
    assert numbers.bias.tolist() == [0, 0, 0]
    assert not numbers.has_bias
    # softmax(2, -1, 2): e^2, e^-1, e^2 over their sum
    assert numbers.weights == pytest.approx([0.487856, 0.024289, 0.487856], abs=1e-6)
    assert numbers.weights.sum() == pytest.approx(1)
    numbers = query_numbers(QUERY, KEYS, scores(2.25, -1, 1.5), 0.5)
    assert numbers.bias.tolist() == [0.25, 0, -0.5]
    assert numbers.has_bias
    assert query_numbers(QUERY, KEYS, scores(*[-np.inf] * 3), 0.5).weights.tolist() == [0, 0, 0]
    with pytest.raises(InvalidInput, match="3 keys of width 2"):
        query_numbers(QUERY[:1], KEYS, scores(1, 2, 3), 1.0)
    with pytest.raises(InvalidInput, match="3 keys of width 2"):
        query_numbers(QUERY, KEYS, scores(1, 2), 1.0)
    with pytest.raises(InvalidInput, match="at least one token"):
        query_numbers(QUERY, KEYS[:0], scores(), 1.0)
    with pytest.raises(InvalidInput, match="1 labels"):
        neuron_table(query_numbers(QUERY, KEYS, scores(2, -1, 2), 0.5), ["a"])


@pytest.mark.parametrize("hidden", [-np.inf, np.finfo(np.float32).min, np.finfo(np.float16).min])
def test_a_masked_key_has_weight_0_and_no_bias(hidden: float) -> None:
    numbers = query_numbers(QUERY, KEYS, scores(2, hidden, 2), 0.5)
    assert numbers.masked.tolist() == [False, True, False]
    assert numbers.scores.tolist() == [2, -np.inf, 2]
    assert numbers.weights.tolist() == [0.5, 0, 0.5]
    assert not numbers.has_bias


@pytest.mark.parametrize("d", [1, 32, 64, 128])
@pytest.mark.parametrize("causal", [False, True])
def test_reaches_the_row_of_the_heatmap(d: int, causal: bool) -> None:
    random = np.random.default_rng(d)
    query, key, value = random.normal(size=(3, 4, 20, d)).astype(np.float32) * 3
    layer = QueryKeyLayer(query=query, key=key, value=value, scaling=d**-0.5, causal=causal)
    all_scores, maps = layer.scores(2), layer.weights(2)
    for i in range(20):
        numbers = query_numbers(query[2, i], key[2], all_scores[i], layer.scaling)
        assert np.array_equal(numbers.weights, maps[i])
        assert not numbers.has_bias  # what differs by the order of summing is not called a bias
        seen = ~numbers.masked
        assert seen.sum() == (i + 1 if causal else 20)
        assert numbers.products.sum(axis=1)[seen] == pytest.approx(all_scores[i][seen], rel=1e-4, abs=1e-4)


def test_a_position_bias_of_the_model_is_found() -> None:
    random = np.random.default_rng(0)
    query, key, value = random.normal(size=(3, 2, 6, 8)).astype(np.float32)
    position_bias = random.normal(size=(1, 2, 6, 6)).astype(np.float32)
    layer = QueryKeyLayer(query=query, key=key, value=value, scaling=1.0, mask=position_bias[0])
    numbers = query_numbers(query[1, 3], key[1], layer.scores(1)[3], 1.0)
    assert numbers.bias == pytest.approx(position_bias[0, 1, 3], abs=1e-5)
    assert np.array_equal(numbers.weights, layer.weights(1)[3])


def test_table_rows_can_be_checked_by_themselves() -> None:
    table = neuron_table(query_numbers(QUERY, KEYS, scores(2.25, -np.inf, 2), 0.5), ["a", "b", "a"])
    assert table["token"].tolist() == ["a", "b", "a"]
    assert table["position"].tolist() == [1, 2, 3]
    assert table["masked"].tolist() == [False, True, False]
    assert table["score"].tolist() == [2.25, -np.inf, 2]
    for i in (1, 2):
        assert (table[f"query_{i}"] * table[f"key_{i}"] * table["scaling"]).tolist() == table[f"product_{i}"].tolist()
    assert (table["product_1"] + table["product_2"]).tolist() == table["sum"].tolist()
    seen = table[~table["masked"]]
    assert (seen["sum"] + seen["bias"]).tolist() == seen["score"].tolist()
