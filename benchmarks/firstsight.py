"""``python -m benchmarks.firstsight [--repeats N]``: what a first visit of every page takes, and how much jumps in it.

Starts the app and drives Chromium, a new context a visit, so that nothing is cached. One JSON line a page:

- bytes as they travel: ``all``, ``scripts``, ``styles``, and ``components``, what comes through the page's websocket,
  the data and the scripts of our components among it;
- ``words_s`` and ``picture_s``: from the navigation until its headline and its first picture are seen; on a page
  without a picture both are the words. ``slow_words_s``, ``slow_picture_s``: with the processor throttled four times;
- ``bare_s`` and ``slow_bare_s``: the same of a bare Streamlit page with a sentence and one picture of the same kind, a
  Plotly figure or a component, in turns with it; ``slow_ratio`` is what is asked to be at most 1.5;
- ``shift_wide`` and ``shift_phone``: the sum of its layout shifts until it is at rest at 1280x720 (the larger of plain
  and throttled) and at 390x844.

Medians after a warm-up.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page

from benchmarks.browser import AT_REST, HAS_DRAWN, IDLE, chromium
from benchmarks.measure import arguments, emit, emit_machine
from benchmarks.positions import RESULTS, PageView
from benchmarks.server import app
from pages import PAGES

WIDE, PHONE = (1280, 720), (390, 844)
SLOWER = 4
"""How many times the processor is throttled."""
PATIENCE_MS = 180_000

_PLOTLY = """import plotly.graph_objects as go
import streamlit as st
st.title("A sentence and a picture")
st.plotly_chart(go.Figure(go.Heatmap(z=[[1, 2], [3, 4]])))
"""
_COMPONENT = """import streamlit as st
st.title("A sentence and a picture")
js = "export default ({parentElement}) => {parentElement.querySelector('svg').setAttribute('width', '400')}"
st.components.v2.component("bare", html="<svg viewBox='0 0 4 1'><rect width='4' height='1'/></svg>", js=js)()
"""
BARE = {"plotly": _PLOTLY, "component": _COMPONENT}

# Watches a page from before its first paint: when its words and its first picture are drawn, and what moves.
WATCH = f"""(results) => {{
    {HAS_DRAWN}
    const seen = window.firstSight = {{ words: null, picture: null, kind: null, shift: 0, moved: [] }};
    new PerformanceObserver((list) => {{
        for (const entry of list.getEntries()) {{
            if (entry.hadRecentInput) continue;
            seen.shift += entry.value;
            const moved = entry.sources.map(({{ node }}) => (node?.outerHTML ?? node?.textContent ?? '').slice(0, 100));
            seen.moved.push([entry.value, entry.startTime, moved]);
        }}
    }}).observe({{ type: 'layout-shift', buffered: true }});
    const visible = (element) => element.checkVisibility({{ visibilityProperty: true, opacityProperty: true }});
    const kindOf = (element) => {{
        if (!visible(element)) return null;
        const box = element.getBoundingClientRect();
        if (box.width <= 0 || box.height <= 8 || box.top >= innerHeight) return null;
        if (element.dataset.testid === 'stPlotlyChart') return element.querySelector('.main-svg') && 'plotly';
        if (!element.dataset.testid?.startsWith('stBidiComponent')) return 'words';
        return hasDrawn(element) && 'component';
    }};
    const look = () => {{
        const main = document.querySelector('[data-testid="stMain"]');
        const written = [...document.querySelectorAll('h1')].some((one) => one.textContent && visible(one));
        if (!seen.words && written) seen.words = performance.now();
        seen.kind = [...main?.querySelectorAll(results) ?? []].map(kindOf).find(Boolean) ?? null;
        if (seen.kind) seen.picture = performance.now();
        else requestAnimationFrame(look);
    }};
    requestAnimationFrame(look);
}}"""
# Resolves to what was seen as soon as the script has run and nothing has moved in twenty looks.
REST = f"""async (patience) => {{
    {AT_REST}{IDLE}
    const look = () => {{
        const waits = document.querySelector('html[data-arriving], .stPlotlyChart:not(:has(.main-svg))');
        const main = document.querySelector('[data-testid="stMain"]:has(.stElementContainer)');
        return idle() && main && !waits ? [firstSight.shift, main.scrollHeight, firstSight.kind] : null;
    }};
    await atRest(look, 20, patience);
    return firstSight;
}}"""


@dataclass(slots=True)
class Bytes:
    """What a page fetched, in bytes as they travelled."""

    all: int = 0
    scripts: int = 0
    styles: int = 0
    components: int = 0

    def listen(self, network: CDPSession) -> None:
        kinds: dict[str, str] = {}

        def finished(event: Mapping[str, Any]) -> None:
            size = int(event["encodedDataLength"])
            self.all += size
            self.scripts += size if kinds.get(event["requestId"]) == "Script" else 0
            self.styles += size if kinds.get(event["requestId"]) == "Stylesheet" else 0

        def on_event(event: Mapping[str, Any]) -> None:
            # Frames are binary: base64 of three bytes are four characters.
            size = len(event["response"]["payloadData"]) * 3 // 4
            self.all += size
            self.components += size

        network.on("Network.responseReceived", lambda event: kinds.update({event["requestId"]: event["type"]}))
        network.on("Network.loadingFinished", finished)
        network.on("Network.webSocketFrameReceived", on_event)
        network.send("Network.enable")


@dataclass(frozen=True, slots=True)
class Visit:
    """A first visit: seconds until words and picture, "" or the picture's kind, the sum of layout shifts, and bytes."""

    words: float
    picture: float
    kind: str
    shift: float
    fetched: Bytes


