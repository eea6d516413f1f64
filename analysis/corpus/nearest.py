"""Tokens whose vectors are nearest: an index of one layer's vectors on disk, searched exactly, a chunk at a time."""

from __future__ import annotations

import os
import threading
import weakref
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from analysis.corpus.placing import word_of_token
from analysis.corpus.sentences import Sentence
from model_zoo.errors import ModelZooError
from model_zoo.types import BoolArray, Encoding, FloatArray, IntArray

MOST_TOKENS: Final = 200_000
_CHUNK: Final = 4096  # vectors in memory at a time: 12 MB of width 768
_BYTES: Final = 2  # of a number on disk


@dataclass(frozen=True, slots=True)
class NearToken:
    """A token of the corpus: the number of its sentence, the place of its word there, its own place among the model's
    tokens, its characters, and the cosine of its vector with the one asked about.
    """

    sentence: int
    word: int
    token: int
    span: tuple[int, int]
    cosine: float


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest ``tokens``, nearest first; the ``mean`` cosine of all ``n`` tokens of the index, beside which theirs
    are to be read: in many layers all vectors point roughly the same way.
    """

    tokens: tuple[NearToken, ...] = field(repr=False)
    mean: float
    n: int


class Index:
    """Unit vectors (tokens, width) as float16 in a ``file``, and where each token stands; special tokens are left out.

    One thread adds sentences; others may search what is there meanwhile. Holds 24 bytes a token in memory, and the file
    open: whatever takes its place in its folder, this one is read.
    """

    def __init__(self, file: Path, width: int, most: int = MOST_TOKENS) -> None:
        self.file, self.width, self.most = file, width, most
        self.n_sentences = 0
        self._stream = file.open("w+b", buffering=0)
        self._moving = threading.RLock()  # the place in the file
        weakref.finalize(self, self._stream.close)
        self._places = array("i")  # four numbers a token: sentence, word, token, number of the word as it is written
        self._spans = array("i")  # two numbers a token
        self._written: dict[str, int] = {}
        self._n = 0

    def __len__(self) -> int:
        return self._n

    @property
    def n_bytes(self) -> int:
        """On disk."""
        return self._n * self.width * _BYTES

    @property
    def full(self) -> bool:
        return self._n >= self.most

    def add(self, sentence: Sentence, encoding: Encoding, states: FloatArray) -> None:
        """Append the tokens of a sentence, whose vectors are ``states`` (n, width); those that fit.

        Raises OSError where the disk is full, ModelZooError where the file is not complete, ValueError for another
        width.
        """
        if states.shape != (len(encoding), self.width):
            raise ValueError(f"an index of width {self.width} does not take vectors of shape {states.shape}")
        word_of = word_of_token(encoding, sentence.spans)
        kept = np.flatnonzero(word_of >= 0)[: self.most - self._n]
        left = memoryview(_units(states[kept]).astype("<f2").tobytes())
        with self._moving:
            self._check()
            self._stream.seek(self.n_bytes)
            while left:
                left = left[self._stream.write(left) :]
        for token in kept.tolist():
            word = int(word_of[token])
            start, end = encoding.offsets[token]
            start = end - len(sentence.text[start:end].lstrip())  # byte-level tokens begin with a space
            written = sentence.text[slice(*sentence.spans[word])].casefold()
            number = self._written.setdefault(written, len(self._written))
            self._places.extend((sentence.number, word, token, number))
            self._spans.extend((start, end))
        self.n_sentences += 1
        self._n += len(kept)  # last, so that a search at the same time finds nothing half written

    def _check(self) -> None:
        if not self.is_complete:
            raise ModelZooError("The file of this index was cut short or removed. Read the sentences again.")

    def remove(self) -> None:
        """Remove the file."""
        with self._moving:
            self._stream.close()
        self.file.unlink(missing_ok=True)

    @property
    def is_complete(self) -> bool:
        """Whether the file is there and holds what was written."""
        with self._moving:
            return not self._stream.closed and os.fstat(self._stream.fileno()).st_size >= self.n_bytes

    def cosines(self, vector: FloatArray) -> FloatArray:
        """The cosine of every token's vector with this one (width,): float32 (tokens,), in the order of adding. Raises
        ModelZooError where the file is not complete.
        """
        n = self._n
        (unit,) = _units(vector[None])
        cosines = np.zeros(n, dtype=np.float32)
        for start in range(0, n, _CHUNK):
            cosines[start : start + _CHUNK] = _units(self._read(start, min(_CHUNK, n - start))) @ unit
        return cosines

    def _read(self, start: int, n: int) -> FloatArray:
        """Some of the vectors (n, width). Not by a memory map: of a file that is cut short it would end the process."""
        size = n * self.width * _BYTES
        with self._moving:
            self._check()
            self._stream.seek(start * self.width * _BYTES)
            data = self._stream.read(size)
        return np.frombuffer(data, dtype="<f2").reshape(n, self.width).astype(np.float32)

    def nearest(
        self,
        vector: FloatArray,
        k: int,
        *,
        without: Sequence[tuple[int, int]] = (),
        word: str | None = None,
        each_once: bool = False,
    ) -> Nearest:
        """The k tokens whose vectors have the largest cosine with this one (width,), largest first; of equal ones the
        earlier in the corpus.

        ``without`` are tokens left out, as (number of the sentence, place of the token). With ``each_once`` every word
        is found once at most, ignoring case, and the ``word`` asked about not at all.
        """
        cosines = self.cosines(vector)
        places = np.array(self._places[: 4 * len(cosines)], dtype=np.int64).reshape(-1, 4)
        allowed = np.ones(len(cosines), dtype=bool)
        for sentence, token in without:
            allowed &= (places[:, 0] != sentence) | (places[:, 2] != token)
        if each_once:
            allowed &= places[:, 3] != self._written.get((word or "").casefold(), -1)
            chosen = _first_of_each(cosines, places[:, 3], allowed)[:k]
        else:
            chosen = _largest(cosines, allowed, k)
        tokens = (
            NearToken(
                int(places[place, 0]),
                int(places[place, 1]),
                int(places[place, 2]),
                (self._spans[2 * place], self._spans[2 * place + 1]),
                float(cosines[place]),
            )
            for place in chosen.tolist()
        )
        return Nearest(tuple(tokens), float(cosines.mean()) if len(cosines) else 0.0, len(cosines))


def _units(vectors: FloatArray) -> FloatArray:
    """Vectors (n, width) of length 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def _largest(cosines: FloatArray, allowed: BoolArray, k: int) -> IntArray:
    """The places of the k largest, largest first."""
    candidates = np.flatnonzero(allowed)
    if len(candidates) > k > 0:
        least = np.partition(cosines[candidates], -k)[-k]
        candidates = candidates[cosines[candidates] >= least]
    order: IntArray = candidates[np.argsort(-cosines[candidates], kind="stable")][:k]
    return order


def _first_of_each(cosines: FloatArray, words: IntArray, allowed: BoolArray) -> IntArray:
    """The place of the largest of each word, largest first."""
    candidates = np.flatnonzero(allowed)
    order = candidates[np.argsort(-cosines[candidates], kind="stable")]
    _, first = np.unique(words[order], return_index=True)
    places: IntArray = order[np.sort(first)]
    return places


def next_word(sentence: Sentence, word: int) -> str:
    """The word after one of a sentence, in small letters; "" at its end."""
    words = sentence.spans[word + 1 : word + 2]
    return "".join(sentence.text[start:end].casefold() for start, end in words)


def shares(values: Iterator[str] | Sequence[str], most: int) -> list[tuple[str, float]]:
    """The ``most`` frequent values with their share of all, most frequent first; of equal ones by the alphabet."""
    counts = Counter(values)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]
    return [(value, n / counts.total()) for value, n in ordered]
