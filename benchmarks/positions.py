"""``python -m benchmarks.positions``: how far down the first result is, on every page and in every view.

Starts the app and drives Chromium at the sizes of a projector and of a phone, light theme, 16 tokens. One JSON line
a view and size, in CSS pixels from the top of the window: where the first picture or answer begins and ends, and how
tall the page is.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from playwright.sync_api import Page

from benchmarks.browser import AT_REST, HAS_DRAWN, IDLE, chromium
from benchmarks.measure import arguments, emit
from benchmarks.server import app
from pages import PAGES

TEXT = "The cat sat on the mat because it was tired and very old."
PAIR = "The man went to the store.", "He bought some fresh milk."
"""Both are 16 tokens of the bundled models, with [CLS] and [SEP]."""

SIZES = ((1280, 720), (400, 800))
MARKS = {(1280, 720): 300, (400, 800): 420}
"""The least that is asked: where the first picture begins, by the size of the window."""

# Answers by what Streamlit calls them, the app's own components, and what a page marks as its answer where it shows
# none of these: the place of a result that is not there yet, or a sentence. Components without a picture are left out.
RESULTS = (
    '[data-testid="stPlotlyChart"]',
    '[data-testid="stDataFrame"]',
    '[data-testid="stTable"]',
    '[data-testid="stMetric"]',
    '[data-testid="stIFrame"]',
    '[class*="st-key-answer"]',
    '[data-testid^="stBidiComponent"]',
)
# Resolves when the script has run and nothing has moved for a while; the picture is null where there is none.
_MEASURE = f"""async ([results, patience]) => {{
    {AT_REST}{IDLE}{HAS_DRAWN}
    const drawn = (element) => !element.dataset.testid?.startsWith('stBidiComponent') || hasDrawn(element);
    const look = () => {{
        const main = document.querySelector('[data-testid="stMain"]');
        if (!main || !idle()) return null;
        const scrolled = main.scrollTop;
        const boxes = [...main.querySelectorAll(results)]
            .filter((element) => element.checkVisibility() && drawn(element))
            .map((element) => element.getBoundingClientRect())
            .filter((box) => box.width > 0 && box.height > 8)
            .map((box) => ({{ top: Math.round(box.top + scrolled), bottom: Math.round(box.bottom + scrolled) }}))
            .sort((a, b) => a.top - b.top || b.bottom - a.bottom);
        const height = Math.round(main.getBoundingClientRect().top + main.scrollHeight);
        return {{ top: boxes[0]?.top ?? null, bottom: boxes[0]?.bottom ?? null, height }};
    }};
    return atRest(look, 4, patience);
}}"""


@dataclass(frozen=True, slots=True)
class Position:
    """Where the first picture, if any, begins and ends, and how tall the page is, in CSS px from the top."""

    top: int | None
    bottom: int | None
    height: int


@dataclass(frozen=True, slots=True)
class PageView:
    """A page in one of its views, "" for a page without views, as an address."""

    page: str
    view: str

    @property
    def route(self) -> str:
        """The page's own part of its address: "" for the start page."""
        return "" if self.page == PAGES[0].name else self.page

    @property
    def choice(self) -> dict[str, str]:
        """What chooses the view in an address."""
        return {"view": self.view} if self.view else {}

    def address(self, **parameters: str) -> str:
        """Its path with the text of 16 tokens and further parameters."""
        query = dict(parameters)
        if self.view:
            text, pair = PAIR if self.page == "next_sentence" else (TEXT, "")
            # A text of one's own opens without a mask, which these pages wait for.
            masked = {"masks": "4"} if self.page in ("masked_words", "compare") else {}
            query |= self.choice | {"text": text} | ({"pair": pair} if pair else {}) | masked
        path = f"/{self.route}"
        return f"{path}?{urllib.parse.urlencode(query)}" if query else path


def page_views() -> Iterator[PageView]:
    """Every page in every view."""
    for page in PAGES:
        yield from (PageView(page.name, view.name) for view in page.views) if page.views else [PageView(page.name, "")]


def measure(page: Page, patience_ms: int = 180_000) -> Position:
    """Looks at a page that was opened, as soon as it is at rest. Raises playwright's Error where it never is."""
    return Position(**page.evaluate(_MEASURE, [", ".join(RESULTS), patience_ms]))


def main() -> None:
    arguments(__doc__).parse_args()
    with app("app.py") as (url, _), chromium() as browser:
        for width, height in SIZES:
            for page_view in page_views():
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
                page.goto(url + page_view.address())
                emit(**asdict(page_view), window=[width, height], **asdict(measure(page)))
                page.close()


if __name__ == "__main__":
    main()
