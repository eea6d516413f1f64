"""``python -m benchmarks.latency [--repeats N] [--only ACTION ...]``: from a click to its picture.

Starts the app and drives Chromium; beside each action, in the same run and in turns, a click on a bare Streamlit page
that only changes a number. One JSON line per action and length of the text, medians after a warm-up; lines with
``figure`` are the figures to reach. "head": another head in the grid of Attention until its heatmap is drawn.
"measure": another measure in the switch "Show", with a new text and again when its numbers are remembered. "off": one
more head of Cause switched off until the prediction without it is drawn.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, Position

from analysis.views import Measure
from benchmarks.attention import text_of
from benchmarks.browser import chromium
from benchmarks.measure import arguments, at_most, emit, interleaved
from benchmarks.server import app
from ui.show import SHOW

BARE_PAGE = """import streamlit as st
st.session_state.n = st.session_state.get("n", 0)
if st.button("one more"):
    st.session_state.n += 1
st.markdown(f"n is {st.session_state.n}")
"""
TARGET: Final = 2.0
OFF_SENTENCE: Final = "The cat sat on the [MASK] because it was tired."
DIRECTIONS: Final[dict[Measure, str]] = {
    "value-weighted": "Takes from",
    "ALTI": "Takes from",
    "value zeroing": "Changes without",
}

# Resolves ``window.__drawn`` at the frame after what ``look`` sees has become what is waited for, and notes the press.
UNTIL = """() => {
    const inside = key => [...document.querySelectorAll(`.st-key-${key} *`)].find(host => host.shadowRoot)?.shadowRoot;
    const look = LOOK, isDone = DONE, before = look();
    window.__drawn = new Promise((done, fail) => {
        setTimeout(() => fail(new Error(`not drawn within 60 s: ${JSON.stringify(look())}`)), 60000);
        const again = () => {
            window.__seen = look();
            requestAnimationFrame(isDone(before, __seen) ? () => done(performance.now()) : again);
        };
        requestAnimationFrame(again);
    });
    window.addEventListener('mousedown', () => { window.__clicked = performance.now(); }, {once: true, capture: true});
}"""
HEATMAP = """() => {
    const heatmap = inside('heatmap')?.querySelector('.heatmap');
    const head = ['Layer', 'Head'].map(name => Number(document.querySelector(`input[aria-label="${name}"]`)?.value));
    return {
        head,
        direction: inside('lit_words')?.querySelector('.direction span')?.textContent,
        element: heatmap && (heatmap.__name ??= Math.random()),
        picture: heatmap?.dataset.picture,
    };
}"""
DRAWN_AGAIN = "now.picture && (now.element !== before.element || now.picture !== before.picture)"
# The sentence about the prediction and its bars; the map has its outline by then.
CAUSE = """() => ({
    sentence: document.querySelector('[data-testid=stMain]').innerText.match(/With [^.]* off, [^.]*/)?.[0] ?? '',
    bars: document.querySelector('.js-plotly-plot .barlayer')?.innerHTML ?? '',
    off: inside('cause_map').querySelector('.cells').dataset.picked.split(' '),
})"""


def time_click(page: Page, look: str, is_done: str, click: Callable[[], object]) -> float:
    """Milliseconds from pressing the mouse until ``is_done``, a JavaScript function of what ``look`` returned before
    and returns now, holds on the screen; then the page comes to rest.
    """
    page.evaluate(UNTIL.replace("LOOK", look).replace("DONE", is_done))
    click()
    milliseconds: float = page.evaluate("window.__drawn.then(end => end - window.__clicked)")
    wait_until_idle(page)
    return milliseconds


def click_head(page: Page, layer: int, head: int) -> float:
    """Milliseconds from pressing the mouse on a head in the grid to its heatmap drawn."""
    is_done = f"(before, now) => `${{now.head}}` === '{layer},{head}' && {DRAWN_AGAIN}"
    cell = page.locator(f'.st-key-grid [aria-label="Layer {layer}, head {head}"]')
    cell.scroll_into_view_if_needed()
    milliseconds = time_click(page, HEATMAP, is_done, cell.click)
    if page.locator(".st-key-heatmap .heatmap").get_attribute("data-picture") != page.evaluate("__seen.picture"):
        raise RuntimeError("the heatmap was drawn again after it was taken to be ready")
    return milliseconds


def click_measure(page: Page, measure: Measure, direction: str) -> float:
    """Milliseconds from pressing the mouse on an option of the switch until words and heatmap are of it."""
    page.get_by_role("combobox", name="Show").click()
    option = page.get_by_role("option", name=SHOW.labels[measure], exact=True)
    option.wait_for()
    is_done = f"(before, now) => now.direction === {json.dumps(direction)} && {DRAWN_AGAIN}"
    return time_click(page, HEATMAP, is_done, option.click)


def click_off(page: Page, layer: int, head: int) -> float:
    """Milliseconds from pressing the mouse on a head of the map of Cause to the prediction without it."""
    places: dict[str, Any] = json.loads(page.locator(".st-key-cause_map .cells").get_attribute("data-places") or "")
    canvas = page.locator(".st-key-cause_map canvas")
    position = Position(
        x=places["left"] + (head + 0.5) * places["across"], y=places["top"] + (layer + 0.5) * places["down"]
    )
    is_done = f"""(before, now) => now.sentence !== before.sentence && now.bars !== before.bars
        && now.off.includes('{layer}.{head}')"""
    return time_click(page, CAUSE, is_done, lambda: canvas.click(position=position))


def click_number(page: Page, n: int) -> float:
    """Milliseconds from pressing the mouse on the button to the new number on the bare page."""
    button = page.get_by_role("button", name="one more")
    return time_click(page, "() => document.body.innerText", f"(_, text) => text.includes('n is {n}')", button.click)


def wait_until_idle(page: Page) -> None:
    """Wait until the script has run and the page is at rest, so that one action does not slow the next."""
    page.wait_for_selector('[data-test-script-state="notRunning"]')
    page.evaluate("new Promise(done => requestIdleCallback(done, {timeout: 5000}))")


def open_page(page: Page, url: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 1100})
    page.goto(url)
    page.wait_for_selector('[data-test-script-state="notRunning"]', timeout=120_000)


@contextmanager
def beside_a_bare_page() -> Iterator[tuple[Browser, str, Page]]:
    """A browser, where the app is served, and a bare page that is open."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        script = Path(folder) / "bare.py"
        script.write_text(BARE_PAGE)
        with app("app.py") as (url, _), app(script) as (bare_url, _):
            bare_page = browser.new_page()
            open_page(bare_page, bare_url)
            yield browser, url, bare_page


