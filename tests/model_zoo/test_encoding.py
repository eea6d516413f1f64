"""From text to tokens: words, offsets, segments, special tokens and cutting, for every kind of tokenizer; the words
that different kinds have in common.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from checkpoints import FAMILIES, POSITIONS, TEXT, TEXT_PAIR, Checkpoint, TokenizerOf
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import TYPED

from analysis.alignment import align, all_on_common_words
from analysis.divergence import best_matches, head_matrix
from analysis.views import Weights
from analysis.words import word_units
from model_zoo import Engine, loading, sources
from model_zoo.encoding import encode
from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding

# One family a kind of tokenizer.
WORDPIECE, BYTE_BPE, UNIGRAM = "bert", "roberta", "xlm-roberta"


def table(encoding: Encoding) -> list[tuple[str, int | None, str]]:
    """(token, word number, the piece of text the offsets point at) a token."""
    texts = (encoding.text, encoding.text_pair or "")
    parts = zip(encoding.tokens, encoding.word_ids, encoding.segment_ids, encoding.offsets, strict=True)
    return [(token, word, texts[segment][slice(*span)]) for token, word, segment, span in parts]


# Signs of several bytes keep one number and one span; the space before a word is not in its span, and a second one is
# part of what comes after it. An unknown sign within a word does not cut it: "don't" is one word though the apostrophe
# is unknown. transformers spans the letter after a lone word mark ("▁").
BY_HAND: dict[str, tuple[tuple[str, str | None], list[str]]] = {
    WORDPIECE: (
        ("Unhappy  cat, 3.5", None),
        ["[CLS] - -", "un 0 Un", "##h 0 h", "##a 0 a", "##pp 0 pp", "##y 0 y", "cat 1 cat", ", 2 ,", "3 3 3", ". 3 .",
         "5 3 5", "[SEP] - -"],
    ),
    BYTE_BPE: (
        ("The cat  中é.", None),
        ["<s> - -", "The 0 The", "Ġcat 1 cat", "Ġ 2 -", "Ġ 2 -", "ä 2 中", "¸ 2 中", "Ń 2 中", "Ã 3 é", "© 3 é",
         ". 4 .", "</s> - -"],
    ),
    UNIGRAM: (
        ("The cat don't", "Ok."),
        ["<s> - -", "▁The 0 The", "▁ca 1 ca", "t 1 t", "▁do 2 do", "n 2 n", "<unk> 2 '", "t 2 t", "</s> - -",
         "</s> - -", "▁ 3 O", "O 3 O", "k 3 k", ". 4 .", "</s> - -"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_tokens_words_and_places_by_hand(name: str, tokenizer_of: TokenizerOf) -> None:
    (text, pair), rows = BY_HAND[name]
    encoding = encode(tokenizer_of(name), text, pair, 99)
    columns = [tuple("" if cell == "-" else cell for cell in row.split(" ")) for row in rows]
    expected = [(token, int(word) if word else None, piece) for token, word, piece in columns]
    assert table(encoding) == expected
    assert (len(encoding), encoding.n_dropped) == (len(rows), 0)
    if name == WORDPIECE:
        assert encoding.offsets[5:8] == ((6, 7), (9, 12), (12, 13))


@pytest.mark.parametrize("name", FAMILIES)
def test_typed_mask_is_a_word_of_its_own(name: str, tokenizer_of: TokenizerOf) -> None:
    tokenizer = tokenizer_of(name)
    if tokenizer.mask_token is None:
        assert not FAMILIES[name].has_mask
        return
    encoding = encode(tokenizer, f"the cat ({tokenizer.mask_token}). It", None, 99)
    places = [i for i, token in enumerate(encoding.ids) if token == tokenizer.mask_token_id]
    assert len(places) == 1
    mask = places[0]
    assert encoding.offsets[mask] == (9, 9 + len(tokenizer.mask_token))
    assert not encoding.special[mask]
    word = encoding.word_ids[mask]
    assert word == 3  # the, cat, (, mask
    assert [i for i, other in enumerate(encoding.word_ids) if other == word] == [mask]


@pytest.mark.parametrize("name", [WORDPIECE, BYTE_BPE, UNIGRAM])
def test_an_accent_of_its_own_belongs_to_the_letter_below_it(name: str, tokenizer_of: TokenizerOf) -> None:
    """A combining acute (U+0301), which an uncased tokenizer drops, at the end of words and of the text."""
    text = "a cafe\u0301, a cafe\u0301"
    encoding = encode(tokenizer_of(name), text, text, 99)
    for segment in (0, 1):
        spans = [
            span
            for span, part, special in zip(encoding.offsets, encoding.segment_ids, encoding.special, strict=True)
            if part == segment and not special
        ]
        assert {place for span in spans for place in range(*span)} == set(range(len(text))) - {1, 8, 10}
    assert [unit.label for unit in word_units(encoding) if not unit.special] == [
        "a",
        "cafe\u0301",
        ",",
        "a",
        "cafe\u0301",
    ] * 2


def test_an_accent_that_was_cut_off_is_not_counted_to_the_token_before(tokenizer_of: TokenizerOf) -> None:
    """Byte-level: the letter and the two bytes of its accent are three tokens, of which one is left."""
    encoding = encode(tokenizer_of(BYTE_BPE), "e\u0301", None, 3)
    assert encoding.n_dropped == 2
    assert encoding.offsets[1] == (0, 1)


def test_typed_separator_is_what_the_model_takes_it_for(tokenizer_of: TokenizerOf) -> None:
    encoding = encode(tokenizer_of(WORDPIECE), "the [SEP] cat", None, 99)
    assert encoding.tokens == ("[CLS]", "the", "[SEP]", "cat", "[SEP]")
    assert encoding.special == (True, False, True, False, True)
    assert encoding.word_ids == (None, 0, None, 1, None)
    assert encoding.segment_ids == (0, 0, 0, 0, 0)


def test_segments_are_berts(tokenizer_of: TokenizerOf) -> None:
    tokenizer = tokenizer_of(WORDPIECE)
    for pair in (None, TEXT_PAIR):
        encoding = encode(tokenizer, TEXT, pair, 99)
        expected = tuple(tokenizer(TEXT, pair)["token_type_ids"])
        assert encoding.segment_ids == encoding.type_ids == expected
    assert set(expected) == {0, 1}


@pytest.mark.parametrize("name", ["roberta", "modernbert", "gpt2"])
def test_segments_where_the_model_takes_none(name: str, tokenizer_of: TokenizerOf) -> None:
    encoding = encode(tokenizer_of(name), "the cat", "the dog", 99)
    first = encoding.segment_ids.index(1)
    assert encoding.segment_ids == (0,) * first + (1,) * (len(encoding) - first)
    assert encoding.offsets[first][0] == 0
    assert encoding.word_ids[first] == 2


def test_cut_at_the_limit_counts_what_fell_off(tokenizer_of: TokenizerOf) -> None:
    tokenizer = tokenizer_of(WORDPIECE)
    encoding = encode(tokenizer, " ".join(["cat"] * 20), None, 10)
    assert encoding.tokens == ("[CLS]", *["cat"] * 8, "[SEP]")
    assert encoding.n_dropped == 12
    pair = encode(tokenizer, " ".join(["cat"] * 12), "the cat was", 10)
    # The longer text is cut: 10 - 3 special tokens - 3 of the second text leave 4.
    assert pair.tokens == ("[CLS]", *["cat"] * 4, "[SEP]", "the", "cat", "was", "[SEP]")
    assert pair.n_dropped == 8
    assert pair.segment_ids == (0, 0, 0, 0, 0, 0, 1, 1, 1, 1)
    assert pair.word_ids == (None, 0, 1, 2, 3, None, 4, 5, 6, None)
    at_limit = encode(tokenizer, " ".join(["cat"] * 8), None, 10)
    assert (len(at_limit), at_limit.n_dropped) == (10, 0)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_cut_is_the_tokenizers_own(name: str, tokenizer_of: TokenizerOf) -> None:
    """Whichever of two texts is longer, and whether the room left for them can be halved or not."""
    tokenizer = tokenizer_of(name)
    for text, pair in ((TEXT, None), (TEXT, TEXT_PAIR), (TEXT_PAIR, f"{TEXT} {TEXT}"), (TEXT, TEXT), (TEXT, "")):
        for limit in range(6, 26):
            encoding = encode(tokenizer, text, pair, limit)
            cut = tokenizer(text, pair, truncation="longest_first", max_length=limit, return_token_type_ids=True)
            tokenizer.backend_tokenizer.no_truncation()
            assert (list(encoding.ids), list(encoding.type_ids or ())) == (cut["input_ids"], cut["token_type_ids"])
            assert encoding.segment_ids == tuple(sorted(encoding.segment_ids))


def test_a_long_pair_is_read_once(tokenizer_of: TokenizerOf) -> None:
    """Cut by the tokenizer, which makes every combination of what is left over, two texts took twenty times as long as
    one.
    """
    tokenizer, made = tokenizer_of(WORDPIECE), []

    class Counted:
        def __call__(self, *texts: Any, **options: Any) -> Any:
            batch = tokenizer(*texts, **options)
            made.extend(len(part) for encoding in batch.encodings for part in (encoding, *encoding.overflowing))
            return batch

        def __len__(self) -> int:
            return len(tokenizer)

        def __getattr__(self, name: str) -> Any:
            return getattr(tokenizer, name)

    long = "the " * 1000
    encode(Counted(), long, long, 512)
    assert made == [2003]


@pytest.mark.parametrize("name", FAMILIES)
def test_cutting_leaves_nothing_behind(name: str, tokenizer_of: TokenizerOf) -> None:
    """Two long texts, a short one and a long one again: each as if it were the first."""
    tokenizer = tokenizer_of(name)
    long = " ".join([TEXT] * 5)
    full = len(tokenizer(long)["input_ids"])
    for limit in (20, 30, 1000, 20):
        encoding = encode(tokenizer, long, None, limit)
        assert len(encoding) == min(limit, full)
        assert encoding.n_dropped == max(0, full - limit)
        assert encoding.ids[-1] == (tokenizer(long)["input_ids"][-1] if name != "gpt2" else encoding.ids[-1])
    assert len(tokenizer(long)["input_ids"]) == full


def test_threads_share_one_tokenizer(checkpoint: Checkpoint) -> None:
    loaded = loading.load(sources.find(str(checkpoint(WORDPIECE))), torch.device("cpu"))
    texts = [" ".join(["cat"] * n) for n in (3, 200, 10, 62, 63, 500)] * 20
    with ThreadPoolExecutor(8) as pool:
        encodings = list(pool.map(loaded.encode, texts))
    for text, encoding in zip(texts, encodings, strict=True):
        n = len(text.split()) + 2
        assert (len(encoding), encoding.n_dropped) == (min(n, POSITIONS), max(0, n - POSITIONS))


@pytest.mark.slow
@settings(max_examples=250)
@given(
    name=st.sampled_from(["bert", "roberta", "xlm-roberta", "albert", "xlnet", "t5", "gpt2", "deberta-v2"]),
    text=TYPED,
    pair=st.none() | TYPED,
    limit=st.integers(8, 60),
)
def test_any_text_becomes_consistent_tokens(
    tokenizer_of: TokenizerOf, name: str, text: str, pair: str | None, limit: int
) -> None:
    encoding = encode(tokenizer_of(name), text, pair, limit)
    assert len(encoding) <= limit
    assert len(encoding) + encoding.n_dropped == len(tokenizer_of(name)(text, pair)["input_ids"])
    words = [word for word in encoding.word_ids if word is not None]
    assert words == sorted(words)
    assert set(words) == set(range(len(set(words))))
    assert list(encoding.segment_ids) == sorted(encoding.segment_ids)
    for _, word, piece in table(encoding):
        assert piece == piece.lstrip() or word is None
    texts = (text, pair or "")
    for segment, (start, end) in zip(encoding.segment_ids, encoding.offsets, strict=True):
        assert 0 <= start <= end <= len(texts[segment])


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
        ("the unhappily café", ["the", "unhappily", "café"]),
        ("the 我喜欢 cat", ["the", "我喜欢", "cat"]),  # one unknown token for Unigram
    ],
)
def test_three_tokenizers_share_the_words_people_write(text: str, words: list[str], tokenizer_of: TokenizerOf) -> None:
    alignment = align([encode(tokenizer_of(name), text, None, 99) for name in BY_HAND])
    assert list(alignment.labels) == words
    assert [text[slice(*span)] for span in alignment.spans] == words
    assert alignment.n_beyond == (0, 0, 0)


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
def test_every_token_is_in_one_word_or_beyond_the_cut(
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
