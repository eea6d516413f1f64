"""The grid of all heads in a real browser: its colours, one stop for Tab, one click, what others point at, pictures."""

import base64
import io
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from on_screen import saved
from PIL import Image
from playwright.sync_api import Page, expect

from analysis.thumbnails import Thumbnails, thumbnails
from viz.grid import SOURCE, grid
from viz.palette import sequential, theme


@pytest.fixture
def small() -> Thumbnails:
    """Two layers of three heads and of one, three tokens."""
    random = np.random.default_rng(0)
    return thumbnails([random.random((heads, 3, 3), dtype=np.float32) for heads in (3, 1)])


def pixels(page: Page, canvas: str = ".drawn") -> np.ndarray:
    """A canvas as drawn, (height, width, 4), a pixel a CSS pixel."""
    url = page.locator(canvas).evaluate("canvas => canvas.toDataURL()")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(url.split(",")[1]))).convert("RGBA"), dtype=int)


def rgb(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def cell(page: Page, layer: int, head: int) -> Any:
    return page.get_by_role("gridcell", name=f"Layer {layer}, head {head}", exact=True)


@pytest.mark.parametrize("dark", [False, True])
def test_every_number_has_its_colour_in_its_place_and_the_file_shows_the_same(
    small: Thumbnails, dark: bool, open_file: Callable[..., Page]
) -> None:
    page = open_file(SOURCE, grid(small, (1, 0), file="heads"), width=400, dark=dark)
    page.locator(".heads[data-picture]").wait_for()
    picture, drawn = pixels(page)[..., :3], page.locator(".drawn").bounding_box()
    scale = np.array([rgb(colour) for _, colour in sequential(dark)])
    assert drawn
    for layer, heads in enumerate((3, 1)):
        for head in range(heads):
            box = cell(page, layer + 1, head + 1).bounding_box()
            left, top = box["x"] - drawn["x"], box["y"] - drawn["y"]
            for row, column in np.ndindex(3, 3):
                at = picture[int(top + (row + 0.5) * box["height"] / 3), int(left + (column + 0.5) * box["width"] / 3)]
                place = small.pixels[layer, head, row, column] / 255
                expected = [np.interp(place, np.linspace(0, 1, len(scale)), channel) for channel in scale.T]
                np.testing.assert_allclose(at, expected, atol=2)
            if head == 1:
                below = picture[int(top + 1.5 * box["height"]), int(left + box["width"] / 2)]
                assert below.tolist() == rgb(theme(dark).background)  # the second layer has no second head
    svg = ElementTree.fromstring(saved(page, "svg", "heads"))
    texts = [element.text for element in svg.iter() if element.tag.endswith("}text")]
    assert {"1", "2", "3", "layer", "head", "attention weight (square-root scale)"} <= set(texts)
    frame = [element for element in svg.iter() if element.get("fill") == theme(False).primary]  # light on any page
    assert len(frame) == 4


def test_one_stop_for_tab_one_press_opens_and_the_frame_is_the_readers(
    small: Thumbnails, mounted: Callable[..., Any]
) -> None:
    page, run = mounted(SOURCE)
    page.evaluate("addEventListener('inside-bert:opened', (event) => reports.push(event.detail.group))")
    run(grid(small, (0, 1), group="attention"))
    expect(cell(page, 1, 2)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Tab")
    expect(cell(page, 1, 2)).to_be_focused()
    expect(page.locator(".reading")).to_have_text("Layer 1, head 2")
    page.keyboard.press("ArrowRight")
    expect(cell(page, 1, 3)).to_be_focused()
    page.keyboard.press("ArrowDown")  # the second layer has one head
    expect(cell(page, 2, 1)).to_be_focused()
    assert page.evaluate("reports") == []
    page.keyboard.press("Enter")
    assert page.evaluate("reports") == [["head", [1, 0]], "attention"]
    expect(cell(page, 2, 1)).to_have_attribute("aria-selected", "true")

    cell(page, 1, 3).click(position={"x": 1, "y": 1})
    assert page.evaluate("reports.slice(2)") == [["head", [0, 2]], "attention"]
    expect(page.locator("[aria-selected=true]")).to_have_count(1)
    run(grid(small, (0, 1), group="attention"))  # Python leaves the frame where the reader put it
    expect(cell(page, 1, 3)).to_have_attribute("aria-selected", "true")
    run(grid(small, (0, 1), group="attention", serial=1))  # and now wants it back
    expect(cell(page, 1, 2)).to_have_attribute("aria-selected", "true")
    assert page.locator(".heads").get_attribute("data-picture") == "1"

    point = "(place) => dispatchEvent(new CustomEvent('inside-bert:pointed', {detail: {group: 'attention', place}}))"
    page.evaluate(point, {"query": 1, "key": None})
    over = pixels(page, ".pointed")[..., 3]
    assert over.any()
    assert not over[int(cell(page, 1, 1).bounding_box()["height"] * 2 / 3 + 30)].any()  # the third row's middle
    page.evaluate(point, None)
    assert not pixels(page, ".pointed").any()
    assert page.locator(".heads").get_attribute("data-picture") == "1"  # nothing but the overlay was drawn


def test_layers_without_heads_keep_their_row_and_are_stepped_over(open_file: Callable[..., Page]) -> None:
    random = np.random.default_rng(0)
    small = thumbnails([random.random((heads, 3, 3), dtype=np.float32) for heads in (0, 2, 0, 1)])
    page = open_file(SOURCE, grid(small, (0, 1), file="heads"), width=400)
    page.locator(".heads[data-picture]").wait_for()
    expect(cell(page, 2, 2)).to_have_attribute("aria-selected", "true")  # the nearest there is
    drawn, box = page.locator(".drawn").bounding_box(), cell(page, 2, 2).bounding_box()
    assert drawn
    assert box["y"] - drawn["y"] > box["height"]  # below a whole row
    cell(page, 2, 2).focus()
    for key, layer, head in (("ArrowDown", 4, 1), ("ArrowUp", 2, 1), ("ArrowUp", 2, 1)):
        page.keyboard.press(key)
        expect(cell(page, layer, head)).to_be_focused()
