"""A Chromium for the benchmarks that need a real one."""

from __future__ import annotations

import os
import shutil

from playwright.sync_api import Browser, Playwright


def chromium(playwright: Playwright) -> Browser:
    """Headless Chromium from ``BROWSER_PATH`` or the path."""
    path = os.environ.get("BROWSER_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
    return playwright.chromium.launch(
        executable_path=path, args=["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
    )
