"""What every view gives as Python, found by itself: the lines run, and their numbers are those on the screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from on_screen import button
from run_lines import compiled, compute_what_is_shown
from streamlit.testing.v1 import AppTest

from model_zoo import Engine
from pages import PAGES
from ui import as_python, attended_text
from ui.page import Page, View

VIEWS = [pytest.param(page, view, id=f"{page.name}-{view.name}") for page in PAGES for view in page.views]

# Pages whose views show by default what came with the app, and what else there is quick to compute: their lines are run
# where a smaller job was done, in test_as_python_jobs.py.
LONG = {"layers": {"movement"}, "corpus": {"search"}, "train": set()}

NASTY = "She said \"no\", 'yes' or \\n and 100% {sure}: naïve 🙂."
SMALL = "embedded/tinybert,embedded/modernbert"
PAIR = "Cold air came into the room."

# Addresses with other settings than the defaults.
OTHERS: list[tuple[str, dict[str, str]]] = [
    ("attention", {"layer": "2", "head": "4", "text": NASTY}),
    ("attention", {"text": NASTY, "pair": PAIR, "words": "1", "hide": "1", "renorm": "1", "threshold": "0.1"}),
    ("attention", {"show": "value-weighted", "layer": "3", "head": "2", "top": "3"}),
    ("attention", {"show": "ALTI", "layer": "3", "pair": PAIR}),
    ("attention", {"show": "value zeroing", "layer": "2", "words": "1"}),
    ("attention", {"view": "lines", "scope": "layer", "pair": PAIR, "direction": "A->B"}),
    ("attention", {"view": "lines", "scope": "chosen", "heads": "1.3,4.2", "show": "value-weighted"}),
    ("attention", {"view": "combined", "several": "chosen", "heads": "1.3,1.5", "how": "norm", "hide": "1"}),
    ("attention", {"view": "combined", "several": "all", "how": "max", "show": "value-weighted"}),
    ("attention", {"view": "rollout", "layer": "4", "from": "2", "show": "ALTI", "words": "1"}),
    ("attention", {"view": "who", "ask": "previous", "text": NASTY}),
    ("attention", {"view": "who", "looks": "2", "at": "4", "text": NASTY, "model": "embedded/modernbert"}),
    ("attention", {"view": "bertviz", "bertviz": "model", "pair": PAIR, "words": "1"}),
    (
        "cause",
        {
            "text": "The dogs near the house [MASK] hungry.",
            "off": "6.8,3.attention,2.forward",
            "value": "mean",
            "by": "difference",
        },
    ),
    ("cause", {"text": NASTY, "masks": "3,4", "off": "6.8", "by": "divergence", "answer": "said"}),
    ("cause", {"text": "She opened the door.", "pair": PAIR, "off": "2.1"}),
    ("cause", {"view": "edges", "text": NASTY, "masks": "5", "edges": "6.2,3.4", "edge_layer": "2", "edge_head": "3"}),
    (
        "cause",
        {
            "view": "edges",
            "text": "The [MASK] slept.",
            "show": "effect",
            "by": "difference",
            "edge_layer": "4",
            "edges": "2.3",
        },
    ),
    (
        "cause",
        {
            "view": "patching",
            "text": "He always said [MASK] about it.",
            "other": "He never said [MASK] about it.",
            "what": "heads",
            "by": "bits",
        },
    ),
    (
        "cause",
        {
            "view": "patching",
            "text": "He put the key in the [MASK].",
            "other": "He put the letter in the [MASK].",
            "what": "attention",
            "answer": "lock",
            "against": "envelope",
        },
    ),
    ("cause", {"view": "sum", "text": "He put the key in the [MASK].", "difference": "0"}),
    ("corpus", {"view": "search", "model": "embedded/tinybert", "heads": "layer", "layer": "2"}),
    ("corpus", {"view": "search", "from": "NOUN,PRON", "joined": "0", "heads": "head", "sentences": "100"}),
    ("corpus", {"view": "search", "from_is": "word", "from": "the, a", "to_is": "piece", "to": ".", "layer": "2"}),
    (
        "sentence_vectors",
        {"view": "nearest", "sentence": "2", "removed": "1"},
    ),
    (
        "sentence_vectors",
        {
            "view": "search",
            "query": NASTY,
            "pooling": "cls",
            "vector_layer": "2",
            "removed": "1",
            "model": "embedded/tinybert",
        },
    ),
    ("sentence_vectors", {"view": "plane", "pooling": "max", "lines": f"{NASTY}\n{PAIR}\nA cat sat."}),
    ("sentence_vectors", {"view": "scores", "model": "embedded/tinybert"}),
    ("layers", {"view": "movement", "text": NASTY, "measure": "relative", "model": "embedded/modernbert"}),
    ("cause", {"view": "words", "text": "The cat sat on the [MASK].", "of": "logit difference", "way": "insertion"}),
    ("cause", {"view": "words", "text": "She opened the door.", "pair": PAIR, "of": "P"}),
    ("masked_words", {"masks": "2,3,4,7", "top_k": "3", "text": NASTY}),
    ("masked_words", {"view": "why", "masks": "9", "followed": "original"}),
    ("masked_words", {"view": "why", "masks": "3,5", "mask": "1", "words": "0", "text": f"{NASTY} [MASK]"}),
    ("masked_words", {"view": "layers", "masks": "3,5", "mask": "1", "model": "embedded/modernbert", "text": NASTY}),
    ("masked_words", {"view": "surprise", "text": NASTY, "against": "The clavichord.", "pieces_scored": "original"}),
    ("masked_words", {"view": "surprise", "text": "The clavichord [MASK].", "words": "0"}),
    ("masked_words", {"view": "training", "rate": "40", "rate_random": "20", "seed": "7", "text": NASTY}),
    ("masked_words", {"view": "attention", "masks": "3,5", "mask": "1", "head": "4", "text": NASTY}),
    ("masked_words", {"view": "what if", "masks": "5", "replace": "1", "replacement": "dog's", "text": NASTY}),
    ("next_sentence", {"controls": "5", "text": NASTY, "pair": PAIR}),
    ("next_sentence", {"view": "attention", "text": NASTY, "pair": PAIR}),
    ("next_sentence", {"view": "input", "text": NASTY, "pair": PAIR}),
    ("next_sentence", {"view": "a text", "passage": f"{NASTY}\n{PAIR} It's late."}),
    ("compare", {"models": SMALL, "text": NASTY, "layer": "2", "head": "2", "layer_2": "3", "head_2": "4"}),
    ("compare", {"models": f"{SMALL},embedded/bert", "beside": "3", "pair": PAIR, "show": "value-weighted"}),
    ("compare", {"models": SMALL, "beside": "1", "show": "ALTI", "layer": "2"}),
    ("compare", {"models": "embedded/tinybert", "show": "value zeroing"}),
    ("compare", {"view": "tokens", "models": "embedded/tinybert", "text": NASTY}),
    ("compare", {"view": "predictions", "models": SMALL, "masks": "2,4", "mask": "2", "guesses": "3", "pair": PAIR}),
    ("compare", {"view": "predictions", "models": SMALL, "text": f"[MASK] {NASTY}", "masks": ""}),
    ("compare", {"view": "representations", "models": SMALL, "sentences": f"{NASTY}\n{PAIR}"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "view"), VIEWS)
def test_a_view_gives_lines_that_compute_what_it_shows(
    page: Page[Any], view: View[Any], open_page: Callable[..., AppTest], engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page(page.path, view=view.name)
    if view.name in LONG.get(page.name, {view.name}):
        compute_what_is_shown(app, engine, monkeypatch)
    else:
        assert compiled(app)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "query"), OTHERS, ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else value
)
def test_lines_hold_what_was_chosen(
    name: str, query: dict[str, str], open_page: Callable[..., AppTest], engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (page,) = [page for page in PAGES if page.name == name]
    compute_what_is_shown(open_page(page.path, **query), engine, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["decoder", "cross"])
@pytest.mark.parametrize("view", ["grid", "combined", "neuron", "heads", "who"])
def test_lines_name_the_part_of_a_model(
    view: str,
    part: str,
    open_page: Callable[..., AppTest],
    checkpoint: Callable[[str], Path],
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = open_page("pages/attention/page.py", view=view, model=str(checkpoint("bart")), model_part=part, renorm="1")
    compute_what_is_shown(app, engine, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("show", ["weights", "ALTI"])
def test_lines_cut_a_text_where_the_page_does(
    show: str, open_page: Callable[..., AppTest], engine: Engine, monkeypatch: pytest.MonkeyPatch
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


@pytest.mark.slow
@pytest.mark.parametrize(("page", "view", "query"), CAUSAL, ids=[f"{page}-{view}" for page, view, _ in CAUSAL])
def test_lines_ask_a_causal_model_what_comes_next(
    page: str,
    view: str,
    query: dict[str, str],
    open_page: Callable[..., AppTest],
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


@pytest.mark.slow
@pytest.mark.parametrize(("page", "view", "key", "several", "data"), FILES, ids=[view for _, view, *_ in FILES])
def test_lines_read_the_file_that_was_uploaded(
    page: str,
    view: str,
    key: str,
    several: bool,
    data: bytes,
    open_page: Callable[..., AppTest],
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
