"""Words that a tokenizer does not know, counted in texts whose numbers are known by hand."""

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
    # A byte level tokenizer knows all words.
    unknown = engine.ask(CountUnknown("embedded/modernbert", TEXTS))
    assert (unknown.n_words, unknown.n_unknown, unknown.n_identical) == (19, 0, 0)
    # Texts that are the same only because they are cut are not identical.
    long = "🙂 " + "the " * 600
    unknown = engine.ask(CountUnknown("embedded/tinybert", ((f"{long}cat", None), (f"{long}dog", None))))
    assert (unknown.n_texts, unknown.n_unknown, unknown.n_identical) == (2, 2, 0)
    for texts in ((), (("a", None),) * (MOST_TEXTS + 1), ((" ", None),), (("a", ""),)):
        with pytest.raises(InvalidInput):
            CountUnknown("embedded/tinybert", texts)
