"""The neuron view's figure holds the numbers it is given, says what it leaves out, and survives odd input."""

import json
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go
import pytest

from analysis.neuron import QueryNumbers, query_numbers
from model_zoo.errors import InvalidInput
from viz.neuron import neuron, neuron_caption, strongest_keys


def numbers(n: int = 5, d: int = 4, *, bias: float = 0.0, masked: int = 0, scaling: float = 0.5) -> QueryNumbers:
    random = np.random.default_rng(n * d)
    query = random.normal(size=d).astype(np.float32)
    keys = random.normal(size=(n, d)).astype(np.float32)
    scores = keys @ query * np.float32(scaling) + np.arange(n, dtype=np.float32) * np.float32(bias)
    scores[n - masked :] = -np.inf
    return query_numbers(query, keys, scores, scaling)


def draw(of: QueryNumbers, **settings: object) -> go.Figure:
    return neuron(of, query_label="sat", key_labels=[f"t{i}" for i in range(len(of.keys))], **settings)


def trace(figure: go.Figure, name: str) -> go.Bar:
    (named,) = figure.select_traces({"name": name})
    return named


def words(figure: go.Figure) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


def test_each_column_holds_its_numbers() -> None:
    of = numbers()
    figure = draw(of)
    assert np.array_equal(trace(figure, "query").z, of.query[None])
    assert np.array_equal(trace(figure, "keys").z, of.keys)
    assert np.array_equal(trace(figure, "products").z, of.products)
    assert np.array_equal(trace(figure, "score").x, of.scores)
    assert np.array_equal(trace(figure, "weight").x, of.weights)
    assert np.asarray(trace(figure, "products").z).sum(axis=1) == pytest.approx(of.scores, abs=1e-6)
    texts = [float(text) for text in trace(figure, "weight in numbers").text]
    assert texts == pytest.approx(of.weights, abs=5e-4)
    assert list(figure.layout.yaxis.ticktext) == ["t0", "t1", "t2", "t3", "t4"]
    # Rows and dimensions are in line.
    figure = draw(numbers(7, 6))
    rows = list(range(7))
    for name in ("keys", "products", "score", "weight", "weight in numbers"):
        assert list(trace(figure, name).y) == rows, name
        assert (trace(figure, name).yaxis or "y") == "y", name
    query, keys = trace(figure, "query"), trace(figure, "keys")
    assert list(query.x) == list(keys.x) == [1, 2, 3, 4, 5, 6]
    domains = [figure.layout[axis].domain for axis in ("xaxis", "xaxis2", "xaxis3", "xaxis4")]
    assert all(left[1] < right[0] for left, right in pairwise(domains))
    assert domains[-1][1] == pytest.approx(1)
    # A bias gets a column of its own.
    of = numbers(bias=0.25)
    figure = draw(of)
    assert np.asarray(trace(figure, "bias").x) == pytest.approx(np.arange(5) * 0.25, abs=1e-6)
    total = np.asarray(trace(figure, "products").z).sum(axis=1) + np.asarray(trace(figure, "bias").x)
    assert total == pytest.approx(np.asarray(trace(figure, "score").x), abs=1e-6)
    assert "bias" in words(figure)
    assert "bias" not in words(draw(numbers()))


