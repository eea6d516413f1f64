"""The heatmap in a real browser: colours of cells, what they say, keyboard, themes, narrow screens, pictures."""

import base64
import io
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from on_screen import saved
from PIL import Image
from playwright.sync_api import Page, expect

from viz.heatmap import SOURCE, Payload, difference, heatmap
from viz.palette import diverging, sequential, theme

TOKENS = ["[CLS]", "<b>&amp;", "שלום", "Donaudampfschifffahrtsgesellschaft"]
WEIGHTS = np.array([[0, 1, 0.25, 0.04], [0.25, 0.25, 0.25, 0.25], [1, 0, 0, 0], [0.0625, 0.5, 0.4, 0]], np.float32)

Open = Callable[..., Page]


@pytest.fixture
def open_page(open_file: Open) -> Open:
    def open_(picture: Payload, **how: Any) -> Page:
        page = open_file(SOURCE, picture, **how)
        page.locator(".heatmap[data-picture]").wait_for()
        return page

    return open_


def layout(page: Page) -> dict[str, float]:
    """Where the cells are: from the picture's left and top edge, in CSS pixels, read off the first and last frame."""
    canvas = page.locator("canvas")
    canvas.focus()
    page.keyboard.press("Control+Home")
    first = page.locator(".cell").bounding_box()
    page.keyboard.press("Control+End")
    last = page.locator(".cell").bounding_box()
    page.keyboard.press("Escape")
    box = canvas.bounding_box()
    assert first
    assert last
    assert box
    return {
        "left": first["x"] - box["x"],
        "top": first["y"] - box["y"],
        "across": first["width"],
        "down": first["height"],
        "right": last["x"] + last["width"] - box["x"],
        "bottom": last["y"] + last["height"] - box["y"],
    }


def pixels(page: Page) -> np.ndarray:
    """The picture as drawn, (height, width, 3), a pixel a CSS pixel."""
    url = page.locator("canvas").evaluate("canvas => canvas.toDataURL()")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(url.split(",")[1]))).convert("RGB"), dtype=int)


def colours(page: Page, n_rows: int, n_columns: int) -> np.ndarray:
    """The colour in the middle of each cell, (rows, columns, 3)."""
    at, picture = layout(page), pixels(page)
    rows = [int(at["top"] + (row + 0.5) * (at["bottom"] - at["top"]) / n_rows) for row in range(n_rows)]
    columns = [int(at["left"] + (c + 0.5) * (at["right"] - at["left"]) / n_columns) for c in range(n_columns)]
    return picture[np.ix_(rows, columns)]


def scale_at(scale: list[tuple[float, str]], places: np.ndarray) -> np.ndarray:
    channels = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for _, colour in scale])
    return np.stack([np.interp(places, [place for place, _ in scale], c) for c in channels.T], axis=-1)


@pytest.mark.parametrize("dark", [False, True])
def test_cells_and_bar_have_the_colour_of_the_root_of_a_weight(open_page: Open, dark: bool) -> None:
    page = open_page(heatmap(WEIGHTS, TOKENS, TOKENS), dark=dark)
    np.testing.assert_allclose(colours(page, 4, 4), scale_at(sequential(dark), np.sqrt(WEIGHTS)), atol=3)
    background = [int(theme(dark).background[i : i + 2], 16) for i in (1, 3, 5)]
    at, picture = layout(page), pixels(page)
    assert picture[-1, -1].tolist() == background
    places = np.array([0.0, 0.25, 0.5, 0.75, 0.99])
    bar = picture[int(at["bottom"]) + 15, (at["left"] + 180 * places).astype(int)]
    np.testing.assert_allclose(bar, scale_at(sequential(dark), places), atol=6)


def test_stretched_colours_end_at_the_largest_weight(open_page: Open) -> None:
    page = open_page(heatmap(WEIGHTS / 2, TOKENS, TOKENS, stretch=True))
    np.testing.assert_allclose(colours(page, 4, 4), scale_at(sequential(False), np.sqrt(WEIGHTS)), atol=3)


@pytest.mark.parametrize("dark", [False, True])
def test_a_difference_has_the_colour_of_its_root_on_either_side(open_page: Open, dark: bool) -> None:
    page = open_page(difference(WEIGHTS, WEIGHTS.T, TOKENS, TOKENS, names=("A", "B")), dark=dark)
    values = WEIGHTS - WEIGHTS.T
    places = (1 + np.sign(values) * np.sqrt(np.abs(values))) / 2
    np.testing.assert_allclose(colours(page, 4, 4), scale_at(diverging(dark), places), atol=3)


