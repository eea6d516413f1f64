"""The glossary from a dotted word, and the model box, which shows its choice whole."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from model_zoo import registry
from ui.glossary import TERMS
from ui.widgets import in_the_box

pytestmark = pytest.mark.browser


def test_a_dotted_word_says_what_it_means_and_opens_the_glossary(visit: Callable[..., Any], app_url: str) -> None:
    here = visit()
    page: Page = here.open(f"{app_url}/learn?lesson=head")
    word = page.locator(".term", has_text="query").first
    meaning = word.locator(".said")
    expect(meaning).to_be_hidden()
    word.focus()
    expect(meaning).to_be_visible()
    expect(meaning).to_contain_text(TERMS["query"].meaning)
    with page.expect_popup() as opened:
        meaning.get_by_role("link", name="Glossary").click()
    glossary = opened.value
    expect(glossary.locator(".glossary dt").first).to_have_text("Query")
    expect(glossary.get_by_label("Find a term")).to_have_value("query")
    glossary.close()


@pytest.mark.parametrize("width", [1280, 400])
def test_the_model_box_shows_its_choice_whole(width: int, visit: Callable[..., Any], app_url: str) -> None:
    longest = max(registry.MODELS, key=lambda model: len(in_the_box(model)) * (registry.MODELS[model].hub_id is None))
    here = visit(width)
    page: Page = here.open(f"{app_url}/attention?model={longest}")
    box = page.locator(".st-key-model [data-baseweb='select'] input, .st-key-model input").first
    expect(box).to_have_value(in_the_box(longest))
    visible, needed = box.evaluate("(box) => [box.clientWidth, box.scrollWidth]")
    assert needed <= visible
    box.click()
    item = page.get_by_role("option", name=in_the_box(longest))
    size = item.locator("[data-item-hl]").evaluate("(item) => getComputedStyle(item, '::after').content")
    assert size == '"6 layers × 4 heads, 5 million weights, bundled"'
