"""What pages say of texts: longer than in training or than is read, of unknown words, known from pretraining."""

import pytest
from on_screen import Open, prose
from patience import PATIENCE
from streamlit.testing.v1 import AppTest

from jobs.study import Study
from model_zoo.heldout import written_pairs
from pages.next_sentence import whole_text
from ui import MASKS
from ui.messages import make_distinct

SHORT, FITS, TOO_LONG = (" ".join(["cat"] * n) for n in (18, 126, 127))  # with [CLS] and [SEP] 20, 128, 129 tokens
ROWS = [(f"{place} cat", "ab"[place % 2]) for place in range(30)]

COMPARED = {"models": "embedded/bert,embedded/bilstm", "beside": "1"}
TINY = {"model": "embedded/tinybert"}

# What is asked of a page; {} stands for the text.
CASES = [
    ("attention", {"text": "{}"}),
    ("attention", {"text": "cat", "pair": "{}", "view": "lines"}),
    *(
        ("masked_words", {"text": "{}", "masks": "3", "view": view})
        for view in ("predictions", "why", "layers", "surprise", "training", "attention", "what if")
    ),
    *(("next_sentence", {"text": "dog", "pair": "{}", "view": view}) for view in ("probability", "attention", "input")),
    ("next_sentence", {"view": "a text", "passage": "Dog. The {}."}),
    ("layers", {"text": "{}", "view": "movement"}),
    *(("compare", COMPARED | {"text": "{}", "view": view}) for view in ("tokens", "attention", "predictions")),
    ("compare", COMPARED | {"text": "dog", "pair": "{}", "view": "predictions"}),
    ("compare", COMPARED | {"sentences": "dog\n{}", "view": "representations"}),
]


def complaints(app: AppTest) -> list[str]:
    return [w.value.replace("\\", "") for w in app.warning if "training never reached" in w.value]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "query"), CASES)
def test_a_text_longer_than_in_training_is_said_to_be_once(page: str, query: dict[str, str], open_page: Open) -> None:
    """And of a short text nothing is said."""
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


def test_lengths_stand_beside_their_limits(open_page: Open) -> None:
    app = open_page("pages/attention/page.py", text=FITS)
    assert any("128 tokens of at most 512" in c.value.replace("\\", "") for c in app.caption)
    assert complaints(app) == []
    app = open_page("pages/attention/page.py", text="The dog barked.")
    (about,) = (c.value.replace("\\", "") for c in app.caption if "parameters" in c.value)
    assert about.endswith("6 tokens of at most 512 (trained on up to 128).")
    app = open_page("pages/masked_words/page.py", text="The dog barked.", model="embedded/bilstm")
    (about,) = (c.value.replace("\\", "") for c in app.caption if "parameters" in c.value)
    assert about.endswith(" tokens.")
    app = open_page("pages/masked_words/page.py", text=FITS, masks="3", view="what if", replace="6")
    assert complaints(app) == []
    app.text_input(key="masked_words_replacement").set_value("dog cow").run()
    (sentence,) = complaints(app)
    assert "up to 129 here" in sentence
    app = open_page("pages/compare/page.py", text=TOO_LONG, view="tokens")
    (sentence,) = complaints(app)
    assert sentence.startswith("embedded/bert, embedded/tinybert and embedded/modernbert saw at most 128 tokens")


@pytest.mark.slow
def test_of_two_sentences_set_against_each_other_either_or_both_may_be_long(open_page: Open) -> None:
    def score() -> None:
        next(button for button in app.button if button.label.startswith("Score")).click().run()

    app = open_page("pages/masked_words/page.py", text=SHORT, view="surprise", against=TOO_LONG, **TINY)
    score()
    assert len(app.metric) == 6
    assert len(complaints(app)) == 1
    app.text_area(key="text").set_value(TOO_LONG).run()
    assert len(app.metric) == 6
    assert len(complaints(app)) == 1


@pytest.mark.slow
def test_lists_are_said_to_hold_a_long_text(open_page: Open) -> None:
    for text, n in ((FITS, 0), (TOO_LONG, 1)):
        app = open_page("pages/layers/page.py", tasks="", format="table", view="layers", **TINY)
        rows = [*ROWS, (text, "a")]
        app.text_area(key="layers_data").set_value("\n".join(["text,label", *(",".join(row) for row in rows)])).run()
        next(b for b in app.button if b.label.startswith("Run")).click().run()
        assert app.session_state["desk"].current(Study).wait(PATIENCE)
        app.run()
        assert app.get("plotly_chart")
        assert len(complaints(app)) == n
    for text, n in (("dog", 0), (TOO_LONG, 1)):
        app = open_page("pages/next_sentence/page.py", view="many pairs", **TINY)
        app.text_area(key="next_sentence_pairs").set_value(f"a,b\ndog,cat\n{text},cat\n").run()
        app.button[[b.label for b in app.button].index("Test 2 pairs")].click().run()
        assert len(app.dataframe[0].value) == 2
        assert len(complaints(app)) == n


UNREADABLE = "word " * 20_001


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
def test_a_text_too_long_is_refused_and_kept(open_page: Open, page: str, view: str, key: str, noun: str) -> None:
    app = open_page(f"pages/{page}/page.py", view=view)
    app.text_area(key=key).set_value(UNREADABLE).run()
    assert f"{noun} has 100,005 characters, more than the 100,000 that are read. Paste a part of it." in prose(app)
    assert app.text_area(key=key).value == UNREADABLE


