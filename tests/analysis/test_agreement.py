"""Guesses of two models side by side: the same word in three spellings, and what two lists share."""

from __future__ import annotations

import pytest
from tokenizers.pre_tokenizers import ByteLevel

from analysis.agreement import agreement, rank_of, readable, written
from model_zoo.types import MaskPrediction, Prediction


def answer(*tokens: str) -> MaskPrediction:
    return MaskPrediction(1, tuple(Prediction(token, i, 1 / (i + 2)) for i, token in enumerate(tokens)), 0.0)


@pytest.mark.parametrize(
    ("token", "word"),
    [
        ("cat", "cat"), ("Ġcat", "cat"), ("▁cat", "cat"), ("Cat", "cat"), ("##ing", "##ing"), ("café", "café"),
        ("Ġ", ""), ("é", "é"), (".", "."), ("Ã", "ã"),
    ],
)  # fmt: skip
def test_a_token_reads_as_its_word(token: str, word: str) -> None:
    assert written(token) == word


@pytest.mark.parametrize("word", ["café", "Zürich", "чай", "猫", "🍕", "naïve—yes"])
def test_byte_level_tokens_read_as_what_was_encoded(word: str) -> None:
    """Against the tokenizers library's own table of bytes."""
    [(token, _)] = ByteLevel(add_prefix_space=True, use_regex=False).pre_tokenize_str(word)
    assert token.startswith("Ġ")
    assert readable(token) == word
    assert written(token) == word.casefold()


def test_a_token_that_is_a_space_can_be_read_as_itself() -> None:
    assert [readable(token) for token in ("Ġ", "▁", "ĠShe", "##ing")] == ["Ġ", "▁", "She", "##ing"]


def test_agreement_by_hand() -> None:
    actual = agreement(answer("cat", "dog", "man"), answer("Ġdog", "ĠCat", "Ġsun"), 3)
    assert (actual.first, actual.shared, actual.overlap) == (False, ("cat", "dog"), pytest.approx(2 / 3))
    assert agreement(answer("cat", "dog"), answer("▁CAT", "▁sun"), 1).first
    assert agreement(answer("cat"), answer("dog"), 1).overlap == 0


def test_a_list_agrees_wholly_with_itself_even_with_spellings_in_it() -> None:
    both = answer("The", "the", "a")
    assert agreement(both, both, 3) == agreement(both, both, 3)
    assert agreement(both, both, 3).overlap == 1


def test_too_few_guesses_are_refused() -> None:
    for k in (0, 2):
        with pytest.raises(ValueError, match="cannot be compared"):
            agreement(answer("a"), answer("a", "b"), k)


def test_the_rank_of_a_word() -> None:
    best = answer("Ġdog", "ĠCat").best
    assert (rank_of("cat", best), rank_of("sun", best)) == (2, None)
