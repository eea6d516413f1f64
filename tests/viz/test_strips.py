"""Vectors as strips: the exact numbers, their lengths side by side, and what is said of each."""

from __future__ import annotations

import numpy as np
import pytest

from viz.strips import Strip, strips

LONG = np.linspace(-1, 1, 8, dtype=np.float32)
SHORT = np.array([0.5, -0.25], dtype=np.float32)


def test_every_number_stands_in_its_row() -> None:
    figure = strips([Strip("x", LONG), Strip("q", SHORT, ["first", "second"], "=")])
    assert [trace.z[0].tolist() for trace in figure.data] == [LONG.tolist(), SHORT.tolist()]
    assert [list(trace.y) for trace in figure.data] == [[0], [1]]
    assert figure.data[1].text[0][1] == "q, dimension 2: <b>−0.25</b><br>second"
    assert figure.layout.yaxis.ticktext[1] == "&nbsp;&nbsp;= <b>q</b><br><sub>2 numbers</sub>"


def test_a_strip_is_as_long_as_its_vector_beside_the_longest() -> None:
    full, part, short = strips([Strip("a", LONG), Strip("b", LONG[:4]), Strip("c", LONG[:1])]).data
    assert [trace.dx * trace.z.shape[1] for trace in (full, part, short)] == pytest.approx([1, 0.5, 0.25])
    assert full.x0 == pytest.approx(full.dx / 2)


def test_one_large_number_does_not_fade_the_others() -> None:
    values = np.ones(100, dtype=np.float32)
    values[7] = 100
    (trace,) = strips([Strip("x", values)]).data
    assert trace.zmax == -trace.zmin == pytest.approx(np.percentile(values, 98))
    (zeros,) = strips([Strip("x", np.zeros(3, dtype=np.float32))]).data
    assert zeros.zmax == 1


def test_heads_are_parted_by_lines() -> None:
    figure = strips([Strip("context", LONG, ends=(2, 4, 6))])
    assert [shape.x0 for shape in figure.layout.shapes if shape.type == "line"] == pytest.approx([0.25, 0.5, 0.75])


def test_nothing_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="no numbers"):
        strips([])
