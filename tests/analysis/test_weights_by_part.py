"""The weights of BERT-base by part, against the numbers of its published shapes."""

from __future__ import annotations

import pytest

from analysis.weights_by_part import weights_by_part


def test_bert_base() -> None:
    actual = weights_by_part(vocabulary=30_522, positions=512, width=768, inner=3072, layers=12)
    assert actual == {"embeddings": 31_034 * 768, "attention": 28_311_552, "feed-forward": 56_623_104}
    assert sum(actual.values()) == pytest.approx(108.8e6, rel=0.005)  # the other 1% are biases, norms and the pooler


def test_a_gate_is_a_third_matrix() -> None:
    shape = {"vocabulary": 10, "positions": 0, "width": 4, "inner": 6, "layers": 2}
    assert weights_by_part(**shape)["feed-forward"] == 2 * 2 * 4 * 6
    assert weights_by_part(**shape, gated=True)["feed-forward"] == 2 * 3 * 4 * 6
