"""The page "Layers" in a real browser: run, watch, stop, look at the plane, share a link."""

from typing import Any

from on_screen import StartVisit, wait_for
from playwright.sync_api import Page, expect

SMALL = "model=embedded/tinybert&tasks=word_content&sentences=60"  # of two layers


def run_it(here: Any, url: str) -> Page:
    """Run to the end, when there is nothing left to run."""
    page: Page = here.open(url)
    page.get_by_role("button", name="Run 1 task", exact=True).click()
    done(here)
    return page


def done(here: Any) -> None:
    expect(here.page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    here.wait_until_idle()


def ask_for(page: Page, sentences: int) -> None:
    """So many sentences, by the control behind "How"."""
    box = page.get_by_role("spinbutton", name="Sentences per task")
    page.get_by_role("button", name="How", exact=True).click()
    box.fill(str(sentences))
    box.press("Enter")
    wait_for(page, f"location.search.includes('sentences={sentences}')")
    page.keyboard.press("Escape")
    expect(box).not_to_be_visible()


def cells(page: Page) -> list[str]:
    """What is written into the picture of layers and tasks."""
    wait_for(page, "document.querySelector('.js-plotly-plot')?._fullLayout?.annotations?.length")
    labels: list[str] = page.evaluate(
        "document.querySelector('.js-plotly-plot')._fullLayout.annotations.map(a => a.text)"
    )
    return labels


def test_a_run_shows_what_is_done_and_can_be_stopped(visit: StartVisit, app_url: str) -> None:
    here = visit(height=1400)
    page = run_it(here, f"{app_url}/layers?tasks=word_content&sentences=20")
    before = cells(page)
    assert len(before) == 9  # the majority, the best judge without a model, the embeddings, six layers

    ask_for(page, 5000)
    page.get_by_role("button", name="Run 1 task").click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    pasted = page.get_by_label("or paste it here")
    page.get_by_role("button", name="Your own data").click()
    pasted.type("typed while it runs")
    page.keyboard.press("Tab")  # which applies it
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped before Word content was done")).to_be_visible()
    page.get_by_role("button", name="Your own data").click()
    expect(pasted).to_have_value("typed while it runs")
    pasted.fill("")
    page.keyboard.press("Escape")

    ask_for(page, 20)
    done(here)
    assert cells(page) == before


def test_the_slider_of_the_plane_goes_through_the_layers(visit: StartVisit, app_url: str) -> None:
    here = visit(height=1600)
    page = run_it(here, f"{app_url}/layers?{SMALL}&view=plane")
    plot = "document.querySelector('.js-plotly-plot')"
    wait_for(page, f"{plot}?._fullLayout?.sliders?.length")
    dots = f"Array.from({plot}._fullData[0].x)"
    before = page.evaluate(dots)
    rail = page.locator(".slider-rail-touch-rect")

    def click_the_end() -> None:
        rail.scroll_into_view_if_needed()
        box = rail.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)

    last = page.locator(".slider-label", has_text="layer: 2")
    here.until(click_the_end, lambda patience: expect(last).to_be_visible(timeout=patience))
    wait_for(page, f"before => JSON.stringify({dots}) !== JSON.stringify(before)", arg=before)


def test_a_link_repeats_the_run_in_a_fresh_browser(visit: StartVisit, app_url: str) -> None:
    here = visit()
    first = run_it(here, f"{app_url}/layers?{SMALL}&seed=4")
    again = run_it(visit(), first.url)
    assert cells(again) == cells(first)
    again.get_by_role("button", name="How", exact=True).click()
    expect(again.get_by_role("spinbutton", name="Seed", exact=True)).to_have_value("4")
