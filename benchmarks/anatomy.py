"""The walk through a model (``viz.anatomy``): what is sent to the browser, and how smoothly a text runs.

    python -m benchmarks.anatomy

Prints two JSON lines per bundled model, for a sentence of 16 tokens: ``tables`` is the picture of the lessons, ``run``
that of the home page, through which the sentence runs. ``payload_kb`` are all the bytes of the component's data,
``picture_kb`` those of its scripts and styles, too. The frames are those of one run in
headless Chromium from beginning to end: ``draw_ms`` is the time that our own code takes in a frame, ``frame_ms`` the
time from one frame to the next, which is 16.7 ms at 60 frames a second and holds Chromium's own drawing, here without a
graphics card; ``open_ms`` is the time in which a part's table is filled.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page

from benchmarks.browser import chromium
from benchmarks.measure import arguments, emit
from model_zoo import Engine
from model_zoo.questions.dissect import Dissect
from viz.anatomy import RUN_PLACES, SOURCE, payload
from viz.component import pack
from viz.standalone import standalone_html

TEXT = "The animal did not cross the street because it was much too tired."
PARTS = 24  # along the walk
FIRST, LAST = "character by character", "the model predicts"  # said of the beginning and the end of a run

WATCH = """() => {
    const ask = window.requestAnimationFrame.bind(window);
    [window.drawn, window.starts] = [[], []];
    window.requestAnimationFrame = (act) => ask((now) => {
        const start = performance.now();
        act(now);
        drawn.push(performance.now() - start);
        starts.push(now);
    });
}"""


OPEN = """() => {
    const [, next] = document.querySelectorAll("[data-step]");
    const start = performance.now();
    next.click();
    document.querySelector(".numbers").getBoundingClientRect(); // laid out, too
    return performance.now() - start;
}"""


def open_tables(page: Page) -> dict[str, Any]:
    """Times in which the tables of the parts are opened, in ms, one after the other."""
    page.locator(".anatomy[data-still='true']").wait_for()
    times = [page.evaluate(OPEN) for _ in range(PARTS)]
    return {f"open_ms_{name}": round(float(np.percentile(times, p)), 1) for name, p in (("median", 50), ("p95", 95))}


def run_through(page: Page) -> dict[str, Any]:
    """Times of the frames, in ms: from the first character to the words."""
    page.locator(".anatomy[data-still='false']").wait_for()
    status = page.get_by_role("status")
    status.get_by_text(FIRST).wait_for()
    page.evaluate(WATCH)
    status.get_by_text(LAST).wait_for()
    return _percentiles(page.evaluate("drawn"), np.diff(page.evaluate("starts")).tolist())


def _percentiles(drawn: list[float], frames: list[float]) -> dict[str, Any]:
    return {
        "frames": len(drawn),
        **{
            f"{name}_{statistic}": round(float(np.percentile(times, percentile)), 1)
            for name, times in (("draw_ms", drawn), ("frame_ms", frames))
            for statistic, percentile in (("median", 50), ("p95", 95))
        },
    }


def main() -> None:
    arguments(__doc__).parse_args()
    engine = Engine()
    with tempfile.TemporaryDirectory() as temporary, chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        file = Path(temporary) / "anatomy.html"
        for spec in (status.spec for status in engine.models()):
            if not spec.id.startswith("embedded/") or not spec.heads:
                continue
            anatomy = engine.ask(Dissect(spec.id, TEXT))
            run = engine.attend(spec.id, TEXT)
            flows = np.stack([run.layer(layer).mean(axis=0) for layer in range(run.n_layers)])
            opens = dict.fromkeys(
                [*(stage.name for stage in (*anatomy.embeddings, *anatomy.stages)), *RUN_PLACES], "it"
            )
            (guess,) = engine.fill_mask(spec.id, TEXT, masked=(9,))
            options: dict[str, Any] = {
                "n_layers": spec.layers,
                "n_heads": spec.heads,
                "position": 9,
                "predictions": guess,
            }
            kinds: dict[str, dict[str, Any]] = {"tables": {}, "run": {"flows": flows, "opens": opens}}
            for kind, more in kinds.items():
                sent = payload(anatomy, **options, **more)
                html = standalone_html(SOURCE, sent, title="The walk", caption=TEXT, meta={})
                file.write_text(html.replace("max-width: 60rem", "max-width: none"), encoding="utf-8")
                page.goto(file.as_uri())
                times = run_through(page) if kind == "run" else open_tables(page)
                data = len(pack(sent))
                size = {"payload_kb": data / 1000, "picture_kb": (data + sum(map(len, SOURCE.values()))) / 1000}
                emit(benchmark="anatomy", kind=kind, model=spec.id, tokens=len(anatomy.encoding), **size, **times)


if __name__ == "__main__":
    main()
