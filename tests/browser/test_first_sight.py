"""The first seconds of a visit: nothing jumps, and light or dark is as it was chosen."""

from collections.abc import Callable
from typing import Any

import pytest
from on_screen import wait_for
from playwright.sync_api import Page, expect

from benchmarks.firstsight import PHONE, REST, WIDE, watch
from benchmarks.positions import PageView
from pages import PAGES

LARGEST_SHIFT = 0.05
# Whether the app, a component in it and a figure are all drawn for the dark, or for the light.
DRAWN = """(dark) => {
    const bright = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).reduce((sum, one) => sum + Number(one), 0) > 380;
    const component = [...document.querySelectorAll('*')].find((one) => one.shadowRoot?.querySelector('.themed'));
    const figure = document.querySelector('.js-plotly-plot text');
    return component && figure && getComputedStyle(document.documentElement).colorScheme === (dark ? 'dark' : 'light')
        && bright(getComputedStyle(document.querySelector('.stApp')).backgroundColor) !== dark
        && bright(getComputedStyle(component.shadowRoot.querySelector('.themed')).color) === dark
        && bright(getComputedStyle(figure).fill) === dark;
}"""


@pytest.mark.browser
def test_no_page_jumps_when_it_is_opened(visit: Callable[..., Any], app_url: str) -> None:
    page: Page = visit().open(app_url)  # a server that has just started loads its model for longer than a page waits
    watch(page)
    jumped = []
    for size in (WIDE, PHONE):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for name in PAGES:
            page.goto(f"{app_url}/{PageView(name.name, '').route}")
            seen = page.evaluate(REST, 60_000)
            if seen["shift"] >= LARGEST_SHIFT:
                jumped.append(f"{name.name} at {size[0]}x{size[1]}: {seen['shift']:.3f}, {seen['moved']}")
    assert not jumped, "\n".join(jumped)


@pytest.mark.browser
def test_light_or_dark_is_chosen_for_all_pages_and_outlives_a_reload(visit: Callable[..., Any], app_url: str) -> None:
    here = visit(color_scheme="light")
    page = here.open(f"{app_url}/masked_words")
    wait_for(page, DRAWN, False)
    page.locator(".st-key-more button").click()
    page.get_by_role("radio", name="Dark").check()
    wait_for(page, DRAWN, True)
    page = here.open(f"{app_url}/layers")
    wait_for(page, DRAWN, True)
    page.locator(".st-key-more button").click()
    expect(page.get_by_role("radio", name="Dark")).to_be_checked()
    page.get_by_role("radio", name="As your system").check()
    wait_for(page, DRAWN, False)
    page.emulate_media(color_scheme="dark")
    wait_for(page, DRAWN, True)


@pytest.mark.browser
def test_on_a_phone_the_menu_closes_after_a_choice_and_the_next_visit_opens_without_it(
    visit: Callable[..., Any], app_url: str
) -> None:
    here = visit(*PHONE)
    page = here.open(f"{app_url}/attention")
    menu = page.locator("[data-testid=stSidebarNav]")
    show = page.locator("[data-testid=stExpandSidebarButton]")
    show.click()
    expect(menu).to_be_in_viewport()
    page.reload()
    here.wait_until_idle()
    expect(menu).not_to_be_in_viewport()
    show.click()
    page.locator("[data-testid=stSidebarNavLink]").filter(has_text="Glossary").click()
    wait_for(page, "location.pathname === '/glossary'")
    expect(menu).not_to_be_in_viewport()
