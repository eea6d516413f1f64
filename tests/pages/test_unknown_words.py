"""What a vocabulary does not have is named on every page on which a model reads a text that one types."""

from __future__ import annotations

from collections.abc import Callable

from on_screen import prose
from streamlit.testing.v1 import AppTest

Open = Callable[..., AppTest]

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


def test_words_of_no_vocabulary_are_named_once(open_page: Open) -> None:
    """Those of a second text, too."""
    for page, query in PAGES.items():
        assert prose(open_page(f"pages/{page}/page.py", **query)).count(NOTE) == 1, page
    app = open_page("pages/next_sentence/page.py", **OTHER_WORDS)
    for view in ("probability", "attention", "input"):
        app.query_params["view"] = view
        assert "Not in the vocabulary, read as [UNK]: 猫, 狗." in prose(app.run())
    app.query_params.update({"view": "a text", "passage": "The 猫 sat. The 猫 ran. Dogs sleep."})
    assert "Not in the vocabulary, read as [UNK]: 猫." in prose(app.run())


def test_who_types_the_token_for_unknown_words_means_it(open_page: Open) -> None:
    for text in ("The cat sat.", "The [UNK] sat."):
        assert "Not in the vocabulary" not in prose(open_page("pages/attention/page.py", text=text))


def test_a_text_that_no_model_can_read_is_said_once(open_page: Open) -> None:
    app = open_page("pages/compare/page.py", text=" ", view="tokens")
    assert prose(app).count("The text is empty") == 1