def test_pointing_at_a_cell_says_its_tokens_whole_and_its_weight_and_leaving_takes_it_away(open_page: Open) -> None:
    page = open_page(heatmap(WEIGHTS, TOKENS, TOKENS))
    at = layout(page)
    reading = page.get_by_role("status")
    page.locator("canvas").hover(position={"x": at["left"] + 1.5 * at["across"], "y": at["top"] + 3.5 * at["down"]})
    lines = ["query 4 · Donaudampfschifffahrtsgesellschaft", "looks at key 2 · <b>&amp;", "weight 0.5000"]
    expect(reading.locator("span")).to_have_text(lines)
    expect(page.locator(".cell")).to_be_visible()
    page.mouse.move(2, 2)
    expect(reading).to_be_hidden()
    expect(page.locator(".cell")).to_be_hidden()

    page.locator("canvas").hover(position={"x": 200, "y": 150})
    page.locator("canvas").focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowRight")
    page.mouse.move(1, 1)
    page.mouse.move(2, 2)
    expect(reading.locator("span").nth(2)).to_have_text("weight 1.0000")  # what a key reads stays
    expect(reading).to_be_visible()


def test_a_difference_says_all_three_numbers(open_page: Open) -> None:
    page = open_page(difference(WEIGHTS, WEIGHTS.T, TOKENS, TOKENS, names=("BERT", "<i>B")))
    page.locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    lines = page.get_by_role("status").locator("span")
    expect(lines).to_have_text(
        ["query 1 · [CLS]", "looks at key 2 · <b>&amp;", "difference +0.7500", "BERT 1.0000", "<i>B 0.2500"]
    )
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    expect(lines.nth(2)).to_have_text("difference −0.7500")


def test_arrow_keys_read_cells(open_page: Open) -> None:
    page = open_page(heatmap(WEIGHTS, TOKENS, TOKENS))
    page.keyboard.press("Tab")
    lines = page.get_by_role("status").locator("span")
    expect(lines.nth(2)).to_have_text("weight 0.0000")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    expect(lines).to_have_text(
        ["query 4 · Donaudampfschifffahrtsgesellschaft", "looks at key 3 · שלום", "weight 0.4000"]
    )
    page.keyboard.press("Home")
    expect(lines.nth(2)).to_have_text("weight 0.0625")
    page.keyboard.press("Escape")
    expect(page.get_by_role("status")).to_be_hidden()
    assert page.get_by_role("application").get_attribute("aria-label") == (
        "Heatmap of 4 queries and 4 keys. The arrow keys read its cells."
    )


