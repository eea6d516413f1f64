"""The walk through a model (``viz.anatomy``): what is sent to the browser, and how smoothly it zooms.

    python -m benchmarks.anatomy [--flights N]

Prints one JSON line per bundled model, for a sentence of 16 tokens. ``payload_kb`` are all the bytes of the
component's data. The frames are those of flights in headless Chromium from the whole to a part, on to one of its
numbers, and back: ``draw_ms`` is the time that our own code takes in a frame, ``frame_ms`` the time from one frame to
the next, which is 16.7 ms at 60 frames a second and holds Chromium's own drawing, here without a graphics card.
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
from viz.anatomy import SOURCE, payload
from viz.component import pack
from viz.standalone import standalone_html

TEXT = "The animal did not cross the street because it was much too tired."
PARTS = 8  # from the text to the query, along the walk

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
            sent = payload(anatomy, n_layers=spec.layers, n_heads=spec.heads, position=9)
            html = standalone_html(SOURCE, sent, title="The walk", caption=TEXT, meta={})
            file.write_text(html.replace("max-width: 60rem", "max-width: none"), encoding="utf-8")
            page.goto(file.as_uri())
            size = {"tokens": len(anatomy.encoding), "payload_kb": len(pack(sent)) / 1000}
            emit(benchmark="anatomy", model=spec.id, **size, **flights(page, n_flights))


if __name__ == "__main__":
    main()
