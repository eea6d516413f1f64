"""First paint of Lines beside BertViz's head view, all 12 heads of one layer, in headless Chromium.

    python -m benchmarks.lines [--max-tokens N] [--repeats N] [--scripts FOLDER]

Prints one JSON line per length. Both pages are complete HTML files served from this machine, with the same maps;
both are timed in the same way: from navigation start until Chromium hands out a picture of the page with its
lines. Medians after one warm-up, the two taken in turns. The maps are random (softmax of normal scores with a
standard deviation of 2), so that their lines are spread over all pairs.

The two do not do the same work, which is the point: BertViz makes an SVG element for every weight, down the entire
page; ours leaves out lines below 3/255 of the strongest and draws the part of the view that is near the window. BertViz
is given this one layer only; its usual page, which holds all layers, takes longer.

BertViz's page takes require.js, d3 and jQuery from a CDN. They are served from FOLDER here (require.min.js,
d3.min.js, jquery.min.js); without one, ``npm pack`` fetches them into a temporary folder first.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
import tarfile
import tempfile
import threading
import time
from collections.abc import Sequence
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import bertviz
import numpy as np
import torch
from playwright.sync_api import Browser

from benchmarks.browser import chromium
from benchmarks.measure import arguments, emit, interleaved
from model_zoo.types import MB, FloatArray, softmax
from viz import lines
from viz.palette import categorical
from viz.standalone import standalone_html

HEADS = 12
LENGTHS = (32, 64, 128, 256)
CDN = "https://cdnjs.cloudflare.com/ajax/libs"

# Local name: path on the CDN, npm package, file inside it. npm has no jQuery 2.0.0; 2.1.0 is the next one.
SCRIPTS = {
    "require.min.js": ("require.js/2.3.6/require.min.js", "requirejs@2.3.6", "package/require.js"),
    "d3.min.js": ("d3/5.7.0/d3.min.js", "d3@5.7.0", "package/dist/d3.min.js"),
    "jquery.min.js": ("jquery/2.0.0/jquery.min.js", "jquery@2.1.0", "package/dist/jquery.min.js"),
}


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """The lines on standard output are the result; requests are not part of it."""


def fetch_scripts(folder: Path) -> None:
    """Put the scripts of ``SCRIPTS`` into the folder with npm."""
    for name, (_, package, member) in SCRIPTS.items():
        done = subprocess.run(
            ["npm", "pack", "--silent", package], cwd=folder, check=True, stdout=subprocess.PIPE, text=True
        )
        with tarfile.open(folder / done.stdout.split()[-1]) as archive:
            content = archive.extractfile(member)
            assert content is not None
            (folder / name).write_bytes(content.read())


def write_pages(folder: Path, maps: FloatArray, tokens: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Both pages in the folder; measurement -> page and selector that matches once its lines are there."""
    n = len(tokens)
    ours = lines.payload(
        maps,
        tokens,
        tokens,
        head_names=[f"Head {head + 1}" for head in range(HEADS)],
        colours=categorical(HEADS, dark=False),
        dark_colours=categorical(HEADS, dark=True),
    )
    html = standalone_html(lines.SOURCE, ours, title="Lines", caption=f"{n} tokens", meta={})
    (folder / "ours.html").write_text(html, encoding="utf-8")
    theirs = bertviz.head_view((torch.from_numpy(maps)[None],), list(tokens), html_action="return").data
    for name, (path, _, _) in SCRIPTS.items():
        # require.js adds ".js" to the addresses in its configuration.
        theirs = theirs.replace(f"{CDN}/{path}", f"/{name}").replace(
            f"{CDN}/{path.removesuffix('.js')}'", f"/{name.removesuffix('.js')}'"
        )
    assert CDN not in theirs
    (folder / "bertviz.html").write_text(f"<!doctype html><meta charset=utf-8>{theirs}", encoding="utf-8")
    last = f".headAttention:nth-of-type({HEADS}) .tokenAttention:nth-of-type({n}) line[stroke-opacity]"
    return {
        "ours_s": ("ours.html", ".lines[data-tiles]:not([data-tiles='0'])"),
        "bertviz_s": ("bertviz.html", last),
    }


def first_paint(browser: Browser, url: str, drawn: str, _number: int) -> float:
    """Seconds from navigation start until a picture of the page shows its lines."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(url, wait_until="commit")
    page.wait_for_function("(drawn) => document.querySelector(drawn)", arg=drawn, polling="raf")
    page.screenshot(type="jpeg")
    end = time.time()
    start: float = page.evaluate("performance.timeOrigin") / 1000
    context.close()
    return end - start


def main() -> None:
    parser = arguments(__doc__, 3)
    parser.add_argument("--max-tokens", type=int, default=LENGTHS[-1])
    parser.add_argument("--scripts", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, chromium() as browser:
        folder = Path(temporary)
        if chosen.scripts is None:
            fetch_scripts(folder)
        else:
            for script in SCRIPTS:
                shutil.copy(chosen.scripts / script, folder / script)
        server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_QuietHandler, directory=str(folder)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        rng = np.random.default_rng(0)
        for n in (n for n in LENGTHS if n <= chosen.max_tokens):
            scores = 2 * rng.standard_normal((HEADS, n, n), dtype=np.float32)
            pages = write_pages(folder, softmax(scores), [f"token{i}" for i in range(n)])
            sides = {
                name: functools.partial(first_paint, browser, f"http://127.0.0.1:{server.server_port}/{page}", drawn)
                for name, (page, drawn) in pages.items()
            }
            took = interleaved(sides, chosen.repeats, warm_up=1)
            sizes = {f"{side}_mb": (folder / f"{side}.html").stat().st_size / MB for side in ("ours", "bertviz")}
            faster = took["bertviz_s"] / took["ours_s"]
            emit(benchmark="lines, first paint", tokens=n, heads=HEADS, **took, times_faster=faster, **sizes)
        server.shutdown()


if __name__ == "__main__":
    main()