@pytest.mark.parametrize("n", [1, 4, 24, 25, 300])
@pytest.mark.parametrize("width", [360, 1000])
def test_the_picture_fits_and_cells_are_never_giant(open_page: Open, n: int, width: int) -> None:
    tokens = [f"token{i}" for i in range(n)]
    page = open_page(heatmap(np.eye(n, dtype=np.float32), tokens, tokens), width=width)
    at = layout(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator("canvas").bounding_box()
    assert box
    assert at["right"] <= box["width"] + 4  # a frame around a dot is wider than the dot
    assert at["bottom"] < box["height"] <= 900
    if n <= 24:
        assert at["across"] == pytest.approx(at["down"])
        assert at["across"] <= 64
    else:
        # It fills the width: cells that are parted are whole pixels wide, so that each leaves less than one.
        assert box["width"] - at["right"] < 12 + (n if at["across"] >= 6 else 0)


def test_where_there_are_more_cells_than_pixels_the_strongest_is_shown(open_page: Open) -> None:
    n = 900
    weights = np.zeros((n, n), dtype=np.float32)
    weights[:, 1::3] = 1  # every third key takes all
    page = open_page(heatmap(weights, ["a"] * n, ["a"] * n), width=360)
    at, picture = layout(page), pixels(page)
    row = picture[int((at["top"] + at["bottom"]) / 2), int(at["left"]) + 6 : int(at["right"]) - 6]
    np.testing.assert_allclose(row, np.broadcast_to(scale_at(sequential(False), np.array(1.0)), row.shape), atol=3)


def test_new_data_are_drawn_in_place_and_a_cell_that_is_read_says_its_new_weight(mounted: Callable[..., Any]) -> None:
    page, run = mounted(SOURCE)
    run(heatmap(WEIGHTS, TOKENS, TOKENS))
    before = pixels(page)
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    weight_line = page.get_by_role("status").locator("span").nth(2)
    expect(weight_line).to_have_text("weight 1.0000")
    run(heatmap(WEIGHTS.T, TOKENS, TOKENS))
    expect(weight_line).to_have_text("weight 0.2500")
    assert (pixels(page) != before).any()
    run(heatmap(np.ones((1, 1), np.float32), ["a"], ["a"]))  # the cell is gone
    expect(page.get_by_role("status")).to_be_hidden()
    run(heatmap(WEIGHTS, TOKENS, TOKENS))
    assert (pixels(page) == before).all()


def test_a_run_that_a_newer_one_overtook_does_not_end_the_view(mounted: Callable[..., Any]) -> None:
    page, run = mounted(SOURCE)
    run(heatmap(WEIGHTS, TOKENS, TOKENS))
    page.keyboard.press("Tab")
    page.evaluate("ends[0]()")  # Streamlit ends the first run while the second is on its way
    run(heatmap(WEIGHTS.T, TOKENS, TOKENS))
    weight_line = page.get_by_role("status").locator("span").nth(2)
    expect(weight_line).to_have_text("weight 0.0000")
    page.keyboard.press("ArrowRight")
    expect(weight_line).to_have_text("weight 0.2500")
    page.evaluate("document.querySelector('main').replaceChildren() || ends[1]()")  # now it has left the page


SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("dark", [False, True])
def test_a_file_holds_the_numbers_as_rectangles_and_the_tokens_as_text(open_page: Open, dark: bool) -> None:
    page = open_page(heatmap(WEIGHTS, TOKENS, TOKENS, file="L1H2"), dark=dark)
    root = ElementTree.fromstring(saved(page, "svg", "L1H2"))
    assert not list(root.iter(f"{SVG}image"))
    cells = np.zeros((*WEIGHTS.shape, 3), dtype=int)
    (group, _) = [group for group in root.iter(f"{SVG}g") if group.get("class") == "cells"]  # the other is the bar
    for path in group:
        for x, y, wide, high in re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)", path.attrib["d"]):
            rows, columns = slice(int(y), int(y) + int(high)), slice(int(x), int(x) + int(wide))
            cells[rows, columns] = [int(path.attrib["fill"][at : at + 2], 16) for at in (1, 3, 5)]
    np.testing.assert_allclose(cells, scale_at(sequential(False), np.sqrt(WEIGHTS)), atol=3)  # light on any page
    texts = [element.text for element in root.iter(f"{SVG}text")]
    cut = "Donaudampfschif…"
    assert [text for text in texts if text in (*TOKENS, cut)] == 2 * [*TOKENS[:3], cut]
    assert {"0", "0.05", "0.2", "1", "attention weight (square-root scale)"} <= set(texts)
    assert (root.attrib["width"], root.attrib["font-family"]) == ("175mm", "Helvetica, Arial, sans-serif")


def test_characters_that_xml_cannot_hold(open_page: Open) -> None:
    tokens = ["a\x01b", "\ud800", " e", "👩‍👩‍👧"]
    texts = [
        element.text
        for element in ElementTree.fromstring(
            saved(open_page(heatmap(WEIGHTS, tokens, tokens)), "svg", "attention")
        ).iter(f"{SVG}text")
    ]
    assert {"a⟨U+0001⟩b", "⟨U+D800⟩", "␣e", "👩‍👩‍👧"} <= set(texts)


POINTED = """(place) => dispatchEvent(new CustomEvent("inside-bert:pointed", {
    detail: { source: null, group: "g", place }
}))"""


def test_what_others_point_at_is_framed_and_what_a_key_reads_outlasts_it(mounted: Callable[..., Any]) -> None:
    page, run = mounted(SOURCE)
    run(heatmap(WEIGHTS, TOKENS, TOKENS, group="g"))
    note = "({ detail: { source, place } }) => source && reports.push(place)"
    page.evaluate(f"addEventListener('inside-bert:pointed', {note})")
    bands, reading = page.locator(".band:not([hidden])"), page.get_by_role("status")
    page.evaluate(POINTED, {"query": 1, "key": None})
    expect(bands).to_have_count(1)
    expect(reading).to_be_hidden()
    page.evaluate(POINTED, None)
    expect(bands).to_have_count(0)
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    expect(bands).to_have_count(2)
    page.evaluate(POINTED, {"query": 2, "key": None})
    expect(bands).to_have_count(1)
    expect(reading.locator("span").last).to_have_text("weight 1.0000")
    page.evaluate(POINTED, None)
    expect(bands).to_have_count(2)
    run(heatmap(WEIGHTS.T, TOKENS, TOKENS, group="g"))
    expect(bands).to_have_count(2)
    run(heatmap(np.ones((1, 1), np.float32), ["a"], ["a"], group="g"))
    expect(bands).to_have_count(0)
    assert page.evaluate("reports") == [{"query": 0, "key": 0}, {"query": 0, "key": 1}, None]