def watch(page: Page) -> None:
    """From now on see what every page does from before its first paint; ``REST`` tells."""
    page.add_init_script(f"({WATCH})({', '.join(RESULTS)!r})")


def visit(browser: Browser, url: str, size: tuple[int, int] = WIDE, slower: int = 1) -> Visit:
    """Open a page in a context of its own and wait until it is at rest."""
    phone = size == PHONE
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, has_touch=phone, is_mobile=phone)
    page = context.new_page()
    watch(page)
    network, fetched = context.new_cdp_session(page), Bytes()
    fetched.listen(network)
    network.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    page.goto(url, wait_until="commit")
    seen = page.evaluate(REST, PATIENCE_MS)
    context.close()
    picture = seen["picture"] or seen["words"]
    return Visit(seen["words"] / 1000, picture / 1000, seen["kind"] or "", seen["shift"], fetched)


def measure(browser: Browser, url: str, bare: Mapping[str, str], repeats: int) -> dict[str, Any]:
    """The line of the page at ``url``; ``bare`` pages by the kind of their picture."""
    first = visit(browser, url)  # what was never asked for is made only then
    peer = bare[first.kind if first.kind in bare else "component"]
    rows = []
    for _ in range(repeats):
        wide, phone, slow = visit(browser, url), visit(browser, url, PHONE), visit(browser, url, slower=SLOWER)
        plain, slow_plain = visit(browser, peer), visit(browser, peer, slower=SLOWER)
        rows.append(
            {
                **{f"{name}_bytes": count for name, count in asdict(wide.fetched).items()},
                "words_s": wide.words,
                "picture_s": wide.picture,
                "bare_s": plain.picture,
                "slow_words_s": slow.words,
                "slow_picture_s": slow.picture,
                "slow_bare_s": slow_plain.picture,
                "shift_wide": max(wide.shift, slow.shift),
                "shift_phone": phone.shift,
            }
        )
    medians = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
    return {"picture": first.kind, **medians, "slow_ratio": medians["slow_picture_s"] / medians["slow_bare_s"]}


def main() -> None:
    parser = arguments(__doc__, 3)
    parser.add_argument("--pages", nargs="+", default=[page.name for page in PAGES], metavar="PAGE")
    chosen = parser.parse_args()
    emit_machine()
    with (
        tempfile.TemporaryDirectory() as folder,
        chromium() as browser,
        ExitStack() as served,
        app("app.py") as (url, _),
    ):
        bare = {}
        for kind, script in BARE.items():
            file = Path(folder) / f"{kind}.py"
            file.write_text(script, encoding="utf-8")
            bare[kind], _process = served.enter_context(app(file))
            visit(browser, bare[kind])
        for name in chosen.pages:
            emit(page=name, **measure(browser, f"{url}/{PageView(name, '').route}", bare, chosen.repeats))


if __name__ == "__main__":
    main()
