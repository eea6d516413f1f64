"""The page Attention in a real browser: type, click a head, find one, take its lines and citation along."""

from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from on_screen import PATIENCE_MS, StartVisit, wait_for
from playwright.sync_api import Page, expect

import model_zoo
from analysis import findings
from analysis.words import word_units
from benchmarks.positions import measure
from model_zoo import Engine
from ui.widgets import TEXT


def type_text(page: Page, label: str, text: str) -> None:
    area = page.get_by_label(label, exact=True)
    area.fill(text)
    area.press("Control+Enter")


def picture(page: Page) -> str:
    """The heatmap as it is drawn."""
    url: str = page.locator(".st-key-heatmap .heatmap canvas").evaluate("canvas => canvas.toDataURL()")
    return url


def expect_weight(
    page: Page, query: int, key: int, weight: float, heatmap: str = "heatmap", number: str = "weight"
) -> None:
    """The heatmap's cell of a query and a key, counted from 1, says this weight."""
    canvas = page.locator(f".st-key-{heatmap} .heatmap canvas")
    canvas.focus()
    canvas.press("Control+Home")
    for _ in range(query - 1):
        canvas.press("ArrowDown")
    for _ in range(key - 1):
        canvas.press("ArrowRight")
    expect(page.locator(f".st-key-{heatmap} .heatmap .reading span").last).to_have_text(f"{number} {weight:.4f}")


def open_in_grid(here: Any, layer: int, head: int, at: tuple[float, float] = (0.5, 0.5)) -> None:
    """Click into the cell of a layer and head, counted from 1, at a place inside it, until that head is shown."""
    here.until(
        lambda: _click_grid(here.page, layer, head, at),
        lambda patience: expect_head(here.page, layer, head, patience),
    )


def expect_head(page: Page, layer: int, head: int, patience: float = PATIENCE_MS) -> None:
    """The steppers say this head, counted from 1."""
    expect(page.get_by_label("Layer", exact=True)).to_have_value(str(layer), timeout=patience)
    expect(page.get_by_label("Head", exact=True)).to_have_value(str(head), timeout=patience)


def _click_grid(page: Page, layer: int, head: int, at: tuple[float, float]) -> None:
    cell = page.get_by_role("gridcell", name=f"Layer {layer}, head {head}", exact=True)
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    assert box
    page.mouse.click(box["x"] + at[0] * box["width"], box["y"] + at[1] * box["height"])


def test_a_link_restores_the_page_in_a_fresh_browser(visit: StartVisit, app_url: str, engine: Engine) -> None:
    texts = "She opened the window.", "Cold air came in & <b>stayed</b>."
    first = visit()
    page = first.open(f"{app_url}/attention?head=1")
    type_text(page, "Text", texts[0])
    expect(page.get_by_text("7 tokens of at most 512")).to_be_visible()
    type_text(page, "Second text (optional)", texts[1])
    expect(page.get_by_text("tokens of at most 512")).not_to_have_text("7 tokens")
    page.get_by_label("Layer", exact=True).fill("5")
    page.get_by_label("Layer", exact=True).press("Enter")
    expect_head(page, 5, 1)
    first.wait_until_idle()
    wait_for(page, "location.search.includes('layer=5')")

    second = visit()
    again = second.open(page.url)
    expect_head(again, 5, 1)
    expect(again.get_by_role("textbox", name="Second text (optional)")).to_have_value(texts[1])
    weight = engine.attend("embedded/bert", *texts).head(4, 0)[2, 9]
    for either in (page, again):
        expect_weight(either, 3, 10, weight)
    assert picture(again) == picture(page)


