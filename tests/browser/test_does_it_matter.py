"""Whether a head matters, in a real browser: switched off in many words, stopped, and a word opened on Cause."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_a_head_is_switched_off_and_what_it_did_to_a_word_is_opened_on_cause(
    visit: Callable[..., Any], app_url: str
) -> None:
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
