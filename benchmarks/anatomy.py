"""The walk through a model (``viz.anatomy``): what is sent to the browser, and how smoothly it zooms.

    python -m benchmarks.anatomy [--flights N]

Prints two JSON lines per bundled model, for a sentence of 16 tokens: ``zoom`` is the picture of the lessons, ``run``
that of the home page, through which the sentence runs. ``payload_kb`` are all the bytes of the component's data,
``picture_kb`` those of its scripts and styles, too. The frames are those of flights in headless Chromium from the whole
to a part, on to one of its numbers, and back, or of one run from beginning to end: ``draw_ms`` is the time that our own
code takes in a frame, ``frame_ms`` the time from one frame to the next, which is 16.7 ms at 60 frames a second and
holds Chromium's own drawing, here without a graphics card.
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
PARTS = 8  # from the text to the query, along the walk
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


def flights(page: Page, n: int) -> dict[str, Any]:
    """Times of the frames, in ms: from the whole into a part, to a number, and back, n times."""
    at_rest = page.locator(".anatomy[data-still='true']")
    at_rest.wait_for()
    page.locator("canvas").focus()
    for _ in range(PARTS):
        page.keyboard.press("ArrowRight")
    drawn: list[float] = []
    frames: list[float] = []
    page.evaluate(WATCH)
    for _ in range(n):
        for key in ("Enter", "Enter", "Escape", "Escape"):
            page.evaluate("() => { drawn.length = starts.length = 0; }")
            page.keyboard.press(key)
            page.locator(".anatomy[data-still='true']").wait_for()
            drawn += page.evaluate("drawn")
            frames += np.diff(page.evaluate("starts")).tolist()
    return _of(drawn, frames)


def run_through(page: Page) -> dict[str, Any]:
    """Times of the frames, in ms: from the first character to the words."""
    page.locator(".anatomy[data-still='false']").wait_for()
    status = page.get_by_role("status")
    status.get_by_text(FIRST).wait_for()
    page.evaluate(WATCH)
    status.get_by_text(LAST).wait_for()
    return _of(page.evaluate("drawn"), np.diff(page.evaluate("starts")).tolist())


def _of(drawn: list[float], frames: list[float]) -> dict[str, Any]:
    return {
        "frames": len(drawn),
        **{
            f"{name}_{what}": round(float(np.percentile(times, percentile)), 1)
            for name, times in (("draw_ms", drawn), ("frame_ms", frames))
            for what, percentile in (("median", 50), ("p95", 95))
        },
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--flights", type=int, default=2)
    n_flights = parser.parse_args().flights
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
            given: dict[str, Any] = {
                "n_layers": spec.layers,
                "n_heads": spec.heads,
                "position": 9,
                "predictions": guess,
            }
            kinds: dict[str, dict[str, Any]] = {"zoom": {}, "run": {"flows": flows, "opens": opens}}
            for kind, more in kinds.items():
                sent = payload(anatomy, **given, **more)
                html = standalone_html(SOURCE, sent, title="The walk", caption=TEXT, meta={})
                file.write_text(html.replace("max-width: 60rem", "max-width: none"), encoding="utf-8")
                page.goto(file.as_uri())
                frames = run_through(page) if kind == "run" else flights(page, n_flights)
                data = len(pack(sent))
                size = {"payload_kb": data / 1000, "picture_kb": (data + sum(map(len, SOURCE.values()))) / 1000}
                emit(benchmark="anatomy", kind=kind, model=spec.id, tokens=len(anatomy.encoding), **size, **frames)


if __name__ == "__main__":
    main()
