"""The home page in a real browser: a sentence that is typed runs through the picture, a click leads on with it."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from journeys import enter
from on_screen import wait_for
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

TEXT = "The dogs near the house [MASK] hungry."
RUNS = ".anatomy.runs[data-still='false']"
STANDS = ".anatomy.runs[data-still='true']"


def parameters(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}


def test_a_sentence_runs_and_a_place_leads_to_its_lesson_with_it(visit: Callable[..., Any], app_url: str) -> None:
    here = visit(height=720)
    page: Page = here.open(app_url)
    page.locator(RUNS).wait_for()
    canvas = page.locator(".anatomy canvas")
    assert canvas.bounding_box()["y"] + canvas.bounding_box()["height"] < 720
    enter(page, "Text", TEXT)
    status = page.locator(".anatomy .status")
    expect(status).to_have_text("The tokenizer cuts it into pieces of its vocabulary: 10 tokens.")
    page.get_by_role("button", name="Pause", exact=True).press("Enter")
    page.locator(STANDS).wait_for()
    for caption in ("Every token becomes a vector, 384 numbers looked up in a table.", "Vectors for its place"):
        page.get_by_role("button", name="Next part").click()
        expect(status).to_contain_text(caption)

    canvas.focus()  # what is not on the screen is reached by keys, too
    page.keyboard.press("Home")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(status).to_contain_text("Enter opens “Lesson 2.1: One token, many numbers”.")
    page.keyboard.press("Enter")
    wait_for(page, "location.pathname.endsWith('/learn')")
    expect(page.get_by_role("heading", name="1. One token, many numbers")).to_be_visible()
    expect(page.get_by_label("Text", exact=True)).to_have_value(TEXT)
    here.wait_until_idle()
    assert parameters(page) | {"lesson": "embeddings", "text": TEXT, "token": "7"} == parameters(page)
    page.go_back()
    expect(page.get_by_label("Text", exact=True)).to_have_value(TEXT)
    page.locator(".anatomy.runs").wait_for()

    here.until(  # the words on the right, of the mask
        lambda: canvas.click(position={"x": canvas.bounding_box()["width"] - 60, "y": 60}),
        lambda patience: page.wait_for_url("**/masked_words**", timeout=patience),
    )
    expect(page.get_by_label("Text", exact=True)).to_have_value(TEXT)


def test_a_card_is_a_link_as_a_whole(visit: Callable[..., Any], app_url: str) -> None:
    here = visit()
    page: Page = here.open(app_url)
    cards = [card.bounding_box() for card in page.locator("[class*='st-key-card-I-']").all()]
    assert len({(round(card["y"]), round(card["height"])) for card in cards}) == 1
    card = page.locator(".st-key-card-I-teach")
    here.until(
        lambda: card.click(position={"x": 15, "y": card.bounding_box()["height"] - 8}),
        lambda patience: page.wait_for_url("**/learn**", timeout=patience),
    )
    expect(page.get_by_text("Worksheets use")).to_be_visible()
