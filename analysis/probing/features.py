"""From texts to the vectors a probe reads: every text is run once for all layers and tasks.

Vectors that fit into ``RAM_BYTES`` stay in memory; larger ones are kept in one temporary file per layer and read in
blocks, so that memory does not grow with the number of sentences.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, TypeVar

import numpy as np

from analysis.probing.data import Dataset
from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding, FloatArray, HiddenStates, IntArray

Pooling = Literal["mean", "cls", "max"]
Pieces = Literal["first", "mean"]
# Texts -> (index of the text, its tokens and vectors), each index once, in any order. For the engine of this
# app: functools.partial(engine.iter_hidden_states, model).
Encode = Callable[[Sequence[str]], Iterable[tuple[int, HiddenStates]]]

Step = TypeVar("Step")
Event = TypeVar("Event")
Outcome = TypeVar("Outcome")

RAM_BYTES = 64 * 2**20
BLOCK_BYTES = 8 * 2**20
CHUNK_TEXTS = 512  # what is handed to the encoder at a time
CHUNK_ROWS = 1024  # vectors that are written together
_CLASSIFIERS = ("[CLS]", "<cls>", "<s>")


class ArrayVectors:
    """Vectors held in memory, float32 (rows, width)."""

    def __init__(self, array: FloatArray) -> None:
        self.array = array

    @property
    def width(self) -> int:
        return int(self.array.shape[1])

    def blocks(self, rows: IntArray) -> Iterator[FloatArray]:
        step = max(BLOCK_BYTES // (4 * self.width), 1)
        for start in range(0, len(rows), step):
            yield self.array[rows[start : start + step]]


class FileVectors:
    """Vectors in a file, float32 (rows, width); a block reads the stretch of the file its rows lie in."""

    def __init__(self, path: Path, width: int) -> None:
        self.path, self.width = path, width

    def blocks(self, rows: IntArray) -> Iterator[FloatArray]:
        step = max(BLOCK_BYTES // (4 * self.width), 1)
        with self.path.open("rb") as file:
            for start in range(0, len(rows), step):
                wanted = rows[start : start + step]
                block = np.empty((len(wanted), self.width), dtype=np.float32)
                # Rows in any order are read in the order of the file, in stretches of at most ``step`` rows.
                order = np.argsort(wanted, kind="stable")
                done = 0
                while done < len(order):
                    first = int(wanted[order[done]])
                    until = done + int(np.searchsorted(wanted[order[done:]], first + step))
                    last = int(wanted[order[until - 1]])
                    file.seek(4 * self.width * first)
                    count = (last - first + 1) * self.width
                    stretch = np.fromfile(file, dtype=np.float32, count=count).reshape(-1, self.width)
                    block[order[done:until]] = stretch[wanted[order[done:until]] - first]
                    done = until
                yield block


Vectors = ArrayVectors | FileVectors
"""Vectors of one layer, a row each; ``blocks`` gives some rows in their order, float32 (some, width) at a time."""


class VectorStore:
    """The vectors of one group of tasks, all layers: float32 (layers + 1, rows, width).

    A context manager: temporary files go when it is left. Raises InvalidInput where the disk is too full.
    """

    def __init__(self, n_rows: int, n_layers: int, width: int, ram_bytes: int) -> None:
        self.n_rows, self.n_layers, self.width = n_rows, n_layers, width
        self._array: FloatArray | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        n_bytes = 4 * n_rows * n_layers * width
        if n_bytes <= ram_bytes:
            self._array = np.zeros((n_layers, n_rows, width), dtype=np.float32)
            return
        self._folder = tempfile.TemporaryDirectory(prefix="probing-")
        free = shutil.disk_usage(self._folder.name).free
        if n_bytes > 0.9 * free:
            self._folder.cleanup()
            raise InvalidInput(
                f"The vectors of all layers take {n_bytes / 1e9:.1f} GB "
                f"and the disk for temporary files has {free / 1e9:.1f} GB left. Use fewer sentences."
            )
        for layer in range(n_layers):
            with self._path(layer).open("wb") as file:
                file.truncate(4 * n_rows * width)

    def _path(self, layer: int) -> Path:
        assert self._folder is not None
        return Path(self._folder.name) / f"layer-{layer}.f32"

    def write(self, rows: IntArray, vectors: FloatArray) -> None:
        """Put vectors float32 (layers + 1, some, width) into these rows."""
        if self._array is not None:
            self._array[:, rows] = vectors
            return
        order = np.argsort(rows)
        # Rows that follow one another are written in one go.
        runs = np.split(order, np.flatnonzero(np.diff(rows[order]) != 1) + 1)
        for layer in range(self.n_layers):
            with self._path(layer).open("r+b") as file:
                for run in runs:
                    file.seek(4 * self.width * int(rows[run[0]]))
                    np.ascontiguousarray(vectors[layer, run], dtype=np.float32).tofile(file)

    def layer(self, layer: int) -> Vectors:
        """The vectors after a layer; 0 are the embeddings."""
        if self._array is not None:
            return ArrayVectors(self._array[layer])
        return FileVectors(self._path(layer), self.width)

    def __enter__(self) -> VectorStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def pooled(hidden: HiddenStates, pooling: Pooling) -> FloatArray | None:
    """A text's vector in every layer, (layers + 1, width); None for a text without tokens of its own.

    "mean" and "max" go over the text's own tokens, without [CLS] and the like; "cls" is the vector of that
    token. Raises InvalidInput for "cls" where the model has no such token.
    """
    if pooling == "cls":
        place = classifier_place(hidden.encoding)
        if place is None:
            raise InvalidInput("This model puts no [CLS] token before its texts. Choose the mean or the maximum.")
        return hidden.states[:, place]
    words = np.flatnonzero(~np.array(hidden.encoding.special, dtype=bool))
    if not len(words):
        return None
    # Special tokens stand at the ends in nearly all models; a slice then saves copying all vectors.
    first, last = int(words[0]), int(words[-1]) + 1
    tokens = hidden.states[:, first:last] if last - first == len(words) else hidden.states[:, words]
    vector: FloatArray = tokens.max(axis=1) if pooling == "max" else tokens.mean(axis=1, dtype=np.float32)
    return vector


def classifier_place(encoding: Encoding) -> int | None:
    """The place of [CLS], or of the model's equivalent: the first token, in XLNet the last. None without one."""
    of_model = zip(encoding.tokens, encoding.special, strict=True)
    return next((place for place, (token, special) in enumerate(of_model) if special and token in _CLASSIFIERS), None)


