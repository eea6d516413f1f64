"""What the grid of all heads sends: every thumbnail's bytes, the heatmap's colours, one frame."""

import numpy as np
import pytest
from on_screen import unpacked

from analysis.thumbnails import Thumbnails, thumbnails
from model_zoo.types import FloatArray
from viz import component
from viz.grid import grid
from viz.heatmap import heatmap


def maps(heads: int, rows: int, columns: int, seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).random((heads, rows, columns), dtype=np.float32)


@pytest.fixture
def small() -> Thumbnails:
    """Two layers of three heads and of one; three queries look at 70 keys."""
    return thumbnails([maps(3, 3, 70), maps(1, 3, 70)])


def test_every_thumbnail_is_sent_as_it_is(small: Thumbnails) -> None:
    header, sent = unpacked(component.pack(grid(small, (0, 0))))
    assert header["shape"] == [2, 3, 3, 64]
    np.testing.assert_array_equal(np.frombuffer(sent, np.uint8).reshape(small.pixels.shape), small.pixels)
    header, _ = unpacked(component.pack(grid(small, (1, 0), serial=2, group="attention")))
    assert header["heads"] == [3, 1]
    assert header["tokens"] == [3, 70]
    assert (header["selected"], header["serial"], header["group"]) == ([1, 0], 2, "attention")
    # Another head changes no byte of the pictures.
    first, second = (unpacked(component.pack(grid(small, (0, head)))) for head in (0, 2))
    assert first[1] == second[1]
    assert first[0] | {"selected": [0, 2]} == second[0]
    long = thumbnails([maps(12, 128, 128)] * 6)
    assert len(component.pack(grid(long, (0, 0)))) < 6 * 12 * 64 * 64 + 2_000

    for shape in ((2, 0, 0), (0, 2, 2)):
        with pytest.raises(ValueError, match="no head or no token"):
            grid(thumbnails([np.zeros(shape, np.float32)]), (0, 0))


def test_colours_and_their_bar_are_the_heatmaps(small: Thumbnails) -> None:
    ours, its = grid(small, (0, 0), quantity="share"), heatmap(maps(1, 1, 1)[0], ["a"], ["a"], quantity="share")
    assert (ours["scale"], ours["dark_scale"]) == (its["scale"], its["dark_scale"])
    assert (ours["marks"], ours["title"]) == (its["marks"], its["title"])
    picture = grid(thumbnails([np.full((1, 2, 2), 4, np.float32)], shares=False), (0, 0))
    assert picture["marks"][-1] == (1.0, "4")
    assert grid(small, (0, 0))["names"] == ["layer", "head"]
    row = thumbnails([maps(1, 4, 4)] * 3).in_a_row()
    picture = grid(row, (0, 2), names=("layer",))
    assert (picture["names"], picture["heads"], picture["shape"][:2]) == (["layer"], [3], (1, 3))
