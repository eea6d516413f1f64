"""Example sentences in a real browser: more when asked for, ways by click and by address, both themes, a phone."""

from collections.abc import Callable
from typing import Any

from on_screen import StartVisit
from playwright.sync_api import expect

from viz.example_sentences import SOURCE, ExampleSentence, payload
from viz.lit_words import shades

HOSTILE = "</script><img src=x onerror=alert(1)> & 100% cat"


def colour(written: str) -> str:
    return "rgb({}, {}, {})".format(*(int(written[at : at + 2], 16) for at in (1, 3, 5)))


def test_sentences_their_words_and_their_ways(mounted: Callable[..., Any]) -> None:
    page, run = mounted(SOURCE)
    cat = ExampleSentence("The cat sat.", (8, 11), (((4, 7), 1.0),), beside="83%", note="layer 3, head 4")
    hostile = ExampleSentence(HOSTILE, (0, 5), expected=(len(HOSTILE) - 3, len(HOSTILE)))
    sentences = [cat, hostile, *[cat] * 10]
    ways = {"Attention": ["attention?layer=3"] * 12, "Cause": [f"cause?off=3.{place}" for place in range(1, 13)]}
    run({**payload(sentences, "attention", ways, first=4), "weights": b""})
    rows = page.locator(".examples .row")
    expect(rows).to_have_count(4)
    expect(rows.first).to_have_attribute("aria-label", "“sat” looks at “cat”, attention 83%")
    expect(rows.first.locator(".framed")).to_have_text("sat")
    lit = rows.first.locator("[data-shade]")
    ground, ink = shades(dark=False)[-1]
    expect(lit).to_have_css("background-color", colour(ground))
    expect(lit).to_have_css("color", colour(ink))
    expect(rows.nth(1).locator(".sentence")).to_have_text(HOSTILE)
    expect(rows.nth(1).locator(".expected")).to_have_css("outline-style", "dashed")

    address = rows.nth(1).get_by_role("link", name="Cause").get_attribute("href")
    assert address == "cause?off=3.2&text=%3C%2Fscript%3E%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%20%26%20100%25%20cat"
    rows.nth(2).get_by_role("link", name="Cause").click()
    assert page.evaluate("reports") == [["open", [2, 1]]]
    page.get_by_role("button", name="Show all 12").click()
    expect(rows).to_have_count(12)
    expect(page.get_by_role("button", name="Show all 12")).to_be_hidden()
    expect(rows.nth(4).get_by_role("link", name="Attention")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("reports.at(-1)") == ["open", [4, 0]]
    run({**payload(sentences, "attention", ways, first=4), "weights": b""})  # the same again: nothing is folded away
    expect(rows).to_have_count(12)

    page.emulate_media(color_scheme="dark")
    expect(lit).to_have_css("background-color", colour(shades(dark=True)[-1][0]))
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_a_text_too_long_for_an_address_is_opened_by_a_click(mounted: Callable[..., Any]) -> None:
    page, run = mounted(SOURCE)
    run({**payload([ExampleSentence("a " * 1600)], "attention", {"Attention": ["attention?layer=3"]}), "weights": b""})
    link = page.get_by_role("link", name="Attention")
    expect(link).to_have_attribute("href", "attention?layer=3")
    link.click()
    assert page.evaluate("reports") == [["open", [0, 0]]]


def test_a_sentence_opens_in_this_visit_and_back_leads_to_the_list(visit: StartVisit, app_url: str) -> None:
    here = visit()
    page = here.open(f"{app_url}/corpus?view=search&model=embedded/tinybert&from=NOUN&to_is=upos&to=DET")
    row = page.locator(".examples .row").nth(1)
    here.wait_until_idle()
    text = row.locator(".sentence").text_content() or ""
    before = page.url
    here.until(
        lambda: row.get_by_role("link", name="Attention").click(),
        lambda patience: page.wait_for_url("**/attention?**", timeout=patience),
    )
    expect(page.get_by_label("Text", exact=True)).to_have_value(text)
    page.go_back()
    expect(page.locator(".examples .sentence").nth(1)).to_have_text(text)
    here.wait_until_idle()
    assert page.url == before
