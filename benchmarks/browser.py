"""A Chromium for the benchmarks that need a real one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright


@contextmanager
def chromium() -> Iterator[Browser]:
    """Headless Chromium from ``BROWSER_PATH`` or the path, closed with the block."""
    path = os.environ.get("BROWSER_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
    arguments = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()
