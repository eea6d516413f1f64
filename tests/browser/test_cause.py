"""The page "Cause" in a real browser: heads picked by pointer and keyboard, and the answer without them."""

from collections.abc import Callable
from typing import Any

import pytest
from on_screen import wait_for
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


@pytest.mark.browser
def test_heads_are_switched_off_by_pointer_and_by_keyboard(visit: Callable[..., Any], app_url: str) -> None:
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
