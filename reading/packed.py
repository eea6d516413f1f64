"""Many small things in little memory: an object a row would take several times the file that the rows are of."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, Generic, TypeVar, overload

T = TypeVar("T")

_AT_ONCE: Final = 64


class Packed(Sequence[T], Generic[T]):
    """A sequence that only grows, of what can be pickled: each comes out as an object of its own when it is asked for.
    Equal to any sequence of the same.
    """

    def __init__(self, each: Iterable[T] = ()) -> None:
        self._blocks: list[bytes] = []
        self._last: list[T] = []
        self._opened: tuple[int, list[T]] = (-1, [])
        for one in each:
            self.append(one)

    def append(self, one: T) -> None:
        """Add it at the end."""
        self._last.append(one)
        if len(self._last) == _AT_ONCE:
            self._blocks.append(pickle.dumps(self._last, pickle.HIGHEST_PROTOCOL))
            self._last = []

    def drain(self) -> Iterator[T]:
        """Each in turn; what has come out is no longer kept."""
        blocks, self._blocks = self._blocks[::-1], []
        while blocks:
            yield from pickle.loads(blocks.pop())
        last, self._last = self._last, []
        yield from last

    def __len__(self) -> int:
        return _AT_ONCE * len(self._blocks) + len(self._last)

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
        block, at = divmod(range(len(self))[place], _AT_ONCE)
        return (self._last if block == len(self._blocks) else self._open(block))[at]

    def _open(self, block: int) -> list[T]:
        number, each = self._opened
        if number != block:
            each = pickle.loads(self._blocks[block])
            self._opened = block, each
        return each

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self):,} packed>"
