"""What pages say of the visitor's own texts before a model is trained or measured on them."""

from __future__ import annotations

from collections.abc import Callable

from on_screen import prose
from streamlit.testing.v1 import AppTest

from model_zoo.heldout import written_pairs

Open = Callable[..., AppTest]

BERT = "embedded/tinybert"
CHINESE = "\n".join(
    ["text,label", *(f"我的{dish}很{taste}。,{taste}" for dish in "菜汤饭面茶酒鱼肉果糖" for taste in "甜臭")]
)
UNKNOWN = "are not in the vocabulary of Tiny BERT, which reads them as [UNK]. That makes 20 texts of 20 the same"


def plain(app: AppTest) -> str:
    return prose(app).replace("\\", "")


def test_texts_that_become_identical_are_told_before_training(open_page: Open) -> None:
    app = open_page("pages/train/page.py", model=BERT, set="own", own_text=CHINESE)
    assert "are not in the vocabulary of Tiny BERT, which reads them as [UNK]. That makes" in plain(app)
    app.text_area(key="train_own_text").set_value("text,label\n" + "It was fine here,good\nI slept,bad\n" * 20).run()
    assert "not in the vocabulary" not in plain(app)


def test_texts_that_become_identical_are_told_before_probing(open_page: Open) -> None:
    assert UNKNOWN in plain(open_page("pages/layers/page.py", model=BERT, data=CHINESE))
    assert "[UNK]" not in plain(open_page("pages/layers/page.py", model="embedded/modernbert", data=CHINESE))


def test_sentences_that_a_bundled_model_was_pretrained_on_are_counted(open_page: Open) -> None:
    ours = [pair.first for pair in written_pairs() if len(pair.first.split()) > 5][:19]
    of_a_treebank = "What are really good programs for smooth crisp Black & White editing?"
    app = open_page("pages/corpus/page.py", model=BERT, data="\n".join([of_a_treebank, *ours, "我的 🙂."]))
    assert "1 of the 20 sentences of more than five words (5%) stand in the text" in plain(app)
    assert "not in the vocabulary" not in plain(app)
    assert "pretrained on" not in plain(open_page("pages/corpus/page.py", model=BERT))
