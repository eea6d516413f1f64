"""What the grid of all heads sends: every thumbnail's bytes, the heatmap's colours, one frame."""

from __future__ import annotations

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


def test_what_a_pixel_alone_does_not_tell_is_sent_too(small: Thumbnails) -> None:
    header, _ = unpacked(component.pack(grid(small, (1, 0), serial=2, group="attention")))
    assert header["heads"] == [3, 1]
    assert header["tokens"] == [3, 70]
    assert (header["selected"], header["serial"], header["group"]) == ([1, 0], 2, "attention")


def test_colours_and_their_bar_are_the_heatmaps(small: Thumbnails) -> None:
    ours, its = grid(small, (0, 0), quantity="share"), heatmap(maps(1, 1, 1)[0], ["a"], ["a"], quantity="share")
    assert (ours["scale"], ours["dark_scale"]) == (its["scale"], its["dark_scale"])
    assert (ours["marks"], ours["title"]) == (its["marks"], its["title"])


def test_the_bar_ends_at_the_largest_weight() -> None:
    picture = grid(thumbnails([np.full((1, 2, 2), 4, np.float32)], shares=False), (0, 0))
    assert picture["marks"][-1] == (1.0, "4")


def test_a_row_of_layers_is_named_as_such(small: Thumbnails) -> None:
    assert grid(small, (0, 0))["names"] == ["layer", "head"]
    row = thumbnails([maps(1, 4, 4)] * 3).in_a_row()
    picture = grid(row, (0, 2), names=("layer",))
    assert (picture["names"], picture["heads"], picture["shape"][:2]) == (["layer"], [3], (1, 3))


def test_another_head_changes_no_byte_of_the_pictures(small: Thumbnails) -> None:
    first, second = (unpacked(component.pack(grid(small, (0, head)))) for head in (0, 2))
    assert first[1] == second[1]
    assert first[0] | {"selected": [0, 2]} == second[0]


def test_bytes_grow_with_the_pictures_alone() -> None:
    long = thumbnails([maps(12, 128, 128)] * 6)
    assert len(component.pack(grid(long, (0, 0)))) < 6 * 12 * 64 * 64 + 2_000


@pytest.mark.parametrize("shape", [(2, 0, 0), (0, 2, 2)])
def test_where_there_is_nothing_to_draw_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="no head or no token"):
        grid(thumbnails([np.zeros(shape, np.float32)]), (0, 0))
