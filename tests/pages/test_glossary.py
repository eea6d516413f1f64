"""The page "Glossary": what is found, in which order, and that every link opens what it names."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from pages import PAGES
from pages.glossary import words
from ui.glossary import TERMS

Open = Callable[..., AppTest]
PAGE = "pages/glossary/page.py"


def body(app: AppTest) -> str:
    return next(element.proto.body for element in app.get("html") if "<dl" in element.proto.body)


def test_all_terms_are_listed_in_order(open_page: Open) -> None:
    app = open_page(PAGE)
    names = re.findall("<dt>(.*?)</dt>", body(app))
    assert [unescape(name).lower() for name in names] == list(TERMS)
    names = re.findall("<dt>(.*?)</dt>", body(open_page(PAGE, term="attention")))
    assert names[0] == "Attention"
    assert "Softmax" not in names


def test_meanings_are_searched_after_names() -> None:
    names = [term.name for term in words.matching("  Softmax ")]
    assert names[0] == "softmax"
    assert all("softmax" in TERMS[name.lower()].meaning for name in names[1:])
    assert len(words.matching("")) == len(TERMS)


def test_no_match_is_told_and_shows_what_was_typed(open_page: Open) -> None:
    app = open_page(PAGE, term="<b>nothing</b>")
    assert "No term matches" in app.info[0].value
    assert "<b>" not in app.info[0].value
    assert app.text_input(key="glossary_term").value == "<b>nothing</b>"


@pytest.mark.parametrize("page", [page for page in PAGES if page.views], ids=lambda page: page.name)
def test_every_view_is_found_under_its_terms(page: object) -> None:
    where = words.places(PAGES)
    for view in page.views:  # type: ignore[attr-defined]
        for term in view.terms:
            labels = [label for label, _ in where[term.lower()]]
            assert f"{page.title}: {view.title}" in labels  # type: ignore[attr-defined]


def test_links_open_pages_that_are_there() -> None:
    names = {page.name: page for page in PAGES}
    for label, address in (place for places in words.places(PAGES).values() for place in places):
        parts = urlsplit(address)
        page = names[parts.path]
        assert label.startswith(f"{page.title}: ")
        fields = {field.name: field for field in page.all_fields}
        for name, (value,) in parse_qs(parts.query).items():
            fields[name].codec.read(value)  # raises for what the field cannot hold
