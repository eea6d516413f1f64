"""A run as a table and as an xarray, by hand."""

from __future__ import annotations

import dataclasses
import sys
import types
from typing import Any

import numpy as np
import pytest
from runs_by_hand import ENCODING, array, run_of, two_tokens

from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import Encoding, MapsLayer


def test_a_run_becomes_a_table_by_hand() -> None:
    other = MapsLayer(array([[[1, 0], [0.5, 0.5]], [[0, 1], [0.25, 0.75]]]))
    run = run_of(two_tokens(), other)
    table = run.to_frame()
    assert list(table.columns) == ["layer", "head", "query", "key", "query_token", "key_token", "weight"]
    assert list(zip(table["layer"], table["head"], strict=True)) == [(0, 0)] * 4 + [(1, 0)] * 4 + [(1, 1)] * 4
    assert list(table["query"]) == [0, 0, 1, 1] * 3
    assert list(table["key"]) == [0, 1] * 6
    assert list(table["query_token"]) == ["a", "a", "b", "b"] * 3
    assert list(table["key_token"]) == ["a", "b"] * 6
    assert table["weight"].dtype == np.float32
    np.testing.assert_allclose(table["weight"], [0.75, 0.25, 0.25, 0.75, 1, 0, 0.5, 0.5, 0, 1, 0.25, 0.75], rtol=1e-6)
    chosen = run.to_frame(layer=1, head=[1])
    assert list(chosen["weight"]) == [0, 1, 0.25, 0.75]
    assert len(run.to_frame(layer=[], head=0)) == 0
    with pytest.raises(InvalidInput, match="head 2 does not exist"):
        run.to_frame(head=1)
    with pytest.raises(InvalidInput, match="layer 3 does not exist"):
        run.to_frame(layer=2)


def test_cross_attention_as_a_table_names_the_tokens_of_both_sides() -> None:
    source = Encoding(**{name: value * 2 if isinstance(value, tuple) else value for name, value in ENCODING.items()})
    run = dataclasses.replace(run_of(MapsLayer(np.full((1, 2, 4), 0.25, np.float32))), stack="cross", source=source)
    table = run.to_frame()
    assert list(table["query_token"]) == ["a"] * 4 + ["b"] * 4
    assert list(table["key_token"]) == ["a", "b", "a", "b"] * 2


class _DataArray:
    """What is asked of xarray, where it is not installed."""

    def __init__(self, values: np.ndarray, **parts: Any) -> None:
        self.values, self.parts = values, parts


def test_a_run_becomes_an_xarray_with_tokens_as_coordinates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xarray", types.SimpleNamespace(DataArray=_DataArray))  # type: ignore[arg-type]
    other = MapsLayer(array([[[1, 0], [0.5, 0.5]], [[0, 1], [0.25, 0.75]]]))
    actual = run_of(two_tokens(), other).to_xarray()
    assert actual.parts["dims"] == ("layer", "head", "query", "key")
    assert (actual.parts["coords"]["layer"], actual.parts["coords"]["head"]) == ([0, 1], [0, 1])
    assert actual.parts["coords"]["key_token"] == ("key", ["a", "b"])
    assert actual.parts["attrs"]["model"] == "tiny"
    np.testing.assert_allclose(actual.values[0, 0], [[0.75, 0.25], [0.25, 0.75]], rtol=1e-6)
    assert np.isnan(actual.values[0, 1]).all()  # the first layer has one head
    np.testing.assert_array_equal(actual.values[1], other.maps)
    assert run_of(two_tokens(), other).to_xarray(layer=1, head=1).values.tolist() == [[[[0, 1], [0.25, 0.75]]]]


def test_without_xarray_its_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(NotSupported, match=r"needs the package xarray, which is not installed\. Install it \(pip"):
        run_of(two_tokens()).to_xarray()
