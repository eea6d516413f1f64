"""Whatever is typed, uploaded or linked stands on every page as text: nothing of it is Markdown, HTML or an icon."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nasty import MARKDOWN, NASTY
from streamlit.testing.v1 import AppTest

from pages import PAGES
from ui.page import Page

Open = Callable[..., AppTest]

TEXT = " ".join(text for text in NASTY if "\n" not in text)
TYPED = ("text", "pair", "targets", "replacement", "data", "lines", "query", "own_text")


def formatted(app: AppTest) -> Iterator[tuple[str, str]]:
    """Every text that Streamlit takes for Markdown, with the kind of its element."""
    for node in app:
        proto: Any = getattr(node, "proto", None)
        if node.type not in ("text_area", "text_input", "html"):  # which take no Markdown; labels of others are checked
            for name in ("body", "label", "help", "text"):
                value = getattr(proto, name, "")
                if isinstance(value, str) and value:
                    yield node.type, value
        if node.type == "button_group":
            yield from ((node.type, option.content) for option in proto.options)


def nothing_raw(app: AppTest) -> None:
    seen = list(formatted(app))
    assert len(seen) > 3  # the page was drawn
    raw = [(kind, text) for kind, text in seen if MARKDOWN.search(text)]
    assert not raw


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_is_typed_or_linked_is_shown_as_text(page: Page[Any], open_page: Open) -> None:
    names = {field.name for field in page.all_fields}
    app = open_page(page.path, **{name: TEXT for name in TYPED if name in names})
    nothing_raw(app)
    for view in page.views:
        app.query_params["view"] = view.name
        nothing_raw(app.run())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_nonsense_in_every_field_is_shown_as_text(page: Page[Any], open_page: Open) -> None:
    """Names of models and tasks among them; and what could not be used is told."""
    short = "<img src=x> $x$ [a](javascript:0) :red[x] &amp; <script>alert('ñ')</script>"
    app = open_page(page.path, unknown="1", **{field.name: short for field in page.all_fields})
    assert any("link" in warning.value for warning in app.warning) or not page.all_fields
    nothing_raw(app)


UPLOADS = {
    "pair files": ("pages/masked_words/page.py", "pairs", b"good,bad,phenomenon\n%s,b,%s\n"),
    "pairs file": ("pages/next_sentence/page.py", "many pairs", b"a,b,label\n%s,b,\n"),
    "probing upload": ("pages/layers/page.py", "", b""),
    "training upload": ("pages/train/page.py", "", b""),
}
TABLES = ("probing upload", "training upload")  # those that are read whole: some rows, and two labels
OWN = {"training upload": {"set": "own"}}  # where a control stands behind a choice


@pytest.mark.parametrize("good", [True, False])
@pytest.mark.parametrize("key", UPLOADS)
def test_names_and_contents_of_files_are_shown_as_text(key: str, good: bool, open_page: Open) -> None:
    path, view, pattern = UPLOADS[key]
    quoted = '"' + TEXT.replace('"', '""') + '"'
    if not good:
        data = f'x{quoted},{quoted}\n"'.encode()
    elif key in TABLES:
        data = "".join(
            ["text,label\n", *(f'{i},"{TEXT[:150].replace(chr(34), "")}{i % 2}"\n' for i in range(24))]
        ).encode()
    else:
        data = pattern.replace(b"%s", quoted.encode())
    app = open_page(path, **({"view": view} if view else {}), **OWN.get(key, {}))
    app.file_uploader(key=key).set_value((f"{NASTY[0]}$x$:red[x].csv", data, "text/csv")).run()
    nothing_raw(app)


def test_every_table_is_saved_by_the_one_function_that_marks_formulas() -> None:
    """``analysis.export`` is the only place that makes CSV, and ``ui.save`` the only one that hands it out."""
    root = Path(__file__).parents[2]
    for path in root.glob("[cumpjv]*/**/*.py"):
        if any(path.is_relative_to(root / room) for room in ("ui", "pages", "classroom", "web", "viz")):
            source = path.read_text("utf-8")
            assert "to_csv(" not in source.replace("table_to_csv(", "").replace("to_csv(view, origin)", ""), path
            assert "csv.writer" not in source, path
            assert path.name == "save.py" or "st.download_button" not in source, path
