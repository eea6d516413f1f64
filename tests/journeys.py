"""The steps of a journey through the app in a browser, and what is seen after them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from on_screen import wait_for
from playwright.sync_api import Locator, Page, expect


@contextmanager
def step(here: Any) -> Iterator[None]:
    """One interaction and what is seen after it; by then nothing may have gone wrong."""
    here.wait_until_idle()
    yield
    here.wait_until_idle()
    assert here.page.get_by_test_id("stException").count() == 0
    assert here.page.get_by_text("Something went wrong").count() == 0


def enter(page: Page, label: str, text: str) -> None:
    """Type into one of the boxes in which Enter applies what was typed, or into a box for a number."""
    box = page.get_by_label(label, exact=True)
    box.fill(text)
    box.press("Enter")


def go_to(page: Page, title: str) -> None:
    page.get_by_role("navigation").get_by_role("link", name=title, exact=True).click()
    expect(page.get_by_role("heading", name=title, exact=True, level=1)).to_be_visible()


def open_view(page: Page, title: str) -> None:
    page.get_by_role("radio", name=title, exact=True).click()
    expect_view(page, title)


def expect_view(page: Page, title: str) -> None:
    expect(page.get_by_role("radio", name=title, exact=True)).to_be_checked()


def choose(here: Any, label: str, option: str) -> None:
    """Open a list and choose from it."""
    box = here.page.get_by_role("combobox", name=label, exact=True).first
    entry = here.page.get_by_role("option", name=option, exact=True)
    here.until(lambda: box.press("ArrowDown"), lambda patience: entry.click(timeout=patience))


def cell(page: Page, column: int, row: int) -> Locator:
    """A cell of the last table, counted from 0. The page reads it aloud; what is seen is a picture."""
    return page.get_by_test_id("stDataFrame").last.get_by_test_id(f"glide-cell-{column}-{row}")


def expect_number(page: Page, column: int, row: int, number: float) -> None:
    """A cell of the last table holds this number, all of whose digits are read aloud."""
    wait_for(
        page,
        """([id, number]) => {
            const table = Array.from(document.querySelectorAll('[data-testid=stDataFrame]')).at(-1);
            const text = table?.querySelector(`[data-testid=${id}]`)?.textContent;
            return text && Math.abs(Number(text) - number) < 2e-4;
        }""",
        arg=[f"glide-cell-{column}-{row}", float(number)],
    )
