"""What a vocabulary does not have is named on every page on which a model reads a text that one types."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from on_screen import prose
from streamlit.testing.v1 import AppTest

TEXT = "猫坐在垫子上，因为它累了。"
NOTE = "Not in the vocabulary, read as [UNK]: 猫, 坐, 在, 垫, 因 and 4 more."
OTHER_WORDS = {"text": "The 猫 sat.", "pair": "The 狗 ran."}
PAGES: dict[str, dict[str, str]] = {
    "attention": {"text": TEXT},
    "masked_words": {"text": TEXT},
    "cause": {"text": TEXT, "masks": "5"},
    "compare": {"text": TEXT, "models": "embedded/bert", "view": "tokens"},
    "home": {"text": TEXT},
    "layers": {"text": TEXT, "view": "movement"},
}
VIEWS_OF_TWO = ["probability", "attention", "input"]


@pytest.mark.parametrize("page", PAGES)
def test_words_of_no_vocabulary_are_named_once(page: str, open_page: Callable[..., AppTest]) -> None:
    app = open_page(f"pages/{page}/page.py", **PAGES[page])
    assert prose(app).count(NOTE) == 1


@pytest.mark.parametrize("view", VIEWS_OF_TWO)
def test_those_of_a_second_text_too(view: str, open_page: Callable[..., AppTest]) -> None:
    app = open_page("pages/next_sentence/page.py", view=view, **OTHER_WORDS)
    assert "Not in the vocabulary, read as [UNK]: 猫, 狗." in prose(app)


def test_each_is_named_once_in_a_whole_text(open_page: Callable[..., AppTest]) -> None:
    app = open_page("pages/next_sentence/page.py", view="a text", passage="The 猫 sat. The 猫 ran. Dogs sleep.")
    assert "Not in the vocabulary, read as [UNK]: 猫." in prose(app)


@pytest.mark.parametrize("text", ["The cat sat.", "The [UNK] sat."])
def test_who_types_the_token_for_unknown_words_means_it(text: str, open_page: Callable[..., AppTest]) -> None:
    assert "Not in the vocabulary" not in prose(open_page("pages/attention/page.py", text=text))


def test_a_text_that_no_model_can_read_is_said_once(open_page: Callable[..., AppTest]) -> None:
    app = open_page("pages/compare/page.py", text=" ", view="tokens")
    assert prose(app).count("The text is empty") == 1
