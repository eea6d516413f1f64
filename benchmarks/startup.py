"""``python -m benchmarks.startup [--repeats N]``: how long until somebody sees something, and in how much memory.

Seconds from ``streamlit run`` to the home page drawn and, from a fresh start, to the first heatmap, in a real
browser; beside them, in the same run, a bare Python that imports streamlit, torch and transformers and loads
the same model. Medians over the repeats. ``memory_mb`` is the resident memory of the app after the heatmap.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

import psutil
from playwright.sync_api import Browser, sync_playwright

from benchmarks.browser import chromium
from benchmarks.measure import emit
from benchmarks.server import app

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
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
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
        memory = psutil.Process(process.pid).memory_info().rss / 2**20
        page.close()
    return seconds, memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    bares, homes, heatmaps = [], [], []
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        for _ in range(repeats):
            bares.append(bare())
            homes.append(seconds_until(browser, "/", "[data-testid='stPageLink']"))
            heatmaps.append(seconds_until(browser, "/attention", ".heatmap[data-picture]"))
        browser.close()

    def median(values: list[tuple[float, float]], of: int) -> float:
        return statistics.median(value[of] for value in values)

    emit(
        benchmark="startup",
        bare_s=median(bares, 0),
        home_s=median(homes, 0),
        heatmap_s=median(heatmaps, 0),
        heatmap_over_bare=median(heatmaps, 0) / median(bares, 0),
        bare_memory_mb=median(bares, 1),
        memory_mb=median(heatmaps, 1),
    )


if __name__ == "__main__":
    main()
