"""WordPiece by hand is what the tokenizer does."""

from __future__ import annotations

from analysis.control_sentences import CONTROLS
from analysis.wordpiece import Cut, cuts
from model_zoo import Engine


def test_the_longest_beginning_wins() -> None:
    vocabulary = {"un", "unb", "##believ", "##elie", "##vably", "##ably", "##ably!"}
    assert cuts("unbelievably", vocabulary) == (
        Cut("unbelievably", "unb", 10),
        Cut("elievably", "##elie", 6),
        Cut("vably", "##vably", 1),
    )
    assert cuts("unknown", {"un"}) is None
    assert cuts("", vocabulary) == ()


def test_it_is_what_the_tokenizer_does(engine: Engine) -> None:
    vocabulary = set(engine.vocabulary("embedded/bert").tokens)
    words = {word.strip(".,").lower() for sentence in CONTROLS for word in sentence.split()}
    words |= {"unbelievably", "transformers", "xylophonist", "antidisestablishmentarianism", "zzzz"}
    for word in sorted(word for word in words if word.isalpha()):
        encoding = engine.encode("embedded/bert", word)
        pieces = [token for token, special in zip(encoding.tokens, encoding.special, strict=True) if not special]
        actual = cuts(word, vocabulary)
        assert actual is not None, word
        assert [cut.piece for cut in actual] == pieces
