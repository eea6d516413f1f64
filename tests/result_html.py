"""What must hold for whatever a result shows of itself in a notebook."""

import base64
from html.parser import HTMLParser
from xml.etree import ElementTree

import pandas as pd

from model_zoo.types import Shows
from viz import results as _results  # noqa: F401  (it registers how results are shown)

MOST_BYTES = 30_000

_ALONE = ("br", "img")
_KNOWN = {"div", "p", "strong", "small", "code", "bdi", "span", "table", "thead", "tbody", "tr", "th", "td", *_ALONE}


class Page(HTMLParser):
    """HTML that was read: its texts and its pictures. Raises AssertionError where it is not well formed, or would not
    be shown as it is by those who allow no scripts and no style sheets.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.pictures: list[tuple[str, ElementTree.Element]] = []
        self.feed(html)
        self.close()
        assert not self.open

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        assert tag in _KNOWN
        assert set(attributes) <= {"style", "scope", "src", "alt"}
        if tag == "th":
            assert attributes["scope"] in ("col", "row")
        if tag == "img":
            kind, data = str(attributes["src"]).split(",", 1)
            assert kind == "data:image/svg+xml;base64"
            assert attributes["alt"]
            self.pictures.append((str(attributes["alt"]), ElementTree.fromstring(base64.b64decode(data))))
        style = str(attributes.get("style", ""))
        grounds, inks = ("background" in style, "color:" in style.replace("background-color:", ""))
        assert not inks or grounds  # a colour of text alone could not be read on every ground
        if tag in ("p", "td", "th"):
            self.texts.append(" ")
        if tag not in _ALONE:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parse(result: Shows) -> Page:
    """What a result shows, read and found to be in order, and not too long."""
    html = result._repr_html_()
    assert html is not None
    assert len(html.encode()) <= MOST_BYTES
    page = Page(html)
    assert page.text.startswith(type(result).__name__)
    return page


def parse_with_table(result: Shows) -> Page:
    """``parse``, where its table is found to be one, too."""
    table = result.to_frame()
    assert isinstance(table, pd.DataFrame)
    assert all(isinstance(name, str) and name.isidentifier() for name in table.columns)
    return parse(result)
