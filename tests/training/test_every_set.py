"""What holds for every built-in set: it is always the same, its splits are apart, and its card and texts are there."""

from __future__ import annotations

import pytest

from training.finetuning.data import KINDS, SPLITS, Labelled, Tagged, check
from training.finetuning.scores import MEASURES, of_kind
from training.finetuning.sets import SETS


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_whole(name: str) -> None:
    one = SETS[name]
    data = check(one.build())
    assert data == one.build()
    assert (data.name, data.title, data.kind) == (one.name, one.title, one.kind) == (name, one.title, one.kind)
    assert one.kind in KINDS
    assert data.measure in MEASURES
    assert of_kind(data)[0] == data.measure
    assert one.question.endswith("?")
    assert len(one.card) > 40
    texts = [{(item.text, item.pair) for item in data.split(split)} for split in SPLITS]
    assert sum(map(len, texts)) == len(set.union(*texts)) == sum(len(data.split(split)) for split in SPLITS)
    clusters = [{item.cluster for item in data.split(split) if item.cluster} for split in SPLITS]
    assert sum(map(len, clusters)) == len(set.union(*clusters))  # no template is in two splits
    tries = set(one.tries)
    assert len(tries) == 4
    assert not tries & set.union(*texts)
    assert all((pair is None) == (data.train[0].pair is None) for _, pair in one.tries)
    for split in SPLITS:
        labels = {item.label for item in data.split(split) if isinstance(item, Labelled)}
        tags = {tag for item in data.split(split) if isinstance(item, Tagged) for tag in item.tags}
        assert not labels or labels == set(data.labels)
        assert tags <= set(data.labels)
