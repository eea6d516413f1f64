"""For everybody: axe-core on every page in both themes, the keyboard, no motion where none is wanted, large type."""

import io
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.base import AXE_SCRIPT
from on_screen import StartVisit, wait_for
from PIL import Image
from playwright.sync_api import CDPSession, Page, expect

from benchmarks.positions import PageView, measure
from pages import PAGES

Views = Callable[..., Iterator[tuple[Page, PageView]]]
SERIOUS = ("serious", "critical")
TABS_TO_THE_FIRST_WORD = 35
SEEN = 100  # pixels that have to change where something gets the focus
ACTIVE = """(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element;
})()"""
# What a focused element's ring can be drawn on: it, and its label where it is a box that nobody sees.
FOCUSED = f"""(() => {{
    const element = {ACTIVE};
    const hidden = element.matches('input[type="checkbox"], input[type="radio"]');
    const {{ left, top, right, bottom }} = (hidden ? element.closest('label') : element).getBoundingClientRect();
    return {{ box: [left, top, right, bottom], in_words: element.matches('.words .word') }};
}})()"""
RESTS = "document.getAnimations().every(animation => animation.playState === 'finished')"
COLOURED = f"""theme => {RESTS}
    && getComputedStyle(document.querySelector('[data-testid="stApp"]')).colorScheme === theme"""
# What in the app's components is animated for longer than a few milliseconds although the reader asked for less.
MOVES = """() => {
    const found = [];
    const look = (root) => {
        for (const element of root.querySelectorAll('*')) {
            if (element.shadowRoot) look(element.shadowRoot);
            if (root === document) continue; // Streamlit's own
            const style = getComputedStyle(element);
            const longest = `${style.transitionDuration}, ${style.animationDuration}`.split(', ').map(parseFloat);
            if (Math.max(...longest) > 0.01) found.push(element.outerHTML.slice(0, 100));
        }
    };
    look(document);
    return found;
}"""


def violations(page: Page, **options: Any) -> list[str]:
    """What axe-core finds serious in the page; its text goes in by the devtools, past the app's policy."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(f"(() => {{ {AXE_SCRIPT} }})()")
    options = {"resultTypes": ["violations"], **options}
    reported = page.evaluate("options => axe.run(document, options).then(({ violations }) => violations)", options)
    return [
        f"{rule['id']}: {rule['help']}: {node['target']} {node['html'][:200]} {node['failureSummary']}"
        for rule in reported
        if rule["impact"] in SERIOUS
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_axe_finds_nothing_serious_and_nothing_moves(name: str, views: Views) -> None:
    """Themes differ in their colours alone: the other rules are held to one of them. Each page is looked at in the view
    it opens with: all views together take minutes.
    """
    violating = []
    for page, page_view in itertools.islice(views(name, "dark"), 1):
        for theme, rules in (("dark", {"runOnly": {"type": "rule", "values": ["color-contrast"]}}), ("light", {})):
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            wait_for(page, COLOURED, theme)
            measure(page)
            violating += [f"{page_view.view}, {theme}: {violation}" for violation in violations(page, **rules)]
        violating += [f"{page_view.view}: moves: {element}" for element in page.evaluate(MOVES)]
        page.emulate_media(color_scheme="dark")
    assert not violating, "\n".join(violating)


class Keyboard:
    """Presses Tab, and tells of each element that gets the focus its name and how many pixels of it show that."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.devtools: CDPSession = page.context.new_cdp_session(page)
        self.before = self._picture()

    def _picture(self) -> np.ndarray:
        with Image.open(io.BytesIO(self.page.screenshot())) as image:
            return np.asarray(image.convert("RGB")).astype(int)

    def tab(self) -> tuple[str, str, int, bool]:
        """Role, name, pixels of it that are not as they were before anything had the focus, whether it is a word."""
        self.page.keyboard.press("Tab")
        wait_for(self.page, RESTS)
        element = self.devtools.send("Runtime.evaluate", {"expression": ACTIVE})["result"]["objectId"]
        tree = self.devtools.send("Accessibility.getPartialAXTree", {"objectId": element, "fetchRelatives": False})
        focused_node = tree["nodes"][0]
        focused = self.page.evaluate(FOCUSED)
        left, top, right, bottom = (round(edge) for edge in focused["box"])
        changed = np.abs(self._picture() - self.before).max(axis=-1) > 40
        seen = changed[max(0, top - 4) : bottom + 4, max(0, left - 4) : right + 4].sum()
        return focused_node["role"]["value"], focused_node["name"]["value"], int(seen), focused["in_words"]


def test_the_keyboard_comes_to_the_words_and_is_seen_on_the_way(visit: StartVisit, app_url: str) -> None:
    page = visit(height=720).open(app_url + PageView("attention", "grid").address())
    page.emulate_media(reduced_motion="reduce")
    measure(page)
    keyboard = Keyboard(page)
    way: list[tuple[str, str, int]] = []
    word = False
    while not word and len(way) <= TABS_TO_THE_FIRST_WORD:
        *stop, word = keyboard.tab()
        way.append(tuple(stop))
    assert word, f"no word within {TABS_TO_THE_FIRST_WORD} presses: {way}"
    assert [stop for stop in way if not stop[1] and stop[0] != "main"] == [], "without a name"
    assert [stop for stop in way if stop[2] < SEEN] == [], "without a focus that is seen"


def test_the_presentation_has_large_type_and_no_menu(visit: StartVisit, app_url: str) -> None:
    page = visit(height=720).open(app_url + PageView("attention", "grid").address(present="1"))
    for width in (1280, 400):
        page.set_viewport_size({"width": width, "height": 720})
        measure(page)
        assert float(page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")) >= 20
        expect(page.get_by_test_id("stHeader")).to_be_hidden()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollWidth") <= width
