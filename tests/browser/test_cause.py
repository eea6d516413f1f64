"""Cause in a real browser: heads picked by pointer and keyboard; a head of Corpus switched off, opened there."""

import re

from on_screen import StartVisit, wait_for
from playwright.sync_api import Locator, Page, expect

MAP = ".st-key-cause_map .cells"


def middle(page: Page, row: int, column: int) -> dict[str, float]:
    """Where on the picture a cell is, from 0."""
    centre: dict[str, float] = page.locator(MAP).evaluate(
        """(map, [row, column]) => {
            const { left, top, across, down } = JSON.parse(map.dataset.places);
            return { x: left + (column + 0.5) * across, y: top + (row + 0.5) * down };
        }""",
        [row, column],
    )
    return centre


def off(page: Page) -> Locator:
    """The parts that are off, as the box of all parts names them."""
    return page.locator(".st-key-cause_off [data-tag]")


def test_heads_are_switched_off_by_pointer_and_by_keyboard(visit: StartVisit, app_url: str) -> None:
    here = visit()
    page = here.open(f"{app_url}/cause?text=The+cat+sat+on+the+[MASK].")
    canvas = page.locator(f"{MAP} canvas")
    page.locator(f"{MAP}[data-picture]").wait_for()
    here.wait_until_idle()
    for row, column in ((1, 2), (4, 0), (5, 8)):  # one after the other, without waiting for an answer
        canvas.click(position=middle(page, row, column))
    expect(page.get_by_text("With 3 parts off")).to_be_visible()
    expect(off(page)).to_have_text(["2.3", "5.1", "6.9"])
    here.wait_until_idle()
    wait_for(page, "location.search.includes('off=2.3')")
    canvas.focus()
    for key in ("Control+Home", "ArrowDown", "Enter"):
        canvas.press(key)
    expect(page.get_by_text("With 4 parts off")).to_be_visible()
    expect(off(page)).to_have_text(["2.3", "5.1", "6.9", "2.1"])
    expect(page.locator(MAP)).to_have_attribute("data-picked", "1.2 4.0 5.8 1.0")


def test_a_head_is_switched_off_and_what_it_did_to_a_word_is_opened_on_cause(visit: StartVisit, app_url: str) -> None:
    address = "corpus?model=embedded/tinybert&view=matters&relation=obj.down&layer=1&head=2"
    page: Page = visit().open(f"{app_url}/{address}")
    expect(page.get_by_text("over 24 words in")).to_be_visible()
    page.get_by_role("button", name="Switch 1.2 off").click()
    expect(page.get_by_text("over 400 words in")).to_be_visible()
    expect(page.get_by_text("Spearman’s ρ")).to_be_visible()

    page.get_by_role("button", name="Prune").click()
    expect(page.get_by_text("With 4 of 8 heads off: ")).to_be_visible()
    stop = page.get_by_role("button", name="Stop")
    if stop.is_visible():
        stop.click()
    expect(page.get_by_role("button", name="Prune")).to_be_visible()

    row = page.locator(".examples .row").first
    sentence, hidden = row.locator(".sentence").inner_text(), row.locator(".framed").inner_text()
    row.get_by_role("link", name="Cause").click()
    expect(page).to_have_url(re.compile(r"/cause.*masks=\d+"))
    expect(page).to_have_url(re.compile(r"/cause.*off=1\.2"))
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(sentence)
    expect(page.get_by_text(f"With head 2 of layer 1 off, “{hidden}” goes from ")).to_be_visible()