@pytest.mark.parametrize(("page", "view"), [("masked_words", "layers"), ("compare", "predictions")])
def test_many_masks_are_not_filled_at_once(open_page: Open, page: str, view: str) -> None:
    app = open_page(f"pages/{page}/page.py", view=view, text="[MASK] " * 101)
    assert "There are 101 masks here, and at most 100 can be filled at a time. Remove some." in prose(app)


@pytest.mark.slow
def test_many_masks_are_filled_and_clicked_in_parts(open_page: Open, bilstm: str) -> None:
    app = open_page("pages/masked_words/page.py", text="[MASK] " * 22)
    (button,) = [button for button in app.button if button.label.startswith("Fill 2")]
    assert button.label == "Fill 20"
    button.click().run()
    assert app.text_area(key="text").value.count("[MASK]") == 2
    assert "Fill all" in [button.label for button in app.button]
    # Masks on the others stay.
    app = open_page("pages/masked_words/page.py", model=bilstm, text="cat " * 700, masks="2,650")
    strip = app.button_group(key="mask_strip")
    assert len(strip.proto.options) == 600
    assert "Only the first 600 of 700 words can be clicked here." in prose(app)
    strip.set_value([1, 4]).run()
    assert app.session_state[MASKS.key] == (2, 5, 649)


def test_of_many_sentences_and_labels_few_are_used(open_page: Open) -> None:
    app = open_page("pages/next_sentence/page.py", view="a text", passage="It is so. " * 70)
    assert "Only the first 60 of 70 sentences are used: at most 60, and 10,000 characters together." in prose(app)

    assert whole_text._n_used(["a" * 999] * 60) == 10
    assert whole_text._n_used(["a" * 99_999] * 3) == 2
    assert whole_text._n_used(["a", "b"]) == 2
    # As many signs as there were equal labels before made 37 MB of 5,000 masks, sent with every click.
    labels = make_distinct(["mask"] * 5_000 + ["word"])
    assert len(set(labels)) == 5_001
    assert (labels[0], labels[-1]) == ("mask", "word")
    assert max(map(len, labels)) < 20
    assert all(label.strip("\u200b\u2060") in ("mask", "word") for label in labels)


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 2])
def test_a_lesson_says_what_it_did_not_read(step: int, open_page: Open) -> None:
    app = open_page("pages/learn/page.py", lesson="pieces", step=str(step), text="cat " * 600)
    assert "The text was cut: the model reads at most 512 tokens on this page. 90 at the end were left out" in prose(
        app
    )


CHINESE = "猫坐在垫子上，因为它累了。"
NOTE = "Not in the vocabulary, read as [UNK]: 猫, 坐, 在, 垫, 因 and 4 more."
OTHER_WORDS = {"text": "The 猫 sat.", "pair": "The 狗 ran."}
PAGES: dict[str, dict[str, str]] = {
    "attention": {"text": CHINESE},
    "masked_words": {"text": CHINESE},
    "cause": {"text": CHINESE, "masks": "5"},
    "compare": {"text": CHINESE, "models": "embedded/bert", "view": "tokens"},
    "home": {"text": CHINESE},
    "layers": {"text": CHINESE, "view": "movement"},
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


def test_what_every_model_can_read_is_not_called_unknown(open_page: Open) -> None:
    for text in ("The cat sat.", "The [UNK] sat."):
        assert "Not in the vocabulary" not in prose(open_page("pages/attention/page.py", text=text))
    app = open_page("pages/compare/page.py", text=" ", view="tokens")
    assert prose(app).count("The text is empty") == 1


BERT = "embedded/tinybert"
SAME_ONCE_READ = "\n".join(
    ["text,label", *(f"我的{dish}很{taste}。,{taste}" for dish in "菜汤饭面茶酒鱼肉果糖" for taste in "甜臭")]
)
UNKNOWN = "are not in the vocabulary of Tiny BERT, which reads them as [UNK]. That makes 20 texts of 20 the same"


def plain(app: AppTest) -> str:
    return prose(app).replace("\\", "")


def test_texts_that_become_identical_or_were_pretrained_on_are_told(open_page: Open) -> None:
    app = open_page("pages/train/page.py", model=BERT, set="own", own_text=SAME_ONCE_READ)
    assert "are not in the vocabulary of Tiny BERT, which reads them as [UNK]. That makes" in plain(app)
    app.text_area(key="train_own_text").set_value("text,label\n" + "It was fine here,good\nI slept,bad\n" * 20).run()
    assert "not in the vocabulary" not in plain(app)

    assert UNKNOWN in plain(open_page("pages/layers/page.py", model=BERT, data=SAME_ONCE_READ))
    assert "[UNK]" not in plain(open_page("pages/layers/page.py", model="embedded/modernbert", data=SAME_ONCE_READ))

    ours = [pair.first for pair in written_pairs() if len(pair.first.split()) > 5][:19]
    of_a_treebank = "What are really good programs for smooth crisp Black & White editing?"
    app = open_page("pages/corpus/page.py", model=BERT, data="\n".join([of_a_treebank, *ours, "我的 🙂."]))
    assert "1 of the 20 sentences of more than five words (5%) stand in the text" in plain(app)
    assert "not in the vocabulary" not in plain(app)
    assert "pretrained on" not in plain(open_page("pages/corpus/page.py", model=BERT))
