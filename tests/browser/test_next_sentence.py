"""Next sentence in a real browser: a list that is stopped, a link to a head."""

from collections.abc import Callable
from typing import Any

import pytest
from on_screen import wait_for
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

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
