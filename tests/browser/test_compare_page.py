"""Comparing models in a real browser: a row of the best matches opens both heads, the link brings them back."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from on_screen import wait_for
from playwright.sync_api import Page, expect

from analysis.alignment import align
from analysis.divergence import best_matches, head_matrix
from analysis.views import Weights
from benchmarks.positions import measure
from model_zoo import Engine

TEXT = "The unbelievable dog barked, didn't it?"


def address(url: str, models: tuple[str, ...], **fields: str) -> str:
    return f"{url}/compare?{urlencode({'models': ','.join(models), 'text': TEXT} | fields)}"


def expect_steppers(page: Page, values: list[str]) -> None:
    """Layer and head of the first model, then of the second; the browser fetches what draws them when it must."""
    boxes = page.get_by_role("spinbutton")
    expect(boxes).to_have_count(len(values))
    for place, value in enumerate(values):
        expect(boxes.nth(place)).to_have_value(value)


def test_a_best_match_is_opened_and_its_link_restores_it(
    visit: Callable[..., Any], app_url: str, engine: Engine, checkpoint: Callable[[str], Path]
) -> None:
    models = str(checkpoint("bert")), str(checkpoint("roberta"))
    runs = [engine.attend(model, TEXT) for model in models]
    best = best_matches(head_matrix(*map(Weights, runs), align([run.encoding for run in runs])), 4, 4)[0]
    wanted = [str(place + 1) for place in (best.layer_a, best.head_a, best.layer_b, best.head_b)]

    window = visit(height=1400)
    page: Page = window.open(address(app_url, models, view="tokens"))
    expect(page.get_by_role("listitem").first).to_be_visible()
    page.get_by_role("radio", name="Attention", exact=True).click()
    page.get_by_role("tab", name="Best matches", exact=True).click()
    expect_steppers(page, ["2", "4", "", "1"])  # no layer of its own: the one at the same depth
    window.until(
        lambda: page.get_by_test_id("stDataFrame").locator(".dvn-scroller").click(position={"x": 16, "y": 52}),
        lambda patience: expect(page.get_by_role("spinbutton").nth(2)).to_have_value(wanted[2], timeout=patience),
    )
    expect_steppers(page, wanted)
    wait_for(page, "layer => new URLSearchParams(location.search).get('layer') === layer", arg=wanted[0])

    restored: Page = visit(height=1400).open(page.url)
    expect_steppers(restored, wanted)


def test_every_view_of_three_models_fits_a_telephone(
    views: Callable[..., Any], checkpoint: Callable[[str], Path]
) -> None:
    models = ",".join(str(checkpoint(name)) for name in ("bert", "roberta", "gpt2"))
    for page, page_view in views("compare", models=models, pair="She walked home."):
        page.set_viewport_size({"width": 400, "height": 800})
        measure(page)
        expect(page.get_by_text("This page's link restores")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), page_view
        page.set_viewport_size({"width": 1280, "height": 720})


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_chosen_models_can_be_read(
    scheme: str, visit: Callable[..., Any], app_url: str, checkpoint: Callable[[str], Path]
) -> None:
    models = str(checkpoint("bert")), str(checkpoint("roberta"))
    window = visit(color_scheme=scheme)
    page: Page = window.open(address(app_url, models, view="tokens"))
    chip = page.locator(".stMultiSelect [data-tag]").first
    expect(chip).to_be_visible()
    window.wait_until_idle()  # the first run of a page may not know the theme yet
    chip.evaluate("chip => Promise.all(chip.getAnimations({ subtree: true }).map((change) => change.finished))")
    colours = [
        chip.locator("[title]").evaluate("element => getComputedStyle(element).color"),
        chip.evaluate("element => getComputedStyle(element).backgroundColor"),
    ]
    low, high = sorted(_luminance([int(part) for part in re.findall(r"\d+", colour)[:3]]) for colour in colours)
    assert (high + 0.05) / (low + 0.05) >= 4.5  # WCAG 2, level AA


def _luminance(rgb: list[int]) -> float:
    parts = [part / 255 for part in rgb]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
