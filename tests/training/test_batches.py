"""Batches: masking rates within their confidence intervals, pairs that are what their label says."""

from dataclasses import replace

import numpy as np
import pytest

from model_zoo.errors import InvalidInput
from training.batches import IS_NEXT, IS_RANDOM, NO_PAIR, Sampler, Shape, SpecialTokens, mask_tokens
from training.corpus import TokenCorpus

CLS, SEP, MASK, PAD, UNKNOWN = 0, 1, 2, 3, 4
VOCABULARY = 1000
IS_SPECIAL = np.isin(np.arange(VOCABULARY), [CLS, SEP, MASK, PAD, UNKNOWN])
SPECIAL = SpecialTokens(cls=CLS, sep=SEP, mask=MASK, pad=PAD, is_special=IS_SPECIAL)


def _assert_share(n: int, total: int, expected: float) -> None:
    """``n`` of ``total`` lies within four standard deviations of its binomial expectation."""
    assert abs(n - total * expected) <= 4 * np.sqrt(total * expected * (1 - expected)), (n / total, expected)


def test_which_tokens_are_chosen_and_what_becomes_of_them():
    rng = np.random.default_rng(0)
    ids = rng.integers(0, VOCABULARY, size=(2000, 200))
    ids[:, :40] = rng.choice([CLS, SEP, MASK, PAD, UNKNOWN], size=(2000, 40))
    masked = mask_tokens(ids, SPECIAL, 0.2, rng)
    special, chosen = IS_SPECIAL[ids], masked.chosen
    assert special.sum() > 80_000
    assert not chosen[special].any()
    np.testing.assert_array_equal(masked.ids[~chosen], ids[~chosen])  # special tokens among them

    _assert_share(chosen.sum(), (~special).sum(), 0.20)
    for column in range(40, 200, 20):  # whatever the position is
        ordinary = ~special[:, column]
        _assert_share(chosen[ordinary, column].sum(), ordinary.sum(), 0.20)
    now, before = masked.ids[chosen], ids[chosen]
    by_chance = 0.1 / SPECIAL.ordinary.size  # a random token that happens to be the old one
    _assert_share((now == MASK).sum(), now.size, 0.80)
    _assert_share((now == before).sum(), now.size, 0.10 + by_chance)
    replaced = now[(now != MASK) & (now != before)]
    _assert_share(replaced.size, now.size, 0.10 - by_chance)
    assert not IS_SPECIAL[replaced].any()
    halves = replaced < VOCABULARY // 2  # random tokens are of the whole vocabulary
    _assert_share(halves.sum(), replaced.size, (VOCABULARY // 2 - 5) / (VOCABULARY - 5))


def test_extreme_rates():
    ids = np.array([[CLS, 10, 11, 12, SEP, PAD], [CLS, 13, 14, 15, SEP, PAD]])
    for rate, expected in ((0.0, 0), (1.0, 6)):
        assert mask_tokens(ids, SPECIAL, rate, np.random.default_rng(0)).chosen.sum() == expected


N_DOCUMENTS, N_SENTENCES, SENTENCE_LENGTH = 6, 8, 4


def _id(document: int, sentence: int) -> int:
    """All tokens of a sentence are this number, so that a batch tells where its tokens are from."""
    return 10 + document * N_SENTENCES + sentence


def _where(token: int) -> tuple[int, int]:
    return divmod(token - 10, N_SENTENCES)


@pytest.fixture(scope="module")
def corpus() -> TokenCorpus:
    """Six documents of eight sentences of four tokens; the last two are unordered and of another group."""
    numbers = [_id(document, sentence) for document in range(N_DOCUMENTS) for sentence in range(N_SENTENCES)]
    n = len(numbers)
    return TokenCorpus(
        ids=np.repeat(numbers, SENTENCE_LENGTH).astype(np.uint16),
        sentences=np.arange(0, n * SENTENCE_LENGTH + 1, SENTENCE_LENGTH),
        documents=np.arange(0, n + 1, N_SENTENCES),
        ordered=np.array([True, True, True, True, False, False]),
        group=np.array([0, 0, 0, 0, 1, 1]),
        groups=("texts", "glosses"),
    )


def _split(row: np.ndarray) -> list[list[int]]:
    """The texts of a row: what stands between [CLS] and each [SEP]."""
    assert row[0] == CLS
    texts: list[list[int]] = [[]]
    for token in row[1:]:
        if token == SEP:
            texts.append([])
        elif token != PAD:
            texts[-1].append(int(token))
    assert texts.pop() == []
    return texts


@pytest.mark.parametrize(("length", "short"), [(13, 1.0), (24, 0.0), (9, 0.0), (40, 0.5)])
def test_pairs_are_what_their_label_says(corpus, length: int, short: float):
    shape = Shape(length=length, share=1, pairs=1.0, short=short)
    rows = Sampler(corpus, {}, SPECIAL, [shape]).rows(shape, 800, np.random.default_rng(1))
    _assert_share((rows.next_label == IS_NEXT).sum(), 800, 0.5)
    for ids, label in zip(rows.ids, rows.next_label, strict=True):
        first, second = _split(ids)
        end, start = _where(first[-1]), _where(second[0])
        assert max(end[0], start[0]) < 4, "an unordered document was used for a pair"
        if label == IS_NEXT:
            assert start == (end[0], end[1] + 1)
        else:
            assert label == IS_RANDOM
            assert start[0] != end[0]
        assert [_where(token) for token in second] == sorted(_where(token) for token in second)


def test_sentences_of_one_text_are_neighbours_and_whole_where_they_fit(corpus):
    shape = Shape(length=24, share=1, pairs=1.0)
    rows = Sampler(corpus, {}, SPECIAL, [shape]).rows(shape, 300, np.random.default_rng(2))
    for ids in rows.ids:
        first, _ = _split(ids)
        assert len(first) % SENTENCE_LENGTH == 0
        sentences = first[::SENTENCE_LENGTH]
        assert sentences == list(range(sentences[0], sentences[0] + len(sentences)))


def test_layout_of_rows(corpus):
    shape = Shape(length=16, share=1, pairs=0.5, short=0.5)
    rows = Sampler(corpus, {}, SPECIAL, [shape]).rows(shape, 400, np.random.default_rng(3))
    assert {IS_NEXT, IS_RANDOM, NO_PAIR} == set(rows.next_label.tolist())
    for ids, segments, attention, label in zip(rows.ids, rows.segments, rows.attention, rows.next_label, strict=True):
        n = int(attention.sum())
        assert attention.tolist() == [1] * n + [0] * (16 - n)
        assert (ids[n:] == PAD).all()
        texts = _split(ids)
        assert len(texts) == (1 if label == NO_PAIR else 2)
        n_first = len(texts[0]) + 2
        n_second = len(texts[1]) + 1 if len(texts) == 2 else 0
        assert segments.tolist() == [0] * n_first + [1] * n_second + [0] * (16 - n_first - n_second)


def test_groups_are_drawn_by_length_times_weight(corpus):
    shape = Shape(length=8, share=1, pairs=0.0, short=1.0)
    sampler = Sampler(corpus, {"glosses": 3.0}, SPECIAL, [shape])
    rows = sampler.rows(shape, 4000, np.random.default_rng(4))
    from_glosses = sum(_where(ids[1])[0] >= 4 for ids in rows.ids)
    _assert_share(from_glosses, 4000, 2 * 3 / (2 * 3 + 4))
    never = Sampler(corpus, {"glosses": 0.0}, SPECIAL, [shape]).rows(shape, 500, np.random.default_rng(5))
    assert all(_where(ids[1])[0] < 4 for ids in never.ids)


def test_pairs_need_two_ordered_documents(corpus):
    only_one = replace(corpus, ordered=np.arange(N_DOCUMENTS) == 0)
    with pytest.raises(InvalidInput, match=r"holds 1 ordered document\(s\).*\"ordered\": true"):
        Sampler(only_one, {}, SPECIAL, [Shape(length=16, share=1, pairs=0.5)])
    Sampler(only_one, {}, SPECIAL, [Shape(length=16, share=1, pairs=0.0)])
