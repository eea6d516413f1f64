"""Common words of real tokenizers: WordPiece, byte-level BPE and Unigram on text that they cut differently."""

from __future__ import annotations

import numpy as np
import pytest
from checkpoints import FAMILIES, TEXT, TEXT_PAIR, Checkpoint, TokenizerOf
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import TYPED

from analysis.alignment import align, all_on_common_words, tokens_by_word
from analysis.divergence import best_matches, head_matrix
from analysis.views import Weights
from model_zoo import Engine
from model_zoo.encoding import encode
from model_zoo.errors import InvalidInput

KINDS = ("bert", "roberta", "xlm-roberta")  # WordPiece, byte-level BPE, Unigram


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I don't know.", ["I", "don't", "know", "."]),
        ("Café in Zürich, naïve", ["Café", "in", "Zürich", ",", "naïve"]),
        ("Cafe\u0301 olé", ["Cafe\u0301", "olé"]),  # the accent as a sign of its own
        ("ok 👩🏽\u200d🚀 🙂 go", ["ok", "👩🏽\u200d🚀", "🙂", "go"]),
        ("Unhappy people, 3.14 (sic)", ["Unhappy", "people", ",", "3.14", "(", "sic", ")"]),
        ("  two   spaces\n\nand lines ", ["two", "spaces", "and", "lines"]),
        ("½ price ﬁne", ["½", "price", "ﬁne"]),
    ],
)
def test_three_kinds_of_tokenizers_share_the_words_people_write(
    text: str, words: list[str], tokenizer_of: TokenizerOf
) -> None:
    alignment = align([encode(tokenizer_of(name), text, None, 99) for name in KINDS])
    assert list(alignment.labels) == words
    assert [text[slice(*span)] for span in alignment.spans] == words
    assert alignment.n_beyond == (0, 0, 0)


def test_chinese_is_as_fine_as_the_models_have_it(tokenizer_of: TokenizerOf) -> None:
    """This Unigram vocabulary knows none of these signs and makes one unknown token of them all."""
    wordpiece, bpe, unigram = (encode(tokenizer_of(name), "the 我喜欢 cat", None, 99) for name in KINDS)
    assert align([wordpiece, bpe]).labels == ("the", "我", "喜", "欢", "cat")
    assert unigram.tokens.count("<unk>") == 1
    assert align([wordpiece, bpe, unigram]).labels == ("the", "我喜欢", "cat")


def test_a_word_that_each_kind_cuts_differently(tokenizer_of: TokenizerOf) -> None:
    encodings = [encode(tokenizer_of(name), "the unhappily café", None, 99) for name in KINDS]
    alignment = align(encodings)
    assert alignment.labels == ("the", "unhappily", "café")
    pieces = tokens_by_word(alignment, encodings)[1]
    assert len(set(pieces)) == 3
    for of_model, mark in zip(pieces, ("##", "Ġ", "▁"), strict=True):
        letters = "".join(piece.replace(mark, "") for piece in of_model)
        assert letters == "unhappily"
        assert len(of_model) > 1


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_shares_the_words_of_bert(name: str, tokenizer_of: TokenizerOf) -> None:
    encodings = [encode(tokenizer_of(of), TEXT, TEXT_PAIR, 99) for of in ("bert", name)]
    alignment = align(encodings)
    words = [*TEXT.replace(",", " ,").replace(".", " .").split(), *TEXT_PAIR.replace(".", " .").split()]
    assert list(alignment.labels) == words
    assert alignment.segments == tuple(int(place >= words.index("She")) for place in range(len(words)))
    for encoding, units in zip(encodings, alignment.units, strict=True):
        assert sum(unit.stop - unit.start for unit in units) == encoding.special.count(False)


@pytest.mark.slow
@settings(max_examples=150)
@given(
    names=st.permutations(["bert", "roberta", "xlm-roberta", "albert", "t5", "gpt2"]),
    text=TYPED,
    limit=st.integers(6, 60),
)
def test_any_text_leaves_every_token_in_one_word_or_beyond_the_cut(
    tokenizer_of: TokenizerOf, names: list[str], text: str, limit: int
) -> None:
    encodings = [encode(tokenizer_of(name), text, None, limit) for name in names[:3]]
    try:
        alignment = align(encodings)
    except InvalidInput:
        # A model that drops every sign of the text, or was cut before the end of its first word.
        assert any(all(encoding.special) or encoding.n_dropped for encoding in encodings)
        return
    for encoding, units in zip(encodings, alignment.units, strict=True):
        inside = {place for unit in units for place in range(unit.start, unit.stop)}
        assert len(inside) == sum(unit.stop - unit.start for unit in units)
        content = {place for place, special in enumerate(encoding.special) if not special}
        if not any(other.n_dropped for other in encodings):
            assert content <= inside
        else:
            assert sorted(inside & content) == sorted(content)[: len(inside & content)]


def test_two_models_on_a_text_one_of_them_must_cut(engine: Engine, checkpoint: Checkpoint) -> None:
    """Attention on the common words: every row is whole, and a model beside itself finds each head again."""
    text = " ".join([TEXT] * 4)
    full, cut = (engine.attend(str(checkpoint(name)), text) for name in ("xlnet", "roberta"))
    assert (full.encoding.n_dropped > 0, cut.encoding.n_dropped > 0) == (False, True)
    alignment = align([full.encoding, cut.encoding])
    assert alignment.n_dropped == (0, cut.encoding.n_dropped)
    assert alignment.n_beyond[0] > 0
    for run, units in zip((full, cut), alignment.units, strict=True):
        maps = all_on_common_words(Weights(run), units)
        assert maps.shape == (run.n_layers * run.n_heads, len(alignment), len(alignment) + 1)
        np.testing.assert_allclose(maps.sum(axis=-1), 1, atol=1e-5)
    itself = head_matrix(Weights(cut), Weights(cut), align([cut.encoding] * 2))
    np.testing.assert_array_equal(np.diag(itself), 0)
    assert all((m.layer_a, m.head_a) == (m.layer_b, m.head_b) for m in best_matches(itself, cut.n_heads, cut.n_heads))
