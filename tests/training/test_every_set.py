"""What holds for every built-in set: it is always the same, its parts are apart, and its card and texts are there."""

from __future__ import annotations

import pytest

from training.finetuning.data import KINDS, PARTS, Labelled, Tagged, check
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
    texts = [{(item.text, item.pair) for item in data.part(part)} for part in PARTS]
    assert sum(map(len, texts)) == len(set.union(*texts)) == sum(len(data.part(part)) for part in PARTS)
    clusters = [{item.cluster for item in data.part(part) if item.cluster} for part in PARTS]
    assert sum(map(len, clusters)) == len(set.union(*clusters))  # no template is in two parts
    tries = set(one.tries)
    assert len(tries) == 4
    assert not tries & set.union(*texts)
    assert all((pair is None) == (data.train[0].pair is None) for _, pair in one.tries)
    for part in PARTS:
        labels = {item.label for item in data.part(part) if isinstance(item, Labelled)}
        tags = {tag for item in data.part(part) if isinstance(item, Tagged) for tag in item.tags}
        assert not labels or labels == set(data.labels)
        assert tags <= set(data.labels)
