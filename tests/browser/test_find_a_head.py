"""The view "Find a head" in a real browser: the answer is on the first screen, and a bar opens its head."""

from collections.abc import Callable
from typing import Any

import pytest
from on_screen import wait_for
from playwright.sync_api import expect

from analysis import findings
from analysis.words import word_units
from model_zoo import Engine
from ui.widgets import TEXT

BARS = "[class*='st-key-heads-that-look-there-most'] .js-plotly-plot"


@pytest.mark.browser
def test_the_answer_is_on_the_first_screen_and_a_bar_opens_its_head(
    visit: Callable[..., Any], app_url: str, engine: Engine
) -> None:
    here = visit(height=720)
    page = here.open(f"{app_url}/attention?view=who")
    bars, sentence = page.locator(BARS), page.get_by_text("looks from “it” at “cat” most")
    expect(bars.locator(".bars .point")).to_have_count(10)
    assert bars.bounding_box()["y"] <= 300
    box = sentence.bounding_box()
    assert box["y"] + box["height"] <= 720

    run = engine.attend("embedded/bert", TEXT.default, max_tokens=1024)
    units = word_units(run.encoding)
    finding = findings.rank_for_words(run, units[8], units[2])
    third = int(finding.best(3)[2])
    head = {"layer": int(finding.layer[third]) + 1, "head": int(finding.head[third]) + 1}

    def click() -> None:
        bar = bars.locator(".bars .point").nth(2).bounding_box()
        page.mouse.click(bar["x"] + bar["width"] / 2, bar["y"] + bar["height"] / 2)

    here.until(
        click,
        lambda patience: expect(page.get_by_label("Heatmap of 13 queries and 13 keys.")).to_be_visible(
            timeout=patience
        ),
    )
    in_address = "head => ['layer', 'head'].every(name => new URLSearchParams(location.search).get(name) == head[name])"
    wait_for(page, in_address, head)


@pytest.mark.browser
def test_the_answer_begins_high_on_a_phone(visit: Callable[..., Any], app_url: str) -> None:
    page = visit(width=400, height=800).open(f"{app_url}/attention?view=who")
    expect(page.locator(f"{BARS} .bars .point")).to_have_count(10)
    assert page.locator(BARS).bounding_box()["y"] <= 420
