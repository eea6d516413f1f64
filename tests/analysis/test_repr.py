"""A result shows itself in one line: what is long in it is left out of its repr."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil

import pytest

import analysis
import reading
from analysis.probing import TASKS

RESULTS = {
    f"{module.name}.{name}": getmember
    for module in pkgutil.walk_packages(analysis.__path__, "analysis.")
    for name, getmember in inspect.getmembers(importlib.import_module(module.name), inspect.isclass)
    if getmember.__module__ == module.name and dataclasses.is_dataclass(getmember) and not name.startswith("_")
}


@pytest.mark.parametrize("name", RESULTS)
def test_no_array_and_no_long_tuple_is_in_a_repr(name: str) -> None:
    actual = RESULTS[name]
    visible = [field.name for field in dataclasses.fields(actual) if field.repr]
    long = [
        field.name for field in dataclasses.fields(actual) if "Array" in str(field.type) or "..." in str(field.type)
    ]
    assert not set(visible) & set(long)


def test_data_shows_itself_in_one_short_line() -> None:
    data = TASKS["tense"].build(500, 0)
    assert repr(data) == "Dataset(name='tense', level='sentence', own_split=False)"
    pairs = reading.read(b"good,bad\n" + b"a,b\n" * 1000, "minimal pairs", name="pairs.csv")
    assert len(repr(pairs)) < 100
