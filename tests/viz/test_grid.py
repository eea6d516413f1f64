"""The mosaic of all heads: every pixel in its place, and a click target on every cell."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

from viz.grid import grid
from viz.palette import sequential, theme


def test_every_thumbnail_lies_where_its_axis_labels_say() -> None:
    thumbnails = np.random.default_rng(0).integers(0, 256, (2, 3, 64, 64), dtype=np.uint8)
    figure = grid(thumbnails)
    mosaic = figure.data[0].z
    assert mosaic.dtype == np.uint8
    covered = np.zeros(mosaic.shape, bool)
    for layer, y in enumerate(figure.layout.yaxis.tickvals):
        for head, x in enumerate(figure.layout.xaxis.tickvals):
            rows, columns = slice(int(y - 31.5), int(y + 32.5)), slice(int(x - 31.5), int(x + 32.5))
            np.testing.assert_array_equal(mosaic[rows, columns], np.maximum(thumbnails[layer, head], 1))
            covered[rows, columns] = True
    assert (mosaic[~covered] == 0).all()
    assert figure.layout.xaxis.ticktext == ("1", "2", "3")
    assert figure.layout.yaxis.ticktext == ("1", "2")
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]  # layer 1 on top


def test_few_pixels_are_enlarged_so_that_gaps_stay_thin() -> None:
    thumbnails = np.array([[[[10, 20], [30, 40]]]], dtype=np.uint8)
    mosaic = grid(thumbnails).data[0].z
    np.testing.assert_array_equal(mosaic, thumbnails[0, 0].repeat(24, axis=0).repeat(24, axis=1))


@pytest.mark.parametrize("dark", [False, True])
def test_bytes_take_the_heatmaps_colours_and_zero_is_the_gap(dark: bool) -> None:
    figure = grid(np.zeros((1, 1, 4, 4), np.uint8), dark=dark)
    scale = figure.data[0].colorscale
    assert (figure.data[0].zmin, figure.data[0].zmax) == (0, 255)
    assert scale[0] == (0.0, theme(dark).line)
    assert scale[1][1] == theme(dark).line
    assert scale[1][0] == scale[2][0] == pytest.approx(0.5 / 255)
    assert [stop[1] for stop in scale[2:]] == [colour for _, colour in sequential(dark)]
    assert scale[3:] == tuple(sequential(dark)[1:])


def test_one_marker_a_cell_at_its_centre_names_layer_and_head() -> None:
    figure = grid(np.zeros((6, 12, 64, 64), np.uint8))
    markers = figure.data[1]
    assert len(markers.customdata) == 72
    for (layer, head), x, y, text in zip(markers.customdata, markers.x, markers.y, markers.text, strict=True):
        assert x == figure.layout.xaxis.tickvals[head]
        assert y == figure.layout.yaxis.tickvals[layer]
        assert text == f"Layer {layer + 1}, head {head + 1}"
    # Typed arrays would come back from the browser as objects instead of lists.
    assert json.loads(figure.to_json())["data"][1]["customdata"][13] == [1, 1]


def test_only_the_chosen_marker_shows_and_all_take_clicks_from_afar() -> None:
    figure = grid(np.zeros((2, 2, 4, 4), np.uint8))
    markers, layout = figure.data[1], figure.layout
    assert markers.marker.opacity == markers.unselected.marker.opacity == 0
    assert markers.selected.marker.opacity == 1
    assert (layout.hovermode, layout.hoverdistance, layout.clickmode) == ("closest", -1, "event+select")
    assert layout.dragmode is False
    assert layout.xaxis.fixedrange
    assert layout.yaxis.fixedrange


def test_the_chosen_cell_wears_the_frame() -> None:
    markers = grid(np.zeros((6, 12, 64, 64), np.uint8), selected=(4, 11), width=560).data[1]
    (chosen,) = markers.selectedpoints
    assert tuple(markers.customdata[chosen]) == (4, 11)
    assert markers.marker.symbol == "square-open"
    assert markers.marker.size == pytest.approx(0.9 * 560 / 12)
    assert grid(np.zeros((1, 1, 4, 4), np.uint8)).data[1].selectedpoints == ()


def test_six_by_twelve_heads_of_128_tokens_travel_as_bytes_below_half_a_megabyte() -> None:
    sent = grid(np.random.default_rng(0).integers(0, 256, (6, 12, 64, 64), dtype=np.uint8)).to_json()
    z = json.loads(sent)["data"][0]["z"]
    assert z["dtype"] == "u1"
    rows, columns = map(int, z["shape"].split(","))
    assert len(base64.b64decode(z["bdata"])) == rows * columns
    assert len(sent) < 500_000


@pytest.mark.parametrize(
    ("layers", "heads", "width", "cell"),
    [(6, 12, 1100, 91.7), (12, 12, 1100, 70), (24, 16, 1100, 36), (2, 4, 1100, 92), (6, 12, 560, 46.7)],
)
def test_height_follows_the_cells(layers: int, heads: int, width: int, cell: float) -> None:
    figure = grid(np.zeros((layers, heads, 8, 8), np.uint8), width=width)
    assert (figure.layout.height - 84) / layers == pytest.approx(cell, abs=0.5)
    assert figure.layout.yaxis.scaleanchor == ("x" if heads < 8 else None)


@pytest.mark.parametrize("shape", [(4, 4), (0, 2, 4, 4), (2, 2, 0, 0)])
def test_what_is_no_grid_of_pictures_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="layers, heads, s_q, s_k"):
        grid(np.zeros(shape, np.uint8))


def test_pictures_may_be_wider_than_high() -> None:
    """Two queries and three keys: every pixel enlarged on its own axis, the gap beside the picture alike."""
    thumbnails = np.array([[[[10, 20, 30], [40, 50, 60]], [[1, 1, 1], [1, 1, 1]]]], dtype=np.uint8)
    mosaic = grid(thumbnails).data[0].z
    np.testing.assert_array_equal(mosaic[:48, :48], thumbnails[0, 0].repeat(24, axis=0).repeat(16, axis=1))
    assert (mosaic[:, 48:50] == 0).all()
    assert (mosaic[:, 50:] == 1).all()
