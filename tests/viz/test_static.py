"""Pictures that stand still: the numbers in them, what is left out, and that no text becomes markup."""

import base64
import re
import struct
import zlib
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from builders import random_maps
from pages_of_html import Page
from PIL import Image
from resvg_py import svg_to_bytes

from analysis.thumbnails import thumbnails
from viz import static
from viz.cells import cells
from viz.curves import curves
from viz.grid import grid
from viz.heatmap import heatmap
from viz.lines import payload
from viz.palette import diverging, rgb, sequential
from viz.token_line import Cell, Item, Line


def cells_svg(values: np.ndarray, rows: list[str], columns: list[str], **options: Any) -> str:
    return static.cells_svg(cells(values, rows, columns, **{"quantity": "", "down": "", "across": "", **options}))


def lines_svg(weights: np.ndarray, queries: list[str], keys: list[str]) -> str:
    options = {"head_names": ["1"], "colours": ["#123456"], "dark_colours": ["#123456"]}
    return static.lines_svg(payload(weights, queries, keys, **options))


SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ['</text><script>alert("1")</script>', "a & b < c", "\x00\u202e", "漢字", ""]


def colours_of(svg: str, left: float, top: float, cell: float, n: int) -> np.ndarray:
    places = (np.arange(n) + 0.5) * cell
    pixels = np.asarray(Image.open(BytesIO(svg_to_bytes(svg_string=svg))).convert("RGB"))
    return pixels[np.ix_((top + places).astype(int), (left + places).astype(int))]


def origin(svg: str) -> tuple[float, float, float]:
    """Where the cells begin, and how large they are, in a picture of rectangles."""
    match = re.search(r'crispEdges" transform="translate\(([\d.]+) ([\d.]+)\) scale\(([\d.]+) ', svg)
    assert match
    left, top, cell = map(float, match.groups())
    return left, top, cell


def test_a_cell_has_the_colour_of_its_number() -> None:
    names = ["a", "b", "c"]
    values = np.array([[0, 0.25, 1], [2, 0.5, 0], [0, 0, 0]], dtype=np.float32)
    svg = static.heatmap_svg(heatmap(values, names, names))
    scale = np.array([rgb(colour) for _, colour in sequential(False)])
    expected = scale[np.rint(np.sqrt(values.clip(0, 1)) * 32).astype(int)]
    assert (colours_of(svg, *origin(svg), 3) == expected).all()

    signed = cells_svg(values - 1, names, names)
    scale = np.array([rgb(colour) for _, colour in diverging(False)])
    assert (colours_of(signed, *origin(signed), 3) == scale[np.rint(32 + 32 * (values - 1)).astype(int)]).all()
    # A png says the levels and their colours.
    levels = np.random.default_rng(0).integers(0, 3, (5, 7)).astype(np.uint8)
    png = static._png(levels, ["#FF0000", "#00FF00", "#0000FF"])
    assert struct.unpack(">II", png[16:24]) == (7, 5)
    data = png[png.index(b"IDAT") + 4 : png.index(b"IEND") - 8]
    assert zlib.decompress(data) == b"".join(b"\0" + row.tobytes() for row in levels)


def test_what_is_chosen_is_framed_where_it_is() -> None:
    def frames(svg: str) -> list[tuple[float, float]]:
        corners = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" [^>]*fill="none"', svg)
        return [(float(x) - 1, float(y) - 1) for x, y in corners]

    svg = cells_svg(np.eye(3), list("abc"), list("def"), picked=[(0, 0), (2, 1)], down="row", across="column")
    left, top, cell = origin(svg)
    assert frames(svg) == [(left, top), (left + cell, top + 2 * cell)]
    assert [f">{name}</text>" in svg for name in ("row", "column")] == [True, True]
    small = thumbnails([random_maps(layer, 2, 5, 5) for layer in range(2)])
    (last,), (first,) = (frames(static.grid_svg(grid(small, chosen))) for chosen in ((1, 1), (0, 0)))
    assert (last[0] - first[0], last[1] - first[1]) == (44, 44)


