"""A sequence of many small values in little memory: as objects they would take several times the file of their rows."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, Generic, TypeVar, overload

T = TypeVar("T")

_BLOCK: Final = 64  # values


class Packed(Sequence[T], Generic[T]):
    """Values that can be pickled, kept in pickled blocks: reading one makes a new object of it. Equal to any sequence
    of equal values.
    """

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._last: list[T] = []
        self._opened: tuple[int, list[T]] = (-1, [])

    def append(self, value: T) -> None:
        """Add a value at the end."""
        self._last.append(value)
        if len(self._last) == _BLOCK:
            self._blocks.append(pickle.dumps(self._last, pickle.HIGHEST_PROTOCOL))
            self._last = []

    def drain(self) -> Iterator[T]:
        """The values in order, each dropped from the sequence once it is read."""
        blocks, self._blocks = self._blocks[::-1], []
        while blocks:
            yield from pickle.loads(blocks.pop())
        last, self._last = self._last, []
        yield from last

    def __len__(self) -> int:
        return _BLOCK * len(self._blocks) + len(self._last)

    def __iter__(self) -> Iterator[T]:
        yield from chain.from_iterable(map(pickle.loads, self._blocks))
        yield from self._last

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        if isinstance(place, slice):
            return tuple(self[at] for at in range(*place.indices(len(self))))
        block, at = divmod(range(len(self))[place], _BLOCK)
        return (self._last if block == len(self._blocks) else self._open(block))[at]

    def _open(self, block: int) -> list[T]:
        if self._opened[0] != block:
            self._opened = block, pickle.loads(self._blocks[block])
        return self._opened[1]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Packed {len(self):,} values>"
