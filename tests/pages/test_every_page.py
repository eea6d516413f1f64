"""What holds for every page of the page list: it runs, it takes nonsense in its address, it stays small."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages import PAGES as ALL_PAGES
from ui import address

HOME, *PAGES = ALL_PAGES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", [HOME, *PAGES], ids=lambda page: page.title)
def test_page_runs(page: object, open_page: Callable[..., AppTest]) -> None:
    app = open_page(page.path)  # type: ignore[attr-defined]
    assert not app.exception
    assert not app.error
    assert len(app.title) == 1


@pytest.mark.parametrize("page", [page for page in PAGES if page.all_fields], ids=lambda page: page.title)
def test_page_survives_nonsense_in_the_address(page: object, open_page: Callable[..., AppTest]) -> None:
    nonsense = {field.name: "<script>alert('ñ')</script>" for field in address.all_declared()} | {"unknown": "1"}
    app = open_page(page.path, **nonsense)  # type: ignore[attr-defined]
    assert not app.exception
    assert any("link" in warning.value for warning in app.warning)


def test_two_quick_clicks_are_no_double_click(open_page: Callable[..., AppTest]) -> None:
    """Plotly's double click clears the choice, and the page fell back to what was chosen before the last one."""
    app = open_page("pages/masked_words/page.py", text="She [MASK].", masks="")
    charts = [chart.proto for chart in app.get("plotly_chart") if chart.proto.selection_mode]
    assert charts
    assert all(json.loads(chart.config)["doubleClickDelay"] == 1 for chart in charts)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_the_home_page_names_every_page(page: object, open_page: Callable[..., AppTest]) -> None:
    app = open_page(HOME.path)
    assert any(page.question in text.value for text in app.markdown)  # type: ignore[attr-defined]


def test_every_folder_is_a_page_of_the_menu() -> None:
    files = {path.parent.name for path in (ROOT / "pages").glob("*/page.py")}
    assert files == {page.name for page in ALL_PAGES}
    assert all((ROOT / page.path).is_file() for page in ALL_PAGES)