def span_vector(hidden: HiddenStates, span: tuple[int, int], pieces: Pieces) -> FloatArray | None:
    """A word's vector in every layer, (layers + 1, width), from the pieces whose characters lie in its span.

    "first" takes the first piece, "mean" the mean of all. None where the word was cut off at the model's limit.
    """
    start, end = span
    pieces_inside = [
        place
        for place, (first, last) in enumerate(hidden.encoding.offsets)
        if not hidden.encoding.special[place] and first < end and last > start
    ]
    if not pieces_inside:
        return None
    if pieces == "first" or len(pieces_inside) == 1:
        return hidden.states[:, pieces_inside[0]]
    vector: FloatArray = hidden.states[:, pieces_inside].mean(axis=1, dtype=np.float32)
    return vector


class Plan:
    """Which vectors data sets of the same texts need: each text once, each different span of it once.

    Texts are run in an order, and in chunks, that depend on nothing but the texts: batches of other texts would round
    vectors differently, and a task's numbers would depend on which tasks were asked for beside it. Rows are in the
    order of the texts, the shortest first, so that texts run together are about equally long.
    """

    def __init__(self, datasets: Sequence[Dataset]) -> None:
        self.texts: list[str] = sorted(datasets[0].texts, key=lambda text: (len(text), text))
        number = {text: i for i, text in enumerate(self.texts)}
        keys = []
        for dataset in datasets:
            if set(dataset.texts) != number.keys():
                raise ValueError("the data sets of a plan have the same texts")
            place = np.array([number[text] for text in dataset.texts], dtype=np.int64)
            spans = dataset.spans if dataset.spans is not None else np.full((len(dataset), 2), -1)
            keys.append(np.column_stack([place[dataset.text_of], spans]))
        self._rows, inverse = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
        ends = np.cumsum([len(key) for key in keys])
        # For each data set, the row of each of its items.
        self.rows_of: list[IntArray] = np.split(inverse.reshape(-1).astype(np.int64), ends[:-1])
        self._first_row = np.searchsorted(self._rows[:, 0], np.arange(len(self.texts) + 1))

    @property
    def n_rows(self) -> int:
        return len(self._rows)

    def fill(
        self, encode: Encode, pooling: Pooling, pieces: Pieces
    ) -> Generator[int, None, tuple[VectorStore, IntArray]]:
        """Run all texts; yields how many are done, returns the store and the tokens of each row's text.

        Rows stay empty, and have 0 tokens, where a text has no tokens or a word was cut off at the model's limit.
        """
        store: VectorStore | None = None
        n_tokens = np.zeros(self.n_rows, dtype=np.int64)
        rows: list[int] = []
        vectors: list[FloatArray] = []
        try:
            for start in range(0, len(self.texts), CHUNK_TEXTS):
                chunk = self.texts[start : start + CHUNK_TEXTS]
                for index, hidden in encode(chunk):
                    if store is None:
                        store = VectorStore(self.n_rows, len(hidden.states), hidden.states.shape[2], RAM_BYTES)
                    for row in range(self._first_row[start + index], self._first_row[start + index + 1]):
                        _, first, last = self._rows[row]
                        span = int(first), int(last)
                        vector = pooled(hidden, pooling) if first < 0 else span_vector(hidden, span, pieces)
                        if vector is not None:
                            rows.append(row)
                            vectors.append(np.ascontiguousarray(vector))
                            n_tokens[row] = len(hidden.encoding)
                    if len(rows) >= CHUNK_ROWS:
                        _write(store, rows, vectors)
                if store is None:
                    raise InvalidInput("The model gave no vectors for the texts. Choose another model.")
                _write(store, rows, vectors)
                yield start + len(chunk)
        except BaseException:
            if store is not None:
                store.__exit__(None, None, None)
            raise
        assert store is not None
        return store, n_tokens


def _write(store: VectorStore, rows: list[int], vectors: list[FloatArray]) -> None:
    """Put the vectors (layers + 1, width) into their rows, and forget them."""
    if rows:
        store.write(np.array(rows, dtype=np.int64), np.stack(vectors, axis=1))
    rows.clear()
    vectors.clear()


def as_events(steps: Generator[Step, None, Outcome], event: Callable[[Step], Event]) -> Generator[Event, None, Outcome]:
    """An event for each of some steps; returns what they return, and closes them with itself."""
    try:
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                outcome: Outcome = end.value
                return outcome
            yield event(step)
    finally:
        steps.close()


def groups(datasets: Sequence[Dataset]) -> list[list[int]]:
    """The data sets of the same texts, grouped: lists of their places, in order of first appearance."""
    members: dict[frozenset[str], list[int]] = {}
    for place, dataset in enumerate(datasets):
        members.setdefault(frozenset(dataset.texts), []).append(place)
    return list(members.values())
