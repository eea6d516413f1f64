"""Which words are meant by a pattern, and which a pretraining has seen."""

import string
from pathlib import Path

import numpy as np
import pytest
from builders import encoding
from corpora import corpus
from hypothesis import given
from hypothesis import strategies as st

from analysis.corpus.pattern import KINDS, Kind, Pattern
from analysis.corpus.pretraining import hashes, n_pretrained, read, write
from analysis.corpus.reading import built_in
from analysis.corpus.sentences import Corpus, Sentence
from model_zoo import Engine
from model_zoo.errors import InvalidInput


def upos(word: str) -> str:
    return "X" if word.isalnum() else "PUNCT"


TREE = Sentence(
    0,
    "She told it that SHE left.",
    ((0, 3), (4, 8), (9, 11), (12, 16), (17, 20), (21, 25), (25, 26)),
    ("PRON", "VERB", "PRON", "SCONJ", "PRON", "VERB", "PUNCT"),
    ("nsubj", "root", "obj", "mark", "nsubj", "ccomp", "punct"),
    (1, -1, 1, 5, 5, 1, 1),
)


@pytest.mark.parametrize(
    ("kind", "text", "places"),
    [
        ("word", "she", [0, 4]),
        ("word", " It , LEFT ", [2, 5]),
        ("word", ",", []),
        ("word", ".", [6]),
        ("upos", "verb", [1, 5]),
        ("deprel", "nsubj:pass, obj", [0, 2, 4]),
        ("piece", "she", []),
    ],
)
def test_words_that_match(kind: Kind, text: str, places: list[int]) -> None:
    assert Pattern.parsed(kind, text).words(TREE) == places


def test_tokens_match_as_the_tokenizer_writes_them() -> None:
    tokens = encoding(["un", "##til", "Un", "##til"])
    assert Pattern.parsed("piece", "##til").tokens(tokens) == [2, 4]
    assert Pattern.parsed("piece", "un, [SEP]").tokens(tokens) == [1, 5]
    assert Pattern.parsed("word", "un").tokens(tokens) == []
    assert Pattern.parsed("word", "It,it , IT") == Pattern("word", ("it",))
    assert str(Pattern.parsed("word", "he, she")) == "“he” or “she”"
    assert str(Pattern.parsed("upos", "noun")) == "NOUN"
    with pytest.raises(InvalidInput, match="Choose word, piece"):
        Pattern("letters", ("a",))  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "text"), [("word", ""), ("word", "  "), ("deprel", ":pass"), ("word", "a" * 201)])
def test_nothing_to_look_for_is_refused(kind: Kind, text: str) -> None:
    with pytest.raises(InvalidInput, match=r"Type|type"):
        Pattern.parsed(kind, text)


def test_sentences_are_left_out_beforehand() -> None:
    made = corpus("The cat sat.", "A dog, one", "Ein Café", upos=upos)
    assert Pattern.parsed("word", "CAT").sentences(made).tolist() == [True, False, False]
    assert Pattern.parsed("upos", "PUNCT").sentences(made).tolist() == [True, True, False]
    assert Pattern.parsed("deprel", "obj").sentences(made).tolist() == [False] * 3
    assert Pattern.parsed("piece", "##at").sentences(made).tolist() == [True, False, False]
    assert Pattern.parsed("piece", "Ġcafe").sentences(made).tolist() == [False, False, True]
    assert Pattern.parsed("piece", "[SEP]").sentences(made).all()
    assert Pattern.parsed("word", "x").sentences(Corpus()).tolist() == []
    assert Pattern.parsed("upos", "X").sentences(Corpus()).tolist() == []


SIGNS = "abAB.,'- éßİﬁ東##▁Ġ[]1" + string.whitespace


@pytest.mark.slow
@given(
    texts=st.lists(st.text(st.sampled_from(SIGNS), max_size=30), max_size=6),
    kind=st.sampled_from(KINDS),
    typed=st.text(st.one_of(st.sampled_from(SIGNS), st.characters()), max_size=12),
)
def test_no_sentence_that_matches_is_left_out(texts: list[str], kind: Kind, typed: str) -> None:
    made = corpus(*texts, upos=upos, deprel=lambda _: "dep")
    try:
        pattern = Pattern.parsed(kind, typed)
    except InvalidInput:
        return
    may = pattern.sentences(made)
    assert may.shape == (len(made),)
    for sentence in made:
        if pattern.words(sentence):
            assert may[sentence.number]


@pytest.mark.parametrize(
    "text", ["The Café's naïve ﬁsh", "İstanbul, STRASSE straße", "東京 and Ω", "x\u0301y [SEP] ##a"]
)
def test_no_sentence_with_a_token_is_left_out(engine: Engine, text: str) -> None:
    for token in engine.attend("embedded/tinybert", text).encoding.tokens:
        assert Pattern("piece", (token,)).sentences(corpus(text)).all(), token


LONG = "The old dog ran after it."
SHORT = "The dog ran after it."


def test_what_is_written_is_read(tmp_path: Path) -> None:
    texts = [f"This is the sentence with number {number}." for number in range(3000)]
    write([*texts, *texts, SHORT], tmp_path / "hashes.xz")
    np.testing.assert_array_equal(read(tmp_path / "hashes.xz"), np.unique(hashes(texts)))
    assert len(read(tmp_path / "hashes.xz")) == 3000
    first, again, other = hashes([LONG, SHORT, f"  {LONG.upper()}\n".replace("DOG", " DOG "), f"{LONG}!"])
    assert first == again != other


def test_the_bundled_models_were_trained_on_a_treebank_and_not_on_our_sentences() -> None:
    of_the_treebank = "What are really good programs for smooth crisp Black & White editing?"
    ours = built_in().texts
    assert n_pretrained([of_the_treebank, "Yes.", *ours]) == (1, 1 + sum(len(text.split()) > 5 for text in ours))
    assert n_pretrained([]) == (0, 0)
