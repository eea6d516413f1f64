"""The view "Why this word?" against counts by hand; what runs a long text word by word says how long, and stops."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from on_screen import cell_maps, prose
from streamlit.testing.v1 import AppTest

from model_zoo import Engine
from model_zoo.types import signed
from ui import long_text
from viz.erasure import LEGEND

PAGE = "pages/masked_words/page.py"
TEXT = "The keys to the cabinet are on the table."
Open = Callable[..., AppTest]


def figure(app: AppTest) -> dict[str, Any]:
    """What is sent to the browser of the Plotly figure."""
    spec: dict[str, Any] = json.loads(app.get("plotly_chart")[0].proto.spec)
    return spec


def test_why_this_word_counts_by_hand(open_page: Open, engine: Engine) -> None:
    """Against masks typed into the text, one word after the other."""
    text = "The dogs near the house are hungry."
    words = ["The", "dogs", "near", "the", "house", "[MASK]", "hungry", "."]
    before = engine.fill_mask("embedded/bert", text, masked=[6])[0].best[0]
    after = {}
    for place in {*range(len(words))} - {5}:
        typed = " ".join("[MASK]" if at == place else word for at, word in enumerate(words))
        answers = engine.fill_mask("embedded/bert", typed, 1, targets=[before.token])
        (answer,) = [candidate for candidate in answers if candidate.position == 6]
        after[place] = answer.targets[0].probability
    app = open_page(PAGE, text=text, masks="7", view="why")
    assert min(after, key=after.__getitem__) == 1
    change = f"{before.probability:.0%}", f"{100 * after[1]:.2g}%"
    assert "Masking “dogs” costs the prediction most: from {} to {}.".format(*change) in prose(app)
    drawn = figure(app)
    names = drawn["layout"]["yaxis"]["ticktext"]
    assert names[0] == "without “dogs”: {} → {}".format(*change)
    assert len(names) == len(after)
    expected = sorted((np.log2(before.probability / p) for p in after.values()), key=lambda bits: -abs(bits))
    assert drawn["data"][0]["x"] == pytest.approx(expected, abs=1e-3)


def test_why_this_word_follows_what_stood_there_too(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, text="Paris is the capital of France.", masks="7", view="why")
    (answer,) = engine.fill_mask("embedded/bert", "Paris is the capital of France.", masked=[6])
    assert answer.original is not None
    assert answer.best[0].token == "paris"
    assert figure(app)["layout"]["title"]["text"] == "P(paris)"
    app.segmented_control(key="masked_words_followed").set_value("original").run()
    assert figure(app)["layout"]["title"]["text"] == "P(france)"
    assert f": {100 * answer.original.probability:.2g}% →" in figure(app)["layout"]["yaxis"]["ticktext"][0]


@pytest.mark.slow
def test_both_views_that_hide_words_say_the_same(open_page: Open) -> None:
    """The bars here and the row "Occlusion" on the page "Cause": one number, one sign, one colour, one legend."""
    query = {"text": "The dogs near the house are hungry.", "masks": "7"}
    why, cause = open_page(PAGE, **query, view="why"), open_page("pages/cause/page.py", **query, view="words")
    bars, occlusion = figure(why), cell_maps(cause)[0]
    assert occlusion["rows"][0].startswith("Occlusion")
    theirs = dict(zip(occlusion["columns"], occlusion["values"][0].tolist(), strict=True))
    names = [name.removeprefix("without “").partition("”")[0] for name in bars["layout"]["yaxis"]["ticktext"]]
    mine = dict(zip(names, bars["data"][0]["x"], strict=True))
    assert mine == pytest.approx(theirs, abs=1e-3)
    assert min(mine.values()) < -0.1
    assert max(mine.values()) > 0.1
    scale = occlusion["scale"]  # from what opposes to what supports
    for bits, colour in zip(bars["data"][0]["x"], bars["data"][0]["marker"]["color"], strict=True):
        assert colour in (scale[len(scale) // 2 :] if bits > 0 else scale[: len(scale) // 2])
    assert LEGEND in prose(why)
    assert LEGEND in prose(cause)


def test_why_hides_words_whole(open_page: Open) -> None:
    app = open_page(PAGE, text="She played the clavichord again.", masks="3", view="why")
    assert sum("clavichord" in name for name in figure(app)["layout"]["yaxis"]["ticktext"]) == 1
    app = open_page(PAGE, text="Hello", masks="2", view="why")
    assert "There is no other word to mask" in prose(app)


@pytest.mark.parametrize("view", ["surprise", "why"])
def test_a_long_text_says_how_long_it_takes_and_can_be_stopped(
    view: str, open_page: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_text, "LONG", 8)
    monkeypatch.setattr(long_text, "_A_RUN", 0)
    monkeypatch.setattr(long_text, "_AT_ONCE", 2)
    said_on_the_way: list[str] = []
    monkeypatch.setattr(long_text, "_say", lambda _bar, _share, words: said_on_the_way.append(words))
    app = open_page(PAGE, text=TEXT, masks="6", view=view)
    (waiting,) = [button for button in app.button if "long text" in button.label]
    assert not app.metric
    assert not app.get("plotly_chart")
    waiting.click().run()
    assert app.query_params["long"] == "1"
    shares = [int(text.partition("%")[0]) for text in said_on_the_way]
    assert len(shares) >= 3
    assert shares == sorted(set(shares))
    assert all(re.fullmatch(r"\d+% done, about \d+ (second|minute)s? left", text) for text in said_on_the_way)
    if view == "surprise":
        scores = engine.token_scores("embedded/bert", TEXT, scheme="word l2r")
        assert app.metric[0].value == f"{signed(scores.log_likelihood)} nats"
    else:
        assert app.get("plotly_chart")