def open_attention(page: Page, url: str, text: str) -> None:
    """The page with a text, its heatmap and grid drawn."""
    open_page(page, f"{url}/attention?" + urlencode({"text": text}))
    page.wait_for_selector(".st-key-heatmap .heatmap[data-picture]", timeout=60_000)
    page.wait_for_selector(".st-key-grid .heads[data-picture]")
    wait_until_idle(page)


def time_heads(page: Page, url: str, bare_click: Callable[[int], float], repeats: int) -> None:
    for n_tokens in (32, 128):
        open_attention(page, url, text_of(n_tokens))
        tasks = {"head": lambda number: click_head(page, 2 + number % 5, 2 + number % 11), "bare": bare_click}
        report("another head", n_tokens, interleaved(tasks, repeats, warm_up=3))


def time_measures(page: Page, url: str, bare_click: Callable[[int], float], repeats: int) -> None:
    for n_tokens in (32, 128):

        def show_new(measure: Measure, number: int, n_tokens: int = n_tokens) -> float:
            open_attention(page, url, text_of(n_tokens, [*DIRECTIONS].index(measure) + len(DIRECTIONS) * number))
            return click_measure(page, measure, DIRECTIONS[measure])

        def show_again(measure: Measure, _number: int) -> float:
            click_measure(page, "weights", "Attends to")
            return click_measure(page, measure, DIRECTIONS[measure])

        tasks: dict[str, Callable[[int], float]] = {"bare": bare_click}
        for measure in DIRECTIONS:
            tasks |= {measure: partial(show_new, measure), f"{measure} again": partial(show_again, measure)}
        report("another measure", n_tokens, interleaved(tasks, repeats, warm_up=1))


def time_off(page: Page, url: str, bare_click: Callable[[int], float], repeats: int) -> None:
    open_page(page, f"{url}/cause?{urlencode({'text': OFF_SENTENCE, 'off': '1.1'})}")
    page.wait_for_selector(".st-key-cause_map .cells[data-picture]")
    wait_until_idle(page)
    # Each click switches one more head off: the second of the first layer, of the second, and so on.
    tasks = {"off": lambda number: click_off(page, number % 6, 1 + number // 6), "bare": bare_click}
    report("a head off", len(OFF_SENTENCE.split()) + 3, interleaved(tasks, repeats, warm_up=3))


def report(action: str, n_tokens: int, milliseconds: dict[str, float]) -> None:
    """The medians, and each as a multiple of a click on the bare page."""
    emit(action=action, tokens=n_tokens, **milliseconds)
    for name, value in milliseconds.items():
        if name != "bare":
            at_most(f"{name}, {n_tokens} tokens, over a bare page", value / milliseconds["bare"], TARGET)


ACTIONS: Final = {"head": time_heads, "measure": time_measures, "off": time_off}


def main() -> None:
    parser = arguments(__doc__, 15)
    parser.add_argument("--only", nargs="+", choices=ACTIONS, default=list(ACTIONS))
    options = parser.parse_args()
    with beside_a_bare_page() as (browser, url, bare_page):
        clicks = itertools.count(1)
        for name in options.only:
            page = browser.new_page()
            ACTIONS[name](page, url, lambda _: click_number(bare_page, next(clicks)), options.repeats)
            page.close()


if __name__ == "__main__":
    main()
