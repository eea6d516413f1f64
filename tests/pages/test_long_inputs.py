"""What one visitor may ask for at a time: long texts, many masks, many words, many sentences. Each bound is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from on_screen import prose
from streamlit.testing.v1 import AppTest

from pages.next_sentence import whole_text
from ui import MASKS
from ui.messages import make_distinct

Open = Callable[..., AppTest]

TOO_LONG = "word " * 20_001


def test_equal_labels_are_told_apart_by_few_signs() -> None:
    """As many signs as there were equal labels before made 37 MB of 5,000 masks, sent with every click."""
    labels = make_distinct(["mask"] * 5_000 + ["word"])
    assert len(set(labels)) == 5_001
    assert (labels[0], labels[-1]) == ("mask", "word")
    assert max(map(len, labels)) < 20
    assert all(label.strip("\u200b\u2060") in ("mask", "word") for label in labels)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "view", "key", "noun"),
    [
        ("attention", "lines", "text", "The text"),
        ("attention", "lines", "pair", "The second text"),
        ("masked_words", "predictions", "text", "The text"),
        ("next_sentence", "probability", "pair", "Sentence B"),
        ("next_sentence", "a text", "next_sentence_passage", "The text"),
        ("compare", "tokens", "text", "The text"),
        ("compare", "representations", "compare_sentences", "Your text"),
        ("sentence_vectors", "matrix", "sentence_vectors_lines", "The list of sentences"),
    ],
)
def test_a_text_that_is_too_long_is_refused_and_kept(
    open_page: Open, page: str, view: str, key: str, noun: str
) -> None:
    app = open_page(f"pages/{page}/page.py", view=view)
    app.text_area(key=key).set_value(TOO_LONG).run()
    assert f"{noun} has 100,005 characters, more than the 100,000 that are read. Paste a part of it." in prose(app)
    assert app.text_area(key=key).value == TOO_LONG


@pytest.mark.parametrize(("page", "view"), [("masked_words", "layers"), ("compare", "predictions")])
def test_many_masks_are_not_filled_at_once(open_page: Open, page: str, view: str) -> None:
    app = open_page(f"pages/{page}/page.py", view=view, text="[MASK] " * 101)
    assert "There are 101 masks here, and at most 100 can be filled at a time. Remove some." in prose(app)


@pytest.mark.slow
def test_a_click_fills_twenty_masks(open_page: Open) -> None:
    app = open_page("pages/masked_words/page.py", text="[MASK] " * 22)
    (button,) = [button for button in app.button if button.label.startswith("Fill 2")]
    assert button.label == "Fill 20"
    button.click().run()
    assert app.text_area(key="text").value.count("[MASK]") == 2
    assert "Fill all" in [button.label for button in app.button]


def test_the_first_words_of_many_can_be_clicked(open_page: Open, bilstm: str) -> None:
    """Masks on the others stay."""
    app = open_page("pages/masked_words/page.py", model=bilstm, text="cat " * 700, masks="2,650")
    strip = app.button_group(key="mask_strip")
    assert len(strip.proto.options) == 600
    assert "Only the first 600 of 700 words can be clicked here." in prose(app)
    strip.set_value([1, 4]).run()
    assert app.session_state[MASKS.key] == (2, 5, 649)


def test_a_text_of_many_sentences_is_cut_and_said_so(open_page: Open) -> None:
    app = open_page("pages/next_sentence/page.py", view="a text", passage="It is so. " * 70)
    assert "Only the first 60 of 70 sentences are used: at most 60, and 10,000 characters together." in prose(app)


def test_long_sentences_are_fewer() -> None:
    assert whole_text._n_used(["a" * 999] * 60) == 10
    assert whole_text._n_used(["a" * 99_999] * 3) == 2
    assert whole_text._n_used(["a", "b"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 2])
def test_a_lesson_says_what_it_did_not_read(step: int, open_page: Open) -> None:
    app = open_page("pages/learn/page.py", lesson="pieces", step=str(step), text="cat " * 600)
    assert "The text was cut: the model reads at most 512 tokens on this page. 90 at the end were left out" in prose(
        app
    )
