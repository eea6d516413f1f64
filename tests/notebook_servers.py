"""JupyterLab with Notebook 7, and marimo, served from a folder to a browser, with homes of their own: they read no
settings of whoever starts them, and leave none.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from benchmarks.server import ROOT, end, free_port, wait_until_healthy

OPEN = "jupyterapp.shell.currentWidget"
"""In a page of ``jupyter``: the notebook that is open."""

# What Lab would ask its visitor about, and would ask the network for.
_NO_NEWS = {"fetchNews": "false", "checkForUpdates": False}


@contextmanager
def jupyter(folder: Path) -> Iterator[str]:
    """JupyterLab, which serves Notebook 7, too, on ``folder``: ``URL/lab/tree/NAME``, ``URL/notebooks/NAME``. Its
    kernels find the project as a checkout has it. Pages hold the application as ``jupyterapp``.
    """
    with tempfile.TemporaryDirectory(prefix="inside-bert-lab-") as home:
        settings = Path(home) / "settings" / "@jupyterlab" / "apputils-extension"
        settings.mkdir(parents=True)
        (settings / "notification.jupyterlab-settings").write_text(json.dumps(_NO_NEWS), encoding="utf-8")
        folders = {
            "JUPYTERLAB_SETTINGS_DIR": str(Path(home) / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(Path(home) / "workspaces"),
            "JUPYTER_CONFIG_DIR": str(Path(home) / "config"),
            "JUPYTER_DATA_DIR": str(Path(home) / "data"),
            "JUPYTER_RUNTIME_DIR": str(Path(home) / "runtime"),
        }
        words = ["-m", "jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.root_dir={folder}",
                 "--ServerApp.ip=127.0.0.1", "--ServerApp.port={port}", "--ServerApp.port_retries=0",
                 "--IdentityProvider.token=", "--LabApp.extension_manager=readonly",
                 "--LabApp.expose_app_in_browser=True", "--JupyterNotebookApp.expose_app_in_browser=True"]  # fmt: skip
        with _served(words, home, folders, "/api/status") as url:
            yield url


@contextmanager
def marimo(file: Path) -> Iterator[str]:
    """A notebook of marimo's as the app that ``marimo run`` makes of it, light or dark as the browser says."""
    with tempfile.TemporaryDirectory(prefix="inside-bert-marimo-") as home:
        settings = Path(home) / "marimo"
        settings.mkdir()
        (settings / "marimo.toml").write_text('[display]\ntheme = "system"\n', encoding="utf-8")
        words = ["-m", "marimo", "-q", "run", str(file), "--headless", "--no-token", "--host=127.0.0.1",
                 "--port={port}"]  # fmt: skip
        with _served(words, home, {"XDG_CONFIG_HOME": home, "MARIMO_SKIP_UPDATE_CHECK": "1"}, "/health") as url:
            yield url


@contextmanager
def _served(words: Sequence[str], home: str, environment: dict[str, str], health: str) -> Iterator[str]:
    url = f"http://127.0.0.1:{(port := free_port())}"
    home_settings = {"HOME": home, "IPYTHONDIR": home, "PYTHONPATH": str(ROOT), **environment}
    log = Path(home) / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *(word.format(port=port) for word in words)],
            cwd=home,
            env={**os.environ, **home_settings},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until_healthy(url + health, process, log)
        yield url
    finally:
        end(process)  # Jupyter ends its kernels first


def connected(page: Page) -> None:
    """Wait until the notebook that Lab or Notebook 7 has open is connected to a kernel: what is run before is lost."""
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel")
    page.evaluate(f"{OPEN}.sessionContext.ready")


def command(page: Page, name: str, **arguments: Any) -> None:
    """Do what a line of Lab's menus does, and wait until it is done."""
    page.evaluate("([name, given]) => jupyterapp.commands.execute(name, given)", [name, arguments])
