"""A Chromium for the benchmarks that need a real one, and what their scripts in a page share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

# For a script in a page: resolves to what ``look`` sees when that has been the same so many times; null is not yet.
AT_REST = """const atRest = async (look, times, patience) => {
    const end = performance.now() + patience;
    for (let before = '', alike = 0; ; ) {
        const seen = look(), now = JSON.stringify(seen);
        alike = seen !== null && now === before ? alike + 1 : 0;
        before = now;
        if (alike === times) return seen;
        if (performance.now() > end) throw new Error(`the page never came to rest: ${before}`);
        await new Promise((done) => setTimeout(done, 50));
    }
};
"""
# Whether the script has run and has left nothing that is still to be replaced.
IDLE = """const idle = () => document.querySelector('[data-test-script-state="notRunning"]') !== null
    && document.querySelector('[data-stale="true"], [data-testid="stSkeleton"]') === null;
"""
# Whether a component has drawn its picture.
HAS_DRAWN = """const hasDrawn = (element) => {
    const hosts = [element, ...element.querySelectorAll('*')];
    const root = hosts.find((host) => host.shadowRoot)?.shadowRoot ?? element;
    return root.querySelector('svg, canvas, .heatmap, .grid, .lines, .words, .token-line') !== null;
};
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Headless Chromium from ``BROWSER_PATH`` or the path, closed with the block."""
    path = os.environ.get("BROWSER_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
    arguments = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()
