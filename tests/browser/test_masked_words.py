"""Masked words and next sentence in a real browser: a bar fills a mask, history, a list that is stopped."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from on_screen import wait_for
from playwright.sync_api import Page, expect

from benchmarks.positions import MARKS, measure
from model_zoo import Engine

TEXT = "The keys to the cabinet are on the table."


def test_a_click_on_a_bar_fills_the_mask(visit: Callable[..., Any], app_url: str, engine: Engine) -> None:
    third = engine.fill_mask("embedded/bert", TEXT, 10, masked=[9])[0].best[2]
    window = visit()
    page: Page = window.open(f"{app_url}/masked_words?text={TEXT}&masks=10")
    bar = page.locator(".js-plotly-plot .barlayer .point path").nth(2)
    filled = TEXT.replace("table", third.token)
    window.until(
        lambda: bar.click(force=True),
        lambda patience: expect(page.get_by_label("Text", exact=True)).to_have_value(filled, timeout=patience),
    )


def test_words_are_masked_by_keyboard(visit: Callable[..., Any], app_url: str) -> None:
    window = visit()
    page: Page = window.open(f"{app_url}/masked_words?text={TEXT}&masks=")
    page.get_by_role("button", name="keys", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("paragraph").filter(has_text="original “keys”")).to_be_visible()


def test_every_view_shows_its_picture_first_and_cuts_nothing(views: Callable[..., Any]) -> None:
    """A text of 16 tokens: where the first picture begins, that nothing reaches over the edge or is cut, and that the
    strip and ten predictions are on the first screen of a projector.
    """
    for page, page_view in views("masked_words", masks="9", replacement="young"):
        for (width, height), begins in MARKS.items():
            page.set_viewport_size({"width": width, "height": height})
            measure(page)
            here = f"{page_view.view} at {width}x{height}"
            expect(page.get_by_text("This page's link restores")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), here
            if page_view.view == "pairs":  # its picture is made when asked for
                continue
            picture = page.locator(".js-plotly-plot .main-svg, .token-line .item").first.bounding_box()
            assert 0 < picture["y"] <= begins, here
            if page_view.view == "predictions" and width == 1280:
                bars, strip = page.locator(".js-plotly-plot").bounding_box(), page.locator(".st-key-word_strip")
                assert bars["y"] + bars["height"] <= height
                assert strip.evaluate("strip => strip.scrollHeight <= strip.clientHeight")
                assert strip.bounding_box()["y"] + strip.bounding_box()["height"] <= picture["y"]
            if page_view.view == "attention":
                links = page.get_by_test_id("stPageLink-NavLink").filter(has_text="layer ")
                assert links.count() == 8
                assert links.evaluate_all("every => every.every(one => one.scrollWidth <= one.clientWidth)")
                assert links.first.inner_text().rstrip().endswith("%")
        page.set_viewport_size({"width": 1280, "height": 720})


@pytest.mark.parametrize("width", [1280, 400])
def test_ranks_have_most_of_a_narrow_column_and_their_legend_fits(
    width: int, visit: Callable[..., Any], app_url: str
) -> None:
    window = visit(width=width)
    text = "The telecommunications company was sold."
    page: Page = window.open(f"{app_url}/masked_words?text={text}&masks=3&view=layers")
    figure = page.locator(".st-key-lens-ranks .js-plotly-plot")
    legend = figure.locator(".annotation-text")
    expect(legend).to_have_count(4)
    outer, plot = figure.bounding_box(), figure.locator(".gridlayer .y").bounding_box()
    assert plot["width"] > 0.75 * outer["width"]
    for entry in (legend.nth(place).bounding_box() for place in range(4)):
        assert outer["x"] <= entry["x"]
        assert entry["x"] + entry["width"] <= outer["x"] + outer["width"]
        assert entry["y"] + entry["height"] <= plot["y"]


def test_surprisal_stands_under_the_words_and_hostile_tokens_are_text(visit: Callable[..., Any], app_url: str) -> None:
    window = visit()
    text = "<img src=x onerror=alert(1)> is <b>bold</b>."
    page: Page = window.open(f"{app_url}/masked_words?text={text}&masks=&view=surprise")
    words = page.locator(".token-line .item")
    expect(words.first.locator(".cell").first).to_have_text("<")
    expect(words.first.locator(".cell.small")).to_have_text(re.compile(r"^\d+\.\d$"))
    assert page.locator(".token-line img, .token-line b").count() == 0


def test_back_and_forward_bring_text_and_masks_together(visit: Callable[..., Any], app_url: str) -> None:
    """The mask stands at the same place in both sentences; it does not move along as when a sentence is edited."""
    window = visit()
    page: Page = window.open(f"{app_url}/masked_words")
    for title, word in (("One word fits", "was"), ("Several words fit", "coffee")):
        page.get_by_role("button", name="Examples").click()
        page.get_by_role("menuitem", name=title, exact=True).click()
        expect(page.locator(".st-key-mask_strip [aria-pressed='true']")).to_have_text(word)
        window.wait_until_idle()
        expect(page.get_by_role("menuitem")).to_have_count(0)  # a choice closes the menu
        if word == "was":  # another view is a step; the second example goes back to the first view, another one
            page.get_by_role("radio", name="Layer by layer").click()
            expect(page.get_by_text("Best tokens after every layer")).to_be_visible()
            window.wait_until_idle()
    page.go_back()
    expect(page.get_by_text("Best tokens after every layer")).to_be_visible()
    expect(page.locator(".st-key-mask_strip [aria-pressed='true']")).to_have_text("was")
    expect(page.get_by_label("Text", exact=True)).to_have_value("The doctor said that she was tired.")
    window.wait_until_idle()
    page.go_forward()
    expect(page.get_by_text("original “coffee”")).to_be_visible()


A, B = "She opened the window.", "Cold air came into the room."


def test_a_long_list_is_stopped_and_keeps_what_it_has(visit: Callable[..., Any], app_url: str) -> None:
    window = visit()
    page: Page = window.open(f"{app_url}/next_sentence?view=many pairs")
    rows = "".join(f'"{A * 8} {i}","{B * 8}"\n' for i in range(600))
    page.get_by_role("button", name="The pairs", exact=True).click()
    page.get_by_label("Paste CSV").fill("a,b\n" + rows)
    page.get_by_label("Paste CSV").press("Control+Enter")
    expect(page.get_by_role("button", name="Test 600 pairs")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Test 600 pairs").click()
    expect(page.get_by_text("of 600 pairs").first).to_be_visible()
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("of 600 pairs not tested")).to_be_visible()
    page.get_by_test_id("stDataFrame").hover()
    expect(page.get_by_role("button", name="Search", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Download as CSV")).to_have_count(0)  # where no formula would be marked
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name="Results (CSV)")).to_be_visible()
    window.wait_until_idle()  # the box is drawn anew when it opens: a file asked for before that is not made
    with page.expect_download() as download:
        page.get_by_role("button", name="Results (CSV)").click()
    lines = download.value.path().read_text("utf-8-sig").splitlines()
    assert lines[0] == "model,revision,a,b,p_next"
    assert 1 < len(lines) < 601


def test_the_link_opens_the_head_with_its_part_of_attention(visit: Callable[..., Any], app_url: str) -> None:
    window = visit()
    page: Page = window.open(f"{app_url}/next_sentence?text={A}&pair={B}&view=attention")
    page.get_by_test_id("stPageLink").first.locator("a").click()
    page.wait_for_url("**/attention?*")
    wait_for(page, "new URLSearchParams(location.search).get('direction') === 'A->B'")
    expect(page.get_by_label("Text", exact=True)).to_have_value(A)
