"""Nearest tokens: against cosines in float64, in little memory, while others are added."""

import errno
import os
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import encoding
from corpora import sentence

from analysis.corpus.nearest import Index, next_word, shares
from model_zoo.errors import ModelZooError
from model_zoo.types import FloatArray

WIDTH = 24
TEXT = "The cat saw the dog again"
WORDS = TEXT.split()


@pytest.fixture
def index(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Index]:
    """Of vectors ``WIDTH`` wide, unless a test says otherwise."""
    index = Index(tmp_path / "index.f16", **{"width": WIDTH} | getattr(request, "param", {}))
    yield index
    index.remove()


def vectors(n: int, seed: int = 0, width: int = WIDTH) -> FloatArray:
    """Of very different lengths, with a column that is much larger than the others, as in real models."""
    rng = np.random.default_rng(seed)
    actual = rng.normal(size=(n, width)) * np.exp(rng.normal(size=(n, 1)) * 4)
    actual[:, 3] *= 30
    return actual.astype(np.float32)


def filled(index: Index, n: int = 300, seed: int = 0) -> FloatArray:
    """Sentences of six words; their tokens' vectors."""
    actual = []
    for number in range(n):
        states = vectors(8, seed + number, index.width)
        index.add(sentence(TEXT, number=number), encoding(WORDS), states)
        actual.append(states[1:-1])
    return np.concatenate(actual)


def exact(stored: FloatArray, vector: FloatArray) -> np.ndarray:
    wide, entry = stored.astype(np.float64), vector.astype(np.float64)
    return wide @ entry / np.linalg.norm(wide, axis=1) / np.linalg.norm(entry)


def test_cosines_are_those_of_float64(index: Index) -> None:
    stored = filled(index)
    assert len(index) == len(stored) == 1800
    assert index.n_bytes == index.file.stat().st_size == 1800 * WIDTH * 2
    for vector in vectors(20, seed=999):
        expected = exact(stored, vector)
        np.testing.assert_allclose(index.cosines(vector), expected, atol=2e-3)
        nearest = index.nearest(vector, 10)
        assert nearest.n == 1800
        assert nearest.mean == pytest.approx(expected.mean(), abs=1e-4)
        near = nearest.tokens
        order = np.argsort(-expected, kind="stable")
        places = [entry.sentence * 6 + entry.word for entry in near]
        np.testing.assert_allclose([entry.cosine for entry in near], expected[order[:10]], atol=2e-3)
        for place, right in zip(places, order, strict=False):
            assert place == right or expected[right] - expected[place] < 4e-3  # ties but for rounding


def test_tokens_are_left_out_and_words_found_once(index: Index) -> None:
    stored = filled(index, 40)
    vector = stored[6 * 17 + 4]
    without = index.nearest(vector, 240, without=[(17, 5), (3, 1)]).tokens
    assert len(without) == 238
    assert {(17, 5), (3, 1)}.isdisjoint((entry.sentence, entry.token) for entry in without)
    words = [WORDS[entry.word].lower() for entry in index.nearest(vector, 10, word="Dog", each_once=True).tokens]
    assert sorted(words) == ["again", "cat", "saw", "the"]  # "The" and "the" are one word
    best = dict(zip(WORDS, exact(stored, vector).reshape(40, 6).max(axis=0), strict=True))
    assert words[0] == max(set(WORDS) - {"dog"}, key=best.__getitem__).lower()
    assert len(index.nearest(vector, 3, each_once=True).tokens) == 3
    # A token says where it stands.
    near = index.nearest(stored[6 * 17 + 4], 1).tokens[0]
    assert (near.sentence, near.word, near.token) == (17, 4, 5)
    assert sentence(TEXT, number=17).text[slice(*near.span)] == "dog"
    assert near.cosine == pytest.approx(1, abs=1e-3)


def test_of_equal_ones_the_earlier_comes_first(index: Index) -> None:
    same = np.tile(vectors(1), (8, 1))
    for number in range(5):
        index.add(sentence(TEXT, number=number), encoding(WORDS), same)
    assert [(entry.sentence, entry.word) for entry in index.nearest(same[0], 7).tokens] == [
        *((0, word) for word in range(6)),
        (1, 0),
    ]


