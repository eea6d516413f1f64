"""What may be typed, with the sentence for what may not, and the words that a text is made of."""

import tomllib
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_zoo.errors import InvalidInput
from model_zoo.text import MAX_CHARACTERS, check, word_spans

# Each with a pattern of what it is refused with.
REFUSED = {
    "empty": ("", "is empty"),
    "spaces": ("  \t\n\u3000\u00a0 ", "is empty"),
    "too long": ("a" * (MAX_CHARACTERS + 1), "100,001 characters, more than the 100,000"),
    "NUL": ("ab\0c", r"U\+0000\) at position 3"),
    "bell": ("\aab", r"U\+0007\) at position 1"),
    "escape": ("a\x1b[31m", r"U\+001B\) at position 2"),
    "delete": ("a\x7f", r"U\+007F\) at position 2"),
    "C1 control": ("\x85 a", r"U\+0085\) at position 1"),
    "high surrogate": ("ab \ud83d", r"surrogate pair\) at position 4"),
    "low surrogate": ("\udc00", r"surrogate pair\) at position 1"),
}

READ = {
    "100,000 characters": "word " * 20_000,
    "one word of as many": "a" * MAX_CHARACTERS,
    "line breaks and tabs": "one\ttwo\r\nthree\n",
    "emoji": "Hello 👋🏽 world 🌍",
    "ZWJ sequence": "a family 👨‍👩‍👧‍👦 and a flag 🏳️‍🌈",
    "right-to-left": "שלום עולם، مرحبا بالعالم",
    "direction marks": "a \u202eb\u202c c",
    "HTML": "<script>alert(1)</script> <b>bold</b> &amp;",
    "typed special tokens": "[CLS] a [MASK] b [SEP] <mask> </s>",
    "astral": "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠀀",
    "private use": "\ue000",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_a_sentence(name: str) -> None:
    text, message = REFUSED[name]
    with pytest.raises(InvalidInput, match=f"^The text .*{message}"):
        check(text)
    with pytest.raises(InvalidInput, match=r"^The second text "):
        check(text, "The second text")


def test_read_as_it_is() -> None:
    for name, text in READ.items():
        assert check(text) is text, name


# Each text as its words, by hand.
WORDS: dict[str, list[str]] = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", WORDS)
def test_words_by_hand(text: str) -> None:
    assert [text[start:end] for start, end in word_spans(text)] == WORDS[text]


def test_a_million_characters_are_cut_into_words() -> None:
    spans = word_spans("don't " * (MAX_CHARACTERS // 6))
    assert len(spans) == MAX_CHARACTERS // 6
    assert spans[-1] == (len(spans) * 6 - 6, len(spans) * 6 - 1)


characters = st.one_of(
    st.characters(exclude_categories=["Cs", "Cc"]),
    st.sampled_from("ab '’.,-_3½ \t\n中か한हि\u093f\u094d\u200d\u200c\u00ad\u0301\u0600\ufe0f👨👩🏽🇩🇪אم[]"),
)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.text(characters, max_size=40))
def test_spans_are_in_order_and_cover_what_is_visible(text: str) -> None:
    spans = word_spans(text)
    assert all(start < end for start, end in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    covered = {position for start, end in spans for position in range(start, end)}
    assert {position for position, character in enumerate(text) if not character.isspace()} <= covered
    assert not any(text[start].isspace() for start, _ in spans)


@settings(max_examples=200)
@given(st.text(st.characters(), max_size=20))
def test_only_what_it_names_is_refused(text: str) -> None:
    broken = any(unicodedata.category(c) in {"Cs", "Cc"} for c in text if c not in "\t\r\n")
    if text.strip() and not broken:
        assert check(text) == text
    else:
        with pytest.raises(InvalidInput):
            check(text)
