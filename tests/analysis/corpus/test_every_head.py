"""How often each head is right: as counted by hand, with intervals over sentences."""

from __future__ import annotations

import numpy as np

from analysis.corpus.every_head import shares_right
from analysis.corpus.relations import Cases, Relation, RelationQuery, bootstrap

OBJ = Relation("obj", "up")


def cases_of(sentences: list[int], right: np.ndarray) -> Cases:
    """A case for each entry, in the sentence of that number."""
    n = len(sentences)
    questions = [RelationQuery(OBJ, 1, (0,))] * n
    return Cases.build(questions, right, np.array(sentences), np.ones(n, dtype=bool), np.full(n, 9))


def test_the_shares_are_those_of_the_cases() -> None:
    right = np.array([[1, 0, 1], [1, 0, 0], [1, 1, 0], [1, 0, 0]], dtype=bool)
    values, lows, highs = shares_right(cases_of([5, 5, 7, 9], right))
    assert values.tolist() == [1.0, 0.25, 0.25]
    assert (lows <= values).all()
    assert (values <= highs).all()
    assert lows[0] < 1  # four of four do not prove it


def test_the_intervals_are_those_of_a_bootstrap_over_sentences() -> None:
    rng = np.random.default_rng(0)
    sentences = np.repeat(np.arange(150), 3)
    kind = rng.uniform(0.1, 0.9, size=150)[sentences, None]  # words of a sentence are alike
    right = rng.uniform(size=(450, 4)) < kind
    _, lows, highs = shares_right(cases_of(sentences.tolist(), right))
    for head, drawn in enumerate(bootstrap([(column, sentences) for column in right.T])):
        assert abs(lows[head] - drawn.low) < 0.015
        assert abs(highs[head] - drawn.high) < 0.015


def test_without_cases_nothing_is_said() -> None:
    values, lows, highs = shares_right(cases_of([], np.zeros((0, 3), dtype=bool)))
    assert np.isnan([values, lows, highs]).all()
