"""What every view gives as Python, found by itself: the lines run, and their numbers are those on the screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import model_zoo
from model_zoo import Engine
from pages import PAGES
from ui import as_python
from ui.page import Page, View

VIEWS = [pytest.param(page, view, id=f"{page.name}-{view.name}") for page in PAGES for view in page.views]

# Views that give no lines yet: all of these pages.
PENDING = {"masked_words", "next_sentence", "layers", "train", "corpus", "compare"}

# Views that show the numbers of a long job by default: there a smaller one is looked at, by these fields.
SMALLER: dict[tuple[str, str], dict[str, str]] = {}

NASTY = "She said \"no\", 'yes' or \\n and 100% {sure}: naïve 🙂."
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
    ("cause", {"view": "words", "text": "The cat sat on the [MASK].", "of": "logit difference", "way": "insertion"}),
    ("cause", {"view": "words", "text": "She opened the door.", "pair": PAIR, "of": "P"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "view"), VIEWS)
def test_a_view_gives_lines_that_compute_what_it_shows(
    page: Page[Any], view: View[Any], open_page: Callable[..., AppTest], engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page.name in PENDING:
        pytest.skip("no lines yet")
    app = open_page(page.path, view=view.name, **SMALLER.get((page.name, view.name), {}))
    compute_what_is_shown(app, engine, monkeypatch)


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


def compute_what_is_shown(app: AppTest, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the lines part by part, with the engine of the session in the place of a new one."""
    assert not app.exception
    assert not app.error
    monkeypatch.setattr(model_zoo, "Engine", lambda: engine)
    parts: dict[str, as_python.Part] = app.session_state[as_python.PARTS]
    assert parts
    found: dict[str, Any] = {}
    exec("\n".join(["from model_zoo import Engine", "engine = Engine()"]), found)
    for part in parts.values():
        exec(compile("\n".join([*part.imports, part.lines]), "the lines", "exec"), found)
        equal(found.pop("numbers"), part.shows())
    code = as_python.script(parts)
    assert not any(
        f"{room}." in line or f"{room} " in line
        for room in ("streamlit", "pages")
        for line in code.splitlines()
        if "import" in line
    )
    compile(code, "the whole", "exec")


def equal(computed: npt.NDArray[Any] | pd.DataFrame, shown: npt.NDArray[Any] | pd.DataFrame) -> None:
    assert type(computed) is type(shown)
    if isinstance(shown, pd.DataFrame):
        pd.testing.assert_frame_equal(
            computed.reset_index(drop=True), shown.reset_index(drop=True), rtol=1e-5, atol=1e-5
        )
    else:
        assert computed.size
        np.testing.assert_allclose(computed, shown, rtol=1e-5, atol=1e-5)
