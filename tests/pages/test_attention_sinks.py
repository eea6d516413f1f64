"""The finding about the special token that a head looks at, on the view "All heads"."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import builders
import numpy as np
import pytest
from on_screen import prose
from sink_runs import SENTENCE, looks_at, run_of
from streamlit.testing.v1 import AppTest

from analysis.sinks import much_attention, strongest, verdict
from model_zoo import Engine
from model_zoo.sinks import measure_run
from model_zoo.types import Encoding
from pages.attention.sinks import RULE, describe_head, table

PAGE = "pages/attention/page.py"
TEXT = "The cat sat on the mat because it was tired."
N = len(SENTENCE)


def sentence(share: float, sep: float, encoding: Encoding = SENTENCE, place: int = N - 1) -> str | None:
    """What is said of a head that gives so much to a token whose value has this length, others 1, the stream 10."""
    n = len(encoding)
    values = np.eye(n)
    values[place] *= sep
    return describe_head(
        measure_run(run_of(looks_at(place, share, n), values[None], np.full((n, n), 10 / n**0.5), encoding)), 0, 0
    )


def test_each_case_is_said_with_its_numbers() -> None:
    assert sentence(0.4, 1.0) is None
    nothing = sentence(0.9, 0.2)
    for number in ("90%", "(uniform: 14%)", "0.20 times", "is 1.8% as long", "adds, 1.8%.", "**does nothing**"):
        assert number in str(nothing)
    one_vector = sentence(0.9, 5.0)
    for number in ("5.00 times", "is 45.0% as long", "adds, 45.0%.", "Of that, 100% is", "**broadcasts**"):
        assert number in str(one_vector)
    neither = str(sentence(0.9, 0.4))
    assert "is 3.6% as long" in neither
    assert neither.endswith("one vector for all tokens.")


def test_a_token_among_several_is_told_by_its_place_and_the_first_one_by_being_first() -> None:
    pair = builders.encoding(["she", "left"], ["he", "stayed"])
    assert "goes to \\[SEP\\] (token 7) (" in str(sentence(0.9, 0.1, pair, 6))
    without = builders.encoding(["she", "left", "him"], front=None, end=None)
    assert "goes to the first token, “she” (" in str(sentence(0.9, 0.1, without, 0))


@pytest.mark.parametrize("model", ["embedded/bert", "embedded/tinybert"])
def test_something_is_said_of_exactly_the_heads_that_give_much(model: str, engine: Engine) -> None:
    sinks = engine.sinks(model, TEXT)
    layers, heads, _ = sinks.share.shape
    words = {"does nothing": "**does nothing**", "broadcasts": "**broadcasts**", "neither": "neither next to nothing"}
    for layer in range(layers):
        for head in range(heads):
            sentence, token = describe_head(sinks, layer, head), strongest(sinks, layer, head)
            assert (sentence is not None) == bool(much_attention(sinks)[layer, head, token])
            assert sentence is None or words[verdict(sinks, layer, head, token)] in sentence
    rows = table(sinks)
    assert rows[["layer", "head", "place"]].min().tolist() == [1, 1, 1]
    assert len(rows) == layers * heads * 2


def test_the_view_says_it_of_the_chosen_head_and_of_no_other(open_page: Callable[..., AppTest]) -> None:
    app = open_page(PAGE, text=TEXT, layer="3", head="5")
    (finding,) = (element for element in app.main.get("markdown") if element.value.startswith("On this text, "))
    assert finding.value.endswith("Looking at \\[CLS\\] **does nothing** here.")
    assert finding.help == RULE
    app.number_input(key="layer").set_value(1).run()
    assert "On this text, " not in prose(app)


def test_a_text_without_ordinary_tokens_and_a_decoder_have_no_finding(
    open_page: Callable[..., AppTest], checkpoint: Callable[[str], Path]
) -> None:
    for arguments in (
        {"text": "[SEP]"},
        {"text": TEXT, "pair": TEXT, "model": str(checkpoint("bart")), "model_part": "cross"},
    ):
        app = open_page(PAGE, **arguments)
        assert not app.error
        assert not app.warning
        assert "On this text, " not in prose(app)
