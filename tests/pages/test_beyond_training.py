"""Every page says once that a text is longer than those a model was trained on, and none says so of a shorter one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from patience import PATIENCE
from streamlit.testing.v1 import AppTest

from jobs.study import Study

Open = Callable[..., AppTest]

SHORT, FITS, TOO_LONG = (" ".join(["cat"] * n) for n in (18, 126, 127))  # with [CLS] and [SEP] 20, 128, 129 tokens
ROWS = [(f"{place} cat", "ab"[place % 2]) for place in range(30)]

COMPARED = {"models": "embedded/bert,embedded/bilstm", "beside": "1"}

# What is asked of a page; {} stands for the text.
CASES: dict[str, tuple[str, dict[str, str]]] = {
    "attention": ("attention", {"text": "{}"}),
    "attention, a pair": ("attention", {"text": "cat", "pair": "{}", "view": "lines"}),
    **{
        f"masked words, {view}": ("masked_words", {"text": "{}", "masks": "3", "view": view})
        for view in ("predictions", "why", "layers", "surprise", "training", "attention", "what if")
    },
    "next sentence, probability": ("next_sentence", {"text": "dog", "pair": "{}", "view": "probability"}),
    "next sentence, attention": ("next_sentence", {"text": "dog", "pair": "{}", "view": "attention"}),
    "next sentence, input": ("next_sentence", {"text": "dog", "pair": "{}", "view": "input"}),
    "next sentence, a text": ("next_sentence", {"view": "a text", "passage": "Dog. The {}."}),
    "layers, movement": ("layers", {"text": "{}", "view": "movement"}),
    "compare, tokens": ("compare", COMPARED | {"text": "{}", "view": "tokens"}),
    "compare, attention": ("compare", COMPARED | {"text": "{}", "view": "attention"}),
    "compare, predictions": ("compare", COMPARED | {"text": "{}", "view": "predictions"}),
    "compare, a pair": ("compare", COMPARED | {"text": "dog", "pair": "{}", "view": "predictions"}),
    "compare, sentences": ("compare", COMPARED | {"sentences": "dog\n{}", "view": "representations"}),
}


def complaints(app: AppTest) -> list[str]:
    return [w.value.replace("\\", "") for w in app.warning if "training never reached" in w.value]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_text_longer_than_in_training_is_said_to_be_once(case: str, open_page: Open) -> None:
    """And of a short text nothing is said."""
    page, query = CASES[case]
    app = open_page(f"pages/{page}/page.py", **{name: value.format(SHORT) for name, value in query.items()})
    assert not app.error
    assert complaints(app) == []
    app.query_params.update({name: value.format(TOO_LONG) for name, value in query.items()})
    app.run()
    assert not app.error
    (sentence,) = complaints(app)
    assert sentence.startswith("embedded/bert saw at most 128 tokens at once in training and up to 1")
    if "pair" not in query and "passage" not in query:  # which have more special tokens, and full stops
        assert "up to 129 here" in sentence


def test_a_text_as_long_as_in_training_is_short_enough(open_page: Open) -> None:
    app = open_page("pages/attention/page.py", text=FITS)
    assert any("128 tokens of at most 512" in c.value.replace("\\", "") for c in app.caption)
    assert complaints(app) == []


def test_the_length_in_training_stands_beside_the_limit(open_page: Open) -> None:
    app = open_page("pages/attention/page.py", text="The dog barked.")
    (about,) = (c.value.replace("\\", "") for c in app.caption if "parameters" in c.value)
    assert about.endswith("6 tokens of at most 512 (trained on up to 128).")
    app = open_page("pages/masked_words/page.py", text="The dog barked.", model="embedded/bilstm")
    (about,) = (c.value.replace("\\", "") for c in app.caption if "parameters" in c.value)
    assert about.endswith(" tokens.")


@pytest.mark.slow
def test_of_two_sentences_set_against_each_other_either_or_both_may_be_long(open_page: Open) -> None:
    def score() -> None:
        next(button for button in app.button if button.label.startswith("Score")).click().run()

    app = open_page("pages/masked_words/page.py", text=SHORT, view="surprise", against=TOO_LONG)
    score()
    assert len(app.metric) == 6
    assert len(complaints(app)) == 1
    app.text_area(key="text").set_value(TOO_LONG).run()
    assert len(app.metric) == 6
    assert len(complaints(app)) == 1


def test_a_replacement_can_make_a_text_too_long(open_page: Open) -> None:
    app = open_page("pages/masked_words/page.py", text=FITS, masks="3", view="what if", replace="6")
    assert complaints(app) == []
    app.text_input(key="masked_words_replacement").set_value("dog cow").run()
    (sentence,) = complaints(app)
    assert "up to 129 here" in sentence


def test_models_are_named_together_and_an_lstm_is_not(open_page: Open) -> None:
    app = open_page("pages/compare/page.py", text=TOO_LONG, view="tokens")
    (sentence,) = complaints(app)
    assert sentence.startswith("embedded/bert, embedded/tinybert and embedded/modernbert saw at most 128 tokens")


def test_a_list_of_pairs_is_said_to_hold_a_long_one(open_page: Open) -> None:
    for text, n in (("dog", 0), (TOO_LONG, 1)):
        app = open_page("pages/next_sentence/page.py", view="many pairs")
        app.text_area(key="next_sentence_pairs").set_value(f"a,b\ndog,cat\n{text},cat\n").run()
        app.button[[b.label for b in app.button].index("Test 2 pairs")].click().run()
        assert len(app.dataframe[0].value) == 2
        assert len(complaints(app)) == n


@pytest.mark.slow
def test_own_data_to_probe_is_said_to_hold_a_long_text(open_page: Open) -> None:
    for text, n in ((FITS, 0), (TOO_LONG, 1)):
        app = open_page("pages/layers/page.py", tasks="", format="table", view="layers")
        rows = [*ROWS, (text, "a")]
        app.text_area(key="layers_data").set_value("\n".join(["text,label", *(",".join(row) for row in rows)])).run()
        next(b for b in app.button if b.label.startswith("Run")).click().run()
        assert app.session_state["desk"].current(Study).wait(PATIENCE)
        app.run()
        assert app.get("plotly_chart")
        assert len(complaints(app)) == n