def test_colours_are_centred_at_zero_and_query_and_keys_share_theirs() -> None:
    figure = draw(numbers(9, 16))
    for name in ("query", "keys", "products"):
        assert trace(figure, name).zmin == -trace(figure, name).zmax < 0
    assert trace(figure, "query").zmax == trace(figure, "keys").zmax
    assert len({json.dumps(trace(figure, name).colorscale) for name in ("query", "keys", "products")}) == 1
    for n, d, masked in ((1, 1, 0), (1, 4, 1), (2, 128, 0), (300, 64, 0)):
        figure = draw(numbers(n, d, masked=masked))
        assert all(trace(figure, name).zmax > 0 for name in ("query", "keys"))
    # Whatever the signs of the scores, no number lies over a bar or the zero line.
    for of in (numbers(9), numbers(9, bias=-3), numbers(9, bias=3), numbers(1)):
        figure = draw(of)
        for name, axis in (("score", "xaxis3"), ("weight", "xaxis4")):
            bars, figures = trace(figure, name).x, trace(figure, f"{name} in numbers")
            left, right = figure.layout[axis].range
            assert set(figures.textposition.split()) == {"middle", "left"}
            assert len(set(figures.x)) == 1
            assert left < figures.x[0] < min(*bars, 0)
            room = (figures.x[0] - left) / (right - left) * np.diff(figure.layout[axis].domain)[0]
            assert room * 350 > 33  # px of "−12.34" on a phone
    # Beyond the limit the strongest are shown and the rest counted.
    of = numbers(128, 8)
    figure = draw(of, max_keys=10)
    kept = strongest_keys(of.weights, 10)
    assert kept == sorted(kept)
    assert set(kept) == set(np.argsort(of.weights)[-10:].tolist())
    assert np.array_equal(trace(figure, "weight").x, of.weights[kept])
    rest = 1 - of.weights[kept].sum()
    note = words(figure)[-1]
    assert "10 of 128 keys" in note
    assert f"other 118 share {rest:.1%}" in note
    assert not any("strongest" in text for text in words(draw(of, max_keys=128)))


def test_masked_keys_are_shown_as_such() -> None:
    of = numbers(6, masked=2)
    figure = draw(of)
    assert trace(figure, "score in numbers").text[4:] == ("masked", "masked")
    assert trace(figure, "weight in numbers").text[4:] == ("0", "0")
    products = np.asarray(trace(figure, "products").z)
    assert np.isnan(products[4:]).all()
    assert np.array_equal(products[:4], of.products[:4])
    assert "hidden from this query" in trace(figure, "score").hovertext[5]
    assert np.isfinite(np.asarray(trace(figure, "score").x)).all()
    # Equal scores and zero vectors.
    of = query_numbers(np.zeros(4, np.float32), np.zeros((3, 4), np.float32), np.zeros(3, np.float32), 0.5)
    figure = draw(of)
    assert list(trace(figure, "score").x) == [0, 0, 0]
    assert trace(figure, "weight in numbers").text == ("0.333",) * 3
    # An outlier does not fade the rest.
    of = numbers(20, 64)
    of.keys[3, 5] = 1000
    assert trace(draw(of), "keys").zmax < 5


def test_tokens_stay_text() -> None:
    figure = neuron(numbers(1), query_label="<b>%{x}", key_labels=["<a href='x'>"])
    assert "<a" not in figure.to_json().replace("\\u003c", "<")
    assert "%{x}&" not in trace(figure, "query").hovertemplate.replace("dimension %{x}", "")
    with pytest.raises(InvalidInput, match="4 key tokens do not fit 5 keys"):
        neuron(numbers(), query_label="sat", key_labels=list("abcd"))


def test_caption_reads_one_row() -> None:
    query, keys = np.ones(4, np.float32), np.array([[2, 2, 2, 0.2], [-2, 0, 0, 0]], np.float32)
    labels = ["cat", "[SEP]"]
    of = query_numbers(query, keys, np.array([3.1, -1], np.float32), 0.5)
    caption = neuron_caption(of, query_label="sat", key_labels=labels, key=0)
    assert all(part in caption for part in ("“sat”", "“cat”", "times 1/√4", "3.10", "all 2 keys", "0.984"))
    assert "gives −1.00" in neuron_caption(of, query_label="sat", key_labels=labels, key=1)
    biased = query_numbers(query, keys, np.array([5.7, -np.inf], np.float32), 1.0)
    caption = neuron_caption(biased, query_label="sat", key_labels=labels, key=0)
    assert all(part in caption for part in ("a bias of −0.50", "gives 5.70", "this one key", "1.000"))
    seen = np.array([3.1, -1, -np.inf], np.float32)
    causal = query_numbers(query, np.concatenate([keys, keys[:1]]), seen, 0.5)
    assert "softmax over the 2 keys it can see" in neuron_caption(
        causal, query_label="sat", key_labels=[*labels, "on"], key=0
    )
    assert "attention mask hides it" in neuron_caption(biased, query_label="sat", key_labels=labels, key=1)
