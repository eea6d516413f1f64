"""A Streamlit app and a Chromium for the benchmarks that need real ones."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Playwright

ROOT = Path(__file__).parents[1]


def chromium(playwright: Playwright) -> Browser:
    """Headless Chromium from ``BROWSER_PATH`` or the path."""
    path = os.environ.get("BROWSER_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
    return playwright.chromium.launch(
        executable_path=path, args=["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
    )


@contextmanager
def app(script: str | Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """``streamlit run script`` on a free port, healthy; ends with the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.headless=true"]
    process = subprocess.Popen(
        [*command, f"--server.port={port}", "--server.address=127.0.0.1"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    pause = threading.Event()
    try:
        for _ in range(2400):
            try:
                with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5):
                    break
            except OSError:
                pause.wait(0.05)
        else:
            raise RuntimeError(f"{script} did not become healthy within two minutes")
        yield url, process
    finally:
        process.terminate()
        process.wait(timeout=20)
