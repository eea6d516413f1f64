"""A Streamlit app served for a benchmark, in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]


@contextmanager
def app(
    script: str | Path, streamlit: str = "streamlit", environment: Mapping[str, str] | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """``streamlit run script`` on a free port, healthy; ends with the block.

    ``streamlit`` is the module whose command line serves, ``environment`` what is added to this process' own.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", streamlit, "run", str(script), "--server.headless=true"]
    process = subprocess.Popen(
        [*command, f"--server.port={port}", "--server.address=127.0.0.1"],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
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
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:  # it is still answering somebody
            process.kill()
            process.wait()
