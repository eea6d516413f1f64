"""``python -m benchmarks.latency [--repeats N]``: how long a click takes until the new picture is drawn.

Starts the app and drives Chromium: a click on another head in the grid until that head's heatmap is drawn, at 32
and 128 tokens; beside it, in the same run and in turns, a click on a bare Streamlit page that only changes a
number. One JSON line per action, medians after a warm-up.
"""

from __future__ import annotations

import itertools
import tempfile
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page

from benchmarks.attention import text_of
from benchmarks.browser import chromium
from benchmarks.measure import arguments, emit, interleaved
from benchmarks.server import app

BARE_PAGE = """import streamlit as st
st.session_state.n = st.session_state.get("n", 0)
if st.button("one more"):
    st.session_state.n += 1
st.markdown(f"n is {st.session_state.n}")
"""
TARGET = 2.0

# Resolves when the heatmap is drawn for the wanted head: the steppers say it, and the component has drawn another
# picture, which it counts on its element.
CLICK_HEAD = """([layer, head]) => new Promise((resolve, reject) => {
    const inside = key => [...document.querySelectorAll(`.st-key-${key} *`)].find(host => host.shadowRoot).shadowRoot;
    const box = inside('grid').querySelector(`[aria-label="Layer ${layer}, head ${head}"]`).getBoundingClientRect();
    const heatmap = inside('heatmap').querySelector('.heatmap');
    const before = heatmap.dataset.picture;
    const wanted = `Layer ${layer}, head ${head}`;
    const place = {x: box.x + box.width / 2, y: box.y + box.height / 2};
    window.__drawn = new Promise((done, fail) => {
        setTimeout(() => fail(new Error(`${wanted} was not drawn within 30 s`)), 30000);
        const look = () => {
            const set = [["Layer", layer], ["Head", head]].every(([name, number]) =>
                Number(document.querySelector(`input[aria-label="${name}"]`)?.value) === number);
            window.__picture = heatmap.dataset.picture;
            if (set && __picture !== before) requestAnimationFrame(() => done(performance.now()));
            else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
    });
    window.addEventListener('mousedown', () => { window.__clicked = performance.now(); },
                            {once: true, capture: true});
    resolve(place);
})"""


def click_head(page: Page, layer: int, head: int) -> float:
    """Milliseconds from pressing the mouse on a head in the grid to its heatmap drawn."""
    page.evaluate("document.querySelector('.st-key-grid').scrollIntoView({block: 'center'})")
    place = page.evaluate(CLICK_HEAD, [layer, head])
    page.mouse.move(place["x"], place["y"])
    page.mouse.click(place["x"], place["y"])
    milliseconds: float = page.evaluate("window.__drawn.then(end => end - window.__clicked)")
    counted = page.evaluate("window.__picture")
    wait_until_idle(page)
    if page.locator(".st-key-heatmap .heatmap").get_attribute("data-picture") != counted:
        raise RuntimeError("the heatmap was drawn again after it was taken to be ready")
    return milliseconds


def click_number(page: Page, n: int) -> float:
    """Milliseconds from pressing the mouse on the button to the new number on the bare page."""
    page.evaluate(
        """n => {
            window.__drawn = new Promise(done => {
                const look = () => document.body.innerText.includes(`n is ${n}`)
                    ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(look);
                requestAnimationFrame(look);
            });
            window.addEventListener('mousedown', () => { window.__clicked = performance.now(); },
                                    {once: true, capture: true});
        }""",
        n,
    )
    page.get_by_role("button", name="one more").click()
    milliseconds: float = page.evaluate("window.__drawn.then(end => end - window.__clicked)")
    wait_until_idle(page)
    return milliseconds


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


def _click_in_turn(page: Page, number: int) -> float:
    return click_head(page, 2 + number % 5, 2 + number % 11)


def main() -> None:
    repeats = arguments(__doc__, 15).parse_args().repeats
    with beside_a_bare_page() as (browser, url, bare_page):
        clicks = itertools.count(1)
        for n_tokens in (32, 128):
            page = browser.new_page()
            open_page(page, f"{url}/attention?" + urllib.parse.urlencode({"text": text_of(n_tokens)}))
            page.wait_for_selector(".st-key-heatmap .heatmap[data-picture]", timeout=60_000)
            page.wait_for_selector(".st-key-grid .heads[data-picture]")
            sides: dict[str, Callable[[int], float]] = {
                "click_ms": partial(_click_in_turn, page),
                "bare_page_ms": lambda _: click_number(bare_page, next(clicks)),
            }
            took = interleaved(sides, repeats, warm_up=3)
            page.close()
            ratio = took["click_ms"] / took["bare_page_ms"]
            emit(action="another head", tokens=n_tokens, **took, ratio=ratio, to_reach=TARGET)


if __name__ == "__main__":
    main()
