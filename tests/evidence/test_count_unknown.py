"""Words that a tokenizer does not know, counted in texts whose numbers are known by hand."""

from __future__ import annotations

import pytest

from evidence.questions.count_unknown import MOST_TEXTS, CountUnknown, UnknownWords
from model_zoo import Engine
from model_zoo.errors import InvalidInput

TEXTS = (
    ("The cat sat 🙂", None),  # four words, one unknown
    ("The cat sat 🙃", None),  # four words, one unknown: the same ids
    ("the  CAT sat 🙂", None),  # the first one again
    ("The cat sat.", None),  # four words
    ("The cat sat.", "It slept 🙂"),  # seven words, one unknown
)


def test_unknown_words_and_the_texts_that_they_make_identical(engine: Engine) -> None:
    unknown = engine.ask(CountUnknown("embedded/tinybert", TEXTS))
    assert unknown == UnknownWords("[UNK]", n_texts=4, n_words=19, n_unknown=3, n_identical=2)


def test_a_byte_level_tokenizer_knows_all_words(engine: Engine) -> None:
    unknown = engine.ask(CountUnknown("embedded/modernbert", TEXTS))
    assert (unknown.n_words, unknown.n_unknown, unknown.n_identical) == (19, 0, 0)


def test_texts_that_are_the_same_only_because_they_are_cut_are_not_identical(engine: Engine) -> None:
    long = "🙂 " + "the " * 600
    unknown = engine.ask(CountUnknown("embedded/tinybert", ((f"{long}cat", None), (f"{long}dog", None))))
    assert (unknown.n_texts, unknown.n_unknown, unknown.n_identical) == (2, 2, 0)


@pytest.mark.parametrize("texts", [(), (("a", None),) * (MOST_TEXTS + 1), ((" ", None),), (("a", ""),)])
def test_what_cannot_be_counted_is_refused(texts: tuple[tuple[str, str | None], ...]) -> None:
    with pytest.raises(InvalidInput):
        CountUnknown("embedded/tinybert", texts)