def test_the_switch_show_changes_words_grid_and_heatmap_and_a_link_restores_it(
    visit: StartVisit, app_url: str, engine: Engine
) -> None:
    text = "The dog chased the cat."
    contributions = engine.contributions("embedded/bert", text)
    first = visit(height=1400)
    page = first.open(f"{app_url}/attention?text={quote(text)}&layer=3&head=5")
    expect(page.locator(".words .status")).to_contain_text("Layer 3, head 5: ")
    expect_weight(page, 4, 2, engine.attend("embedded/bert", text).head(2, 4)[3, 1])

    def choose(patience: float) -> None:
        page.get_by_role("option", name="Contributions (ALTI)").click(timeout=patience)
        expect_layer(page, 3, patience)

    first.until(page.get_by_role("combobox", name="Show").click, choose)
    expect_weight(page, 4, 2, contributions.maps[2, 3, 1], number="contribution")
    layer = page.get_by_role("gridcell", name="Layer 5", exact=True)
    first.until(layer.click, lambda patience: expect_layer(page, 5, patience))
    expect_weight(page, 4, 2, contributions.maps[4, 3, 1], number="contribution")
    first.wait_until_idle()
    wait_for(page, "location.search.includes('show=ALTI') && location.search.includes('layer=5')")

    again = visit(height=1400).open(page.url)
    expect_layer(again, 5)
    expect_weight(again, 4, 2, contributions.maps[4, 3, 1], number="contribution")


def expect_layer(page: Page, layer: int, patience: float = PATIENCE_MS) -> None:
    """A layer as a whole is open, counted from 1: the words, the grid and the heatmap's heading say so."""
    expect(page.locator(".words .status")).to_contain_text(f"Layer {layer}: ", timeout=patience)
    expect(page.get_by_role("gridcell", selected=True)).to_have_accessible_name(f"Layer {layer}", timeout=patience)
    heading = page.get_by_text(f"Layer {layer}, all heads together with the residual stream.")
    expect(heading).to_be_visible(timeout=patience)


QUOTED = 'He said "it\'s late" \\n and left. 🙂'


def test_what_is_copied_computes_what_is_on_the_screen(
    visit: StartVisit, app_url: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = visit(400, 800)
    page: Page = window.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    window.open(f"{app_url}/attention?view=lines&text={QUOTED}&layer=3&head=5")
    page.get_by_role("button", name="As Python", exact=True).click()
    lines = page.locator(".st-key-lines-of-python pre")
    expect(lines).to_contain_text("numbers = ")
    box = page.get_by_test_id("stPopoverBody").bounding_box()
    assert box is not None
    assert box["height"] > 200  # above its button, which stands at the end of the page
    assert box["y"] >= 0
    lines.hover()
    window.until(
        page.get_by_role("button", name="Copy to clipboard").click,
        lambda patience: expect(page.get_by_role("button", name="Copied")).to_be_visible(timeout=patience),
    )
    copied = page.evaluate("navigator.clipboard.readText()")
    monkeypatch.setattr(model_zoo, "Engine", lambda: engine)
    namespace: dict[str, Any] = {}
    exec(copied, namespace)
    np.testing.assert_array_equal(namespace["numbers"], engine.attend("embedded/bert", QUOTED).head(2, 4))

    page.keyboard.press("Escape")
    window.until(
        page.get_by_role("button", name="Cite", exact=True).click,
        lambda patience: expect(page.get_by_test_id("stCode").first).to_contain_text("@misc{", timeout=patience),
    )
    for expected in (engine.info("embedded/bert").revision, "in the app: /attention?text=He+said"):
        expect(page.get_by_test_id("stCode").last).to_contain_text(expected)


BARS = "[class*='st-key-heads-that-look-there-most'] .js-plotly-plot"


def test_the_answer_is_on_the_first_screen_and_a_bar_opens_its_head(
    visit: StartVisit, app_url: str, engine: Engine
) -> None:
    here = visit(height=720)
    page = here.open(f"{app_url}/attention?view=who")
    bars, sentence = page.locator(BARS), page.get_by_text("looks from “it” at “cat” most")
    expect(bars.locator(".bars .point")).to_have_count(10)
    assert bars.bounding_box()["y"] <= 300
    box = sentence.bounding_box()
    assert box["y"] + box["height"] <= 720
    page.set_viewport_size({"width": 400, "height": 800})
    measure(page)
    assert bars.bounding_box()["y"] <= 420
    page.set_viewport_size({"width": 1280, "height": 720})
    measure(page)

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
