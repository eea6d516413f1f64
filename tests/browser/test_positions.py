"""Where things stand on the screen: the first picture of every view, what must be seen at once, how long Compare is."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page

from benchmarks.positions import MARKS, PAIR, SIZES, TEXT, PageView, measure, page_views
from model_zoo import DEFAULT_MODEL, Engine
from pages import PAGES
from ui.precomputed import EMBEDDED

PROJECTOR, TELEPHONE = SIZES
TWO_MODELS = {"models": ",".join(EMBEDDED[:2])}
Views = Callable[..., Iterator[tuple[Page, PageView]]]
WHOLE = {
    PageView("attention", "grid"): (".st-key-grid", ".st-key-heatmap"),
    PageView("masked_words", "predictions"): (".st-key-mask_strip", '[data-testid="stPlotlyChart"]'),
    PageView("next_sentence", "probability"): (".st-key-text", ".st-key-pair", ".st-key-answer"),
}
"""Parts of a view that are seen whole where the text has sixteen tokens."""

WIDTH = """Math.max(...[document.documentElement, document.querySelector('[data-testid="stMain"]')]
    .map((element) => element.scrollWidth))"""
# What is cut or too small to read: texts wider than the element that hides the rest, on the page and in components,
# words of figures that reach out of them, and type below 10 px. A text to type is one line that scrolls.
CUT = """() => {
    const found = [];
    const said = (element) => (element.textContent || element.value || '').trim().slice(0, 40);
    const look = (root) => {
        for (const element of root.querySelectorAll('*')) {
            if (element.shadowRoot) look(element.shadowRoot);
            const box = element.getBoundingClientRect();
            if (box.width < 2 || box.height < 2 || !said(element) || !element.checkVisibility()) continue;
            const style = getComputedStyle(element);
            // A sentence that is chosen is read whole in its list.
            if (element.closest('.st-key-layers_tree_sentence, .st-key-train_try_example')) continue;
            const hides = /hidden|clip/.test(style.overflowX) || element.matches('input');
            if (hides && element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1
                && !element.matches('textarea')) found.push(`cut: ${said(element)}`);
            if (!element.matches('svg text')) continue;
            const svg = element.ownerSVGElement.getBoundingClientRect();
            if (box.left < svg.left - 2 || box.right > svg.right + 2) found.push(`outside: ${said(element)}`);
            if (parseFloat(style.fontSize) < 10) found.push(`small: ${said(element)}`);
        }
    };
    look(document.querySelector('[data-testid="stMain"]'));
    return found;
}"""


def resize(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})


def test_the_texts_are_sixteen_tokens(engine: Engine) -> None:
    assert [len(engine.encode(DEFAULT_MODEL, *texts)) for texts in ((TEXT,), PAIR)] == [16, 16]


@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_the_first_picture_of_every_view_is_seen_at_once_and_no_word_is_cut(name: str, views: Views) -> None:
    """Nothing stands beside the screen; on a projector some parts are seen whole."""
    wrong = []
    for page, page_view in views(name):
        for size in SIZES:
            resize(page, size)
            top = measure(page).top
            here = f"{page_view.view or name} at {size[0]}x{size[1]}"
            if top is None or top > MARKS[size]:
                wrong.append(f"{here}: {top}, at most {MARKS[size]}")
            if page.evaluate(WIDTH) > size[0]:
                wrong.append(f"{here}: can be scrolled sideways")
            wrong += [f"{here}: {cut}" for cut in page.evaluate(CUT)]
            for part in WHOLE.get(page_view, ()) if size == PROJECTOR else ():
                box = page.locator(part).first.bounding_box()
                if box is None or box["y"] < 0 or box["y"] + box["height"] > size[1]:
                    wrong.append(f"{here}: {part} at {box}")
        resize(page, PROJECTOR)
    assert not wrong, "\n".join(wrong)


def test_what_is_seen_whole_is_in_views_that_there_are() -> None:
    assert set(WHOLE) <= set(page_views())


def test_two_models_are_compared_on_two_screens(views: Views) -> None:
    """On a telephone, where everything stands below each other, as well."""
    too_long = []
    for page, page_view in views("compare", **TWO_MODELS):
        for size in SIZES:
            resize(page, size)
            height = measure(page).height
            if height > 2 * size[1]:
                too_long.append(f"{page_view.view} at {size[0]}x{size[1]}: {height}, at most {2 * size[1]}")
        resize(page, PROJECTOR)
    assert not too_long, "\n".join(too_long)
