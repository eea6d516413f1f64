"""Guesses of two models side by side: the same word in three spellings, and what two lists share."""

import pytest
from tokenizers.pre_tokenizers import ByteLevel

from analysis.agreement import agreement, rank_of, readable, written
from model_zoo.types import MaskPrediction, Prediction


def answer(*tokens: str) -> MaskPrediction:
    return MaskPrediction(1, tuple(Prediction(token, i, 1 / (i + 2)) for i, token in enumerate(tokens)), 0.0)


def test_a_token_reads_as_its_word() -> None:
    tokens = ["cat", "Ġcat", "▁cat", "Cat", "##ing", "café", "Ġ", "é", ".", "Ã"]
    assert [written(token) for token in tokens] == ["cat"] * 4 + ["##ing", "café", "", "é", ".", "ã"]
    # Byte-level tokens read as what was encoded, by the tokenizers library's own table of bytes.
    for word in ("café", "Zürich", "чай", "猫", "🍕", "naïve—yes"):
        [(token, _)] = ByteLevel(add_prefix_space=True, use_regex=False).pre_tokenize_str(word)
        assert token.startswith("Ġ")
        assert (readable(token), written(token)) == (word, word.casefold())
    assert [readable(token) for token in ("Ġ", "▁", "ĠShe", "##ing")] == ["Ġ", "▁", "She", "##ing"]


def test_agreement_by_hand() -> None:
    actual = agreement(answer("cat", "dog", "man"), answer("Ġdog", "ĠCat", "Ġsun"), 3)
    assert (actual.first, actual.shared, actual.overlap) == (False, ("cat", "dog"), pytest.approx(2 / 3))
    assert agreement(answer("cat", "dog"), answer("▁CAT", "▁sun"), 1).first
    assert agreement(answer("cat"), answer("dog"), 1).overlap == 0
    # A list agrees wholly with itself even with spellings in it.
    both = answer("The", "the", "a")
    assert agreement(both, both, 3) == agreement(both, both, 3)
    assert agreement(both, both, 3).overlap == 1
    for k in (0, 2):
        with pytest.raises(ValueError, match="cannot be compared"):
            agreement(answer("a"), answer("a", "b"), k)
    best = answer("Ġdog", "ĠCat").best
    assert (rank_of("cat", best), rank_of("sun", best)) == (2, None)