def test_pieces_are_of_their_word_and_zeros_are_near_nothing(index: Index) -> None:
    index.add(sentence("until now"), encoding(["un", "##til", "now"]), np.zeros((5, WIDTH), dtype=np.float32))
    near = index.nearest(np.ones(WIDTH, dtype=np.float32), 5).tokens
    assert [(entry.word, entry.token, entry.span, entry.cosine) for entry in near] == [
        (0, 1, (0, 2), 0.0),
        (0, 2, (2, 5), 0.0),
        (1, 3, (6, 9), 0.0),
    ]
    assert index.nearest(np.zeros(WIDTH, dtype=np.float32), 1).tokens[0].cosine == 0
    assert next_word(sentence(TEXT), 1) == "saw"
    assert next_word(sentence(TEXT), 5) == ""
    assert shares(["b", "a", "a", "c"], 2) == [("a", 0.5), ("b", 0.25)]
    assert shares([], 3) == []


@pytest.mark.parametrize("index", [{"most": 9}], indirect=True)
def test_an_index_that_is_full_takes_no_more(index: Index) -> None:
    filled(index, 2)
    assert index.full
    assert len(index) == 9
    assert index.n_sentences == 2
    assert len(index.nearest(vectors(1)[0], 100).tokens) == 9
    index.remove()
    assert not index.file.exists()


def test_an_empty_index_has_no_neighbours_and_another_width_is_refused(index: Index) -> None:
    assert index.nearest(vectors(1)[0], 5).tokens == ()
    with pytest.raises(ValueError, match="width 24"):
        index.add(sentence(TEXT), encoding(WORDS), vectors(8, width=25))


@pytest.mark.parametrize("n_left", [0, 7, 100 * 6 * WIDTH * 2 - 1])
def test_a_file_that_was_cut_short_is_a_sentence(index: Index, n_left: int) -> None:
    """A memory map of it would end the process."""
    stored = filled(index, 100)
    assert index.is_complete
    os.truncate(index.file, n_left)
    assert not index.is_complete
    with pytest.raises(ModelZooError, match="cut short or removed"):
        index.nearest(stored[0], 1)
    with pytest.raises(ModelZooError, match="cut short or removed"):
        index.add(sentence(TEXT, number=100), encoding(WORDS), vectors(8))
    assert index.file.stat().st_size == n_left


def test_no_other_file_is_read_or_written_in_its_place(index: Index, tmp_path: Path) -> None:
    stored = filled(index, 100)
    expected = index.nearest(stored[7], 3).tokens
    other = tmp_path / "other"
    other.write_bytes(b"\x00\x3c" * 100_000)
    index.file.unlink()
    index.file.symlink_to(other)
    assert index.nearest(stored[7], 3).tokens == expected
    index.add(sentence(TEXT, number=100), encoding(WORDS), vectors(8))
    assert other.read_bytes() == b"\x00\x3c" * 100_000
    index.remove()
    assert other.exists()
    assert not index.is_complete
    with pytest.raises(ModelZooError, match="cut short or removed"):
        index.nearest(stored[7], 3)


def test_a_file_that_was_there_before_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "0.f16").write_bytes(b"\x00\x3c" * 100_000)
    index = Index(tmp_path / "0.f16", WIDTH)
    stored = filled(index, 10)
    assert index.n_bytes == index.file.stat().st_size
    np.testing.assert_allclose(index.cosines(stored[3]), exact(stored, stored[3]), atol=2e-3)
    index.remove()


def test_half_of_a_sentence_on_a_full_disk_is_written_over(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = filled(index, 10)
    with monkeypatch.context() as full:
        disk = FullDisk(index._stream)
        full.setattr(index, "_stream", disk)
        with pytest.raises(OSError, match="No space left"):
            index.add(sentence(TEXT, number=10), encoding(WORDS), vectors(8))
    assert index.file.stat().st_size > index.n_bytes
    assert index.n_sentences == 10
    states = vectors(8, 99)
    index.add(sentence(TEXT, number=10), encoding(WORDS), states)
    both = np.concatenate([stored, states[1:-1]])
    np.testing.assert_allclose(index.cosines(stored[3]), exact(both, stored[3]), atol=2e-3)


class FullDisk:
    """A file on a disk with room for ten more bytes."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._left = stream, 10

    def write(self, data: bytes) -> int:
        if not self._left:
            raise OSError(errno.ENOSPC, "No space left on device")
        self._left -= (n := self._stream.write(data[: self._left]))
        return int(n)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@pytest.mark.parametrize("index", [{"width": 256}], indirect=True)
def test_searching_holds_a_chunk_in_memory(index: Index) -> None:
    """40,000 vectors of 256 numbers take 41 MB in float32; at no time are 16 MB taken."""
    states = vectors(802, width=256)
    words = ["word"] * 800
    for number in range(50):
        index.add(sentence(" ".join(words), number=number), encoding(words), states)
    tracemalloc.start()
    try:
        near = index.nearest(states[7], 20).tokens
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(index) == 40_000
    assert [entry.token for entry in near] == [7] * 20
    assert peak < 16e6
