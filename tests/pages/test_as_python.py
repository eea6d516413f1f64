"""What every view gives as Python, found by itself: the lines run, and their numbers are those on the screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from on_screen import button, drawn
from run_lines import compiled, compute_what_is_shown
from streamlit.testing.v1 import AppTest

from model_zoo import Engine
from pages import PAGES
from ui import as_python, attended_text
from ui.page import Page, View

Open = Callable[..., AppTest]

pytestmark = pytest.mark.slow

VIEWS = [pytest.param(page, view, id=f"{page.name}-{view.name}") for page in PAGES for view in page.views]

# Pages whose views show by default what came with the app, and what else there is quick to compute: their lines are run
# where a smaller job was done, in test_as_python_jobs.py.
LONG = {"layers": {"movement"}, "corpus": {"search"}, "train": set()}

NASTY = "She said \"no\", 'yes' or \\n and 100% {sure}: naïve 🙂."
SMALL = "embedded/tinybert,embedded/modernbert"
PAIR = "Cold air came into the room."


def addresses() -> Iterator[tuple[str, dict[str, str]]]:
    """Pages with other settings than the defaults."""
    for line in (Path(__file__).parent / "as_python.tsv").read_text(encoding="utf-8").splitlines():
        page, *parameters = line.split("\t")
        if not line.startswith("#"):
            texts = {"\\n": "\n", "{nasty}": NASTY, "{pair}": PAIR, "{small}": SMALL}
            for name, text in texts.items():
                parameters = [parameter.replace(name, text) for parameter in parameters]
            yield page, dict(parameter.split("=", 1) for parameter in parameters)


@pytest.mark.parametrize(("page", "view"), VIEWS)
def test_a_view_gives_lines_that_compute_what_it_shows(
    page: Page[Any], view: View[Any], open_page: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it opens on a result, without a call to act first."""
    app = open_page(page.path, view=view.name)
    assert not app.error
    assert not app.info
    assert drawn(app) or app.table
    if view.name in LONG.get(page.name, {view.name}):
        compute_what_is_shown(app, engine, monkeypatch)
    else:
        assert compiled(app)


@pytest.mark.parametrize(
    ("name", "query"), [*addresses()], ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else value
)
def test_lines_hold_what_was_chosen(
    name: str, query: dict[str, str], open_page: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (page,) = [page for page in PAGES if page.name == name]
    compute_what_is_shown(open_page(page.path, **query), engine, monkeypatch)


@pytest.mark.parametrize("part", ["decoder", "cross"])
@pytest.mark.parametrize("view", ["grid", "combined", "neuron", "heads", "who"])
def test_lines_name_the_part_of_a_model(
    view: str,
    part: str,
    open_page: Open,
    checkpoint: Callable[[str], Path],
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = open_page("pages/attention/page.py", view=view, model=str(checkpoint("bart")), model_part=part, renorm="1")
    compute_what_is_shown(app, engine, monkeypatch)


@pytest.mark.parametrize("show", ["weights", "ALTI"])
def test_lines_cut_a_text_where_the_page_does(
    show: str, open_page: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attended_text, "LONGEST", 8)
    app = open_page("pages/attention/page.py", view="lines", show=show, text=NASTY)
    assert "max_tokens=8" in as_python.script(app.session_state[as_python.PARTS])
    compute_what_is_shown(app, engine, monkeypatch)


CAUSAL = [
    ("masked_words", "predictions", {"top_k": "3"}),
    ("masked_words", "layers", {}),
    ("masked_words", "surprise", {"against": PAIR}),
    ("cause", "heads", {"off": "1.2"}),
    ("cause", "edges", {"show": "effect", "edges": "3.2"}),
    ("cause", "patching", {"other": NASTY.replace("She", "He"), "what": "forward"}),
    ("cause", "sum", {"difference": "0"}),
    ("cause", "words", {"of": "logit difference"}),
]


@pytest.mark.parametrize(("page", "view", "query"), CAUSAL, ids=[f"{page}-{view}" for page, view, _ in CAUSAL])
def test_lines_ask_a_causal_model_what_comes_next(
    page: str,
    view: str,
    query: dict[str, str],
    open_page: Open,
    checkpoint: Callable[[str], Path],
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = open_page(f"pages/{page}/page.py", view=view, model=str(checkpoint("gpt2")), text=NASTY, **query)
    compute_what_is_shown(app, engine, monkeypatch)


FILES = [
    ("next_sentence", "many pairs", "pairs file", False, b'b,a\nTwo.,\xe9 One.\nThree.,"Two, too."\n'),
    ("masked_words", "pairs", "pair files", True, b"good,bad\nIt is.,It am.\nWe are \\n.,We is \\n.\n"),
]


@pytest.mark.parametrize(("page", "view", "key", "several", "data"), FILES, ids=[view for _, view, *_ in FILES])
def test_lines_read_the_file_that_was_uploaded(
    page: str,
    view: str,
    key: str,
    several: bool,
    data: bytes,
    open_page: Open,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """As long as it is the one that was tested."""
    app = open_page(f"pages/{page}/page.py", view=view)
    file = ('its "own".csv', data, "text/csv")
    app.file_uploader(key=key).set_value([file] if several else file).run()
    assert not app.session_state[as_python.PARTS]
    button(app, "Test 2 pairs").click().run()
    (tmp_path / file[0]).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    compute_what_is_shown(app, engine, monkeypatch)
    app.file_uploader(key=key).set_value([] if several else None).run()
    assert not app.session_state[as_python.PARTS]
