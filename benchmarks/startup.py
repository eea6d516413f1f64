"""``python -m benchmarks.startup [--repeats N]``: how long until somebody sees something, and in how much memory.

Seconds from ``streamlit run`` to the home page drawn and, from a fresh start, to the first heatmap, in a real
browser; beside them, in the same run, a bare Python that imports streamlit, torch and transformers and loads
the same model. Medians over the repeats. ``memory_mb`` is the resident memory of the app after the heatmap.
"""

from __future__ import annotations

import subprocess
import sys
import time

import psutil
from playwright.sync_api import Browser

from benchmarks.browser import chromium
from benchmarks.measure import arguments, columns, emit
from benchmarks.server import app
from model_zoo.types import MB

BARE = """
import resource, time
start = time.perf_counter()
import streamlit, plotly.graph_objects, torch
from transformers import AutoTokenizer, BertForPreTraining
from model_zoo import sources
folder = sources.embedded_folder("embedded/bert")
model = BertForPreTraining.from_pretrained(folder).eval()
tokenizer = AutoTokenizer.from_pretrained(folder)
with torch.inference_mode():
    model(**tokenizer("The cat sat on the mat.", return_tensors="pt"))
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 10**6)
"""


def bare() -> tuple[float, float]:
    """Seconds from starting Python to a bare forward pass done, and megabytes at its peak."""
    start = time.perf_counter()
    output = subprocess.run([sys.executable, "-c", BARE], capture_output=True, text=True, check=True).stdout
    return time.perf_counter() - start, float(output.split()[-1])


def seconds_until(browser: Browser, path: str, selector: str) -> tuple[float, float]:
    """Seconds from ``streamlit run`` until ``selector`` is on the page at ``path``, and the app's memory then."""
    start = time.perf_counter()
    with app("app.py") as (url, process):
        page = browser.new_page()
        page.goto(url + path)
        page.wait_for_selector(selector, timeout=120_000)
        seconds = time.perf_counter() - start
        memory = psutil.Process(process.pid).memory_info().rss / MB
        page.close()
    return seconds, memory


def main() -> None:
    repeats = arguments(__doc__, 5).parse_args().repeats
    bares, homes, heatmaps = [], [], []
    with chromium() as browser:
        for _ in range(repeats):
            bares.append(bare())
            homes.append(seconds_until(browser, "/", "[data-testid='stPageLink']"))
            heatmaps.append(seconds_until(browser, "/attention", ".heatmap[data-picture]"))
    (bare_s, bare_mb), (home_s, _), (heatmap_s, memory_mb) = (columns(runs) for runs in (bares, homes, heatmaps))
    seconds = {"bare_s": bare_s, "home_s": home_s, "heatmap_s": heatmap_s, "heatmap_over_bare": heatmap_s / bare_s}
    emit(benchmark="startup", **seconds, bare_memory_mb=bare_mb, memory_mb=memory_mb)


if __name__ == "__main__":
    main()
