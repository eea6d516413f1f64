"""Masked words and next sentence in a real browser: a bar fills a mask, history, a list that is stopped."""

import re

from on_screen import StartVisit, wait_for
from playwright.sync_api import Page, expect

from benchmarks.positions import PageView, measure
from model_zoo import Engine

TEXT = "The keys to the cabinet are on the table."


def test_a_word_is_masked_by_keyboard_and_a_click_on_a_bar_fills_it(
    visit: StartVisit, app_url: str, engine: Engine
) -> None:
    third = engine.fill_mask("embedded/bert", TEXT, 10, masked=[2])[0].best[2]
    window = visit()
    page: Page = window.open(f"{app_url}/masked_words?text={TEXT}&masks=")
    page.get_by_role("button", name="keys", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("paragraph").filter(has_text="original “keys”")).to_be_visible()
    bar = page.locator(".js-plotly-plot .barlayer .point path").nth(2)
    filled = TEXT.replace("keys", third.token)
    window.until(
        lambda: bar.click(force=True),
        lambda patience: expect(page.get_by_label("Text", exact=True)).to_have_value(filled, timeout=patience),
    )


def test_bars_strip_and_links_are_whole_on_a_projector(visit: StartVisit, app_url: str) -> None:
    """With a text of 16 tokens and a replacement; ``test_positions`` looks at all views without one."""
    window = visit(1280, 720)
    page: Page = window.open(app_url + PageView("masked_words", "predictions").address(masks="9", replacement="young"))
    measure(page)
    bars, strip = page.locator(".js-plotly-plot").bounding_box(), page.locator(".st-key-word_strip")
    assert bars["y"] + bars["height"] <= 720
    assert strip.evaluate("strip => strip.scrollHeight <= strip.clientHeight")
    assert strip.bounding_box()["y"] + strip.bounding_box()["height"] <= bars["y"]
    window.open(app_url + PageView("masked_words", "attention").address(masks="9"))
    measure(page)
    links = page.get_by_test_id("stPageLink-NavLink").filter(has_text="layer ")
    assert links.count() == 8
    assert links.evaluate_all("every => every.every(one => one.scrollWidth <= one.clientWidth)")
    assert links.first.inner_text().rstrip().endswith("%")


def test_ranks_have_most_of_a_narrow_column_and_their_legend_fits(visit: StartVisit, app_url: str) -> None:
    window = visit()
    text = "The telecommunications company was sold."
    page: Page = window.open(f"{app_url}/masked_words?text={text}&masks=3&view=layers")
    figure = page.locator(".st-key-lens-ranks .js-plotly-plot")
    legend = figure.locator(".annotation-text")
    expect(legend).to_have_count(4)
    for width in (1280, 400):
        page.set_viewport_size({"width": width, "height": 1000})
        measure(page)
        outer, plot = figure.bounding_box(), figure.locator(".gridlayer .y").bounding_box()
        assert plot["width"] > 0.75 * outer["width"]
        for entry in (legend.nth(place).bounding_box() for place in range(4)):
            assert outer["x"] <= entry["x"]
            assert entry["x"] + entry["width"] <= outer["x"] + outer["width"]
            assert entry["y"] + entry["height"] <= plot["y"]


def test_surprisal_stands_under_the_words_and_hostile_tokens_are_text(visit: StartVisit, app_url: str) -> None:
    window = visit()
    text = "<img src=x onerror=alert(1)> is <b>bold</b>."
    page: Page = window.open(f"{app_url}/masked_words?text={text}&masks=&view=surprise")
    words = page.locator(".token-line .item")
    expect(words.first.locator(".cell").first).to_have_text("<")
    expect(words.first.locator(".cell.small")).to_have_text(re.compile(r"^\d+\.\d$"))
    assert page.locator(".token-line img, .token-line b").count() == 0


def test_back_and_forward_bring_text_and_masks_together(visit: StartVisit, app_url: str) -> None:
    """The mask stands at the same place in both sentences; it does not move along as when a sentence is edited."""
    window = visit()
    page: Page = window.open(f"{app_url}/masked_words")
    for title, word in (("One word fits", "was"), ("Several words fit", "coffee")):
        page.get_by_role("button", name="Examples").click()
        page.get_by_role("menuitem", name=title, exact=True).click()
        expect(page.locator(".st-key-mask_strip [aria-pressed='true']")).to_have_text(word)
        window.wait_until_idle()
        expect(page.get_by_role("menuitem")).to_have_count(0)  # a choice closes the menu
        if word == "was":  # another view is a step; the second example goes back to the first view, another one
            page.get_by_role("radio", name="Layer by layer").click()
            expect(page.get_by_text("Best tokens after every layer")).to_be_visible()
            window.wait_until_idle()
    page.go_back()
    expect(page.get_by_text("Best tokens after every layer")).to_be_visible()
    expect(page.locator(".st-key-mask_strip [aria-pressed='true']")).to_have_text("was")
    expect(page.get_by_label("Text", exact=True)).to_have_value("The doctor said that she was tired.")
    window.wait_until_idle()
    page.go_forward()
    expect(page.get_by_text("original “coffee”")).to_be_visible()


A, B = "She opened the window.", "Cold air came into the room."


def test_a_long_list_is_stopped_and_keeps_what_it_has(visit: StartVisit, app_url: str) -> None:
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


def test_the_link_opens_the_head_with_its_part_of_attention(visit: StartVisit, app_url: str) -> None:
    window = visit()
    page: Page = window.open(f"{app_url}/next_sentence?text={A}&pair={B}&view=attention")
    page.get_by_test_id("stPageLink").first.locator("a").click()
    page.wait_for_url("**/attention?*")
    wait_for(page, "new URLSearchParams(location.search).get('direction') === 'A->B'")
    expect(page.get_by_label("Text", exact=True)).to_have_value(A)
