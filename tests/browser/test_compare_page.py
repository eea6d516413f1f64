"""Comparing models in a real browser: a row of the best matches opens both heads, the link brings them back."""

import re
from urllib.parse import urlencode

from browser.test_accessibility import COLOURED
from checkpoints import Checkpoint
from contrast import contrast
from on_screen import StartVisit, wait_for
from playwright.sync_api import Page, expect

from analysis.alignment import align
from analysis.divergence import best_matches, head_matrix
from analysis.views import Weights
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
    visit: StartVisit, app_url: str, engine: Engine, checkpoint: Checkpoint
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


def test_the_chosen_models_can_be_read(visit: StartVisit, app_url: str, checkpoint: Checkpoint) -> None:
    window = visit()
    page: Page = window.open(address(app_url, (str(checkpoint("bert")), str(checkpoint("roberta"))), view="tokens"))
    chip = page.locator(".stMultiSelect [data-tag]").first
    expect(chip).to_be_visible()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        wait_for(page, COLOURED, scheme)
        colours = (
            chip.locator("[title]").evaluate("element => getComputedStyle(element).color"),
            chip.evaluate("element => getComputedStyle(element).backgroundColor"),
        )
        parts = [[int(part) for part in re.findall(r"\d+", colour)[:3]] for colour in colours]
        assert contrast(*("#{:02x}{:02x}{:02x}".format(*rgb) for rgb in parts)) >= 4.5, scheme  # WCAG 2, level AA