def test_names_stand_upright_only_where_they_are_wider_than_their_cells() -> None:
    assert "rotate" not in static.heatmap_svg(heatmap(np.eye(2), ["a", "b"], ["1", "2"]), ("", ""))
    assert static.heatmap_svg(heatmap(np.eye(2), ["a", "b"], ["because", "2"]), ("", "")).count("rotate") == 2
    svg = cells_svg(np.array([[np.nan, 1.0]]), ["a"], ["b", "c"])
    assert ">–<" in svg
    assert ">1.00<" in svg
    # Of a large matrix nothing that stands out is lost.
    values = np.zeros((300, 300), dtype=np.float32)
    values[17, 211], values[250, 3] = 1, -1
    pooled = static._pooled(values)
    assert pooled.shape == (128, 128)
    assert sorted(pooled[pooled != 0].tolist()) == [-1, 1]


@pytest.mark.parametrize("n", [1, 13, 40, 512])
def test_a_picture_is_small_and_names_its_tokens_as_long_as_there_is_room(n: int) -> None:
    svg = static.heatmap_svg(
        heatmap(random_maps(0, n, n), [f"q{i}" for i in range(n)], ["k"] * n, quantity="weight"), ("", "")
    )
    assert len(svg) < 30_000
    texts = [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert ("q0" in texts) is (n <= 128)
    assert ("weight (square-root scale); a cell shows the largest of several" in texts) is (n > 128)
    assert {name for name in texts if name and name.startswith("q")} <= {f"q{i}" for i in range(n)}


def test_the_grid_shows_each_head_and_leaves_those_out_that_a_layer_does_not_have() -> None:
    maps = [random_maps(layer, 2 + layer, 5, 5) for layer in range(2)]
    svg = static.grid_svg(grid(thumbnails(maps), (0, 0), counts=0), framed=False)
    labels = [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert labels[:5] == ["0", "1", "0", "1", "2"]
    assert labels[5:7] == ["layer", "head"]
    row = static.grid_svg(grid(thumbnails([maps[0][:1], maps[1][:1]]).in_a_row(), (0, 0), names=("layer",)))
    assert ">head<" not in row


def test_the_strongest_lines_are_drawn() -> None:
    weights = random_maps(0, 1, 40, 40)
    svg = lines_svg(weights, ["q"] * 40, ["k"] * 40)
    assert len(re.findall(r"M[\d.]+ \d+L", svg)) == 400
    single = lines_svg(np.array([[[0.0, 1.0]]], dtype=np.float32), ["q"], ["k", "l"])
    assert re.findall(r"M[\d.]+ (\d+)L[\d.]+ (\d+)", single) == [("13", "31")]
    # Words wrap and a label stands before them.
    items = tuple(
        Item((Cell(f"word{i}", "#FF0000", "#FFFFFF"), Cell(f"{i}%", small=True)), marked=i == 3) for i in range(40)
    )
    svg = static.token_line_svg([Line(items, "before")])
    root = ElementTree.fromstring(svg)
    assert float(root.attrib["height"]) > 100
    assert max(float(text.attrib["x"]) for text in root.iter(f"{SVG}text")) < 640
    assert svg.count('fill="none"') == 1
    # Lines of a figure stand over their places with their names at their ends.
    figure = curves(
        ["0", "1", "2"], [("a", [0.0, 0.5, 1.0]), ("b", [0.25, float("nan"), float("nan")])], quantity="share"
    )
    root = ElementTree.fromstring(static.curves_svg(figure))
    circles = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in root.iter(f"{SVG}circle")]
    assert circles == [(112, 176), (232, 101), (352, 26), (112, 138.5)]


def test_no_text_becomes_markup() -> None:
    n = len(HOSTILE)
    pictures = [
        static.heatmap_svg(heatmap(np.eye(n), HOSTILE, HOSTILE, quantity=HOSTILE[0])),
        lines_svg(np.eye(n)[None], HOSTILE, HOSTILE),
        static.curves_svg(curves(HOSTILE, [(name, [0.5] * n) for name in HOSTILE], quantity=HOSTILE[0])),
        static.token_line_svg([Line(tuple(Item((Cell(text),)) for text in HOSTILE[:2]), HOSTILE[0])]),
    ]
    for svg in pictures:
        tags = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(svg).iter()}
        assert tags <= {"svg", "g", "rect", "path", "text", "image", "circle"}
        ((tag, attributes),) = Page(static.image(svg, HOSTILE[0])).elements
        assert (tag, attributes["alt"]) == ("img", HOSTILE[0])
        assert base64.b64decode(str(attributes["src"]).partition(",")[2]).decode() == svg
