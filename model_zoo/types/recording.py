"""Activations of one text, by the names of the places where they were recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from model_zoo.errors import InvalidInput
from model_zoo.types.arrays import FloatArray, read_only
from model_zoo.types.encoding import Encoding
from model_zoo.types.models import ModelInfo
from model_zoo.types.shows import DataFrame, Shows, table

Edit = Callable[[Any], Any] | Any
"""A function of a tensor of torch, or what is put in its place: numbers that can be broadcast to its shape."""

Edits = tuple[tuple[str, Edit], ...]


@dataclass(frozen=True, slots=True)
class Recording(Shows):
    """What stood at some places of a network when a text passed: ``recording["layer.2.mlp.out"]``.

    ``arrays`` are float32 and stand layer by layer, as do the names of their ``places``; both are those of
    ``Record``. ``activations`` has them by name, ``copy()`` gives arrays to write into.
    """

    encoding: Encoding
    model: ModelInfo
    places: tuple[str, ...] = field(repr=False)
    arrays: tuple[FloatArray, ...] = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "arrays", tuple(map(read_only, self.arrays)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.encoding, self.model, self.places, self.arrays)

    @property
    def activations(self) -> dict[str, FloatArray]:
        return dict(zip(self.places, self.arrays, strict=True))

    def __getitem__(self, place: str) -> FloatArray:
        if place not in self.places:
            raise InvalidInput(f"“{place}” was not recorded. Recorded: {', '.join(self.places)}.")
        return self.arrays[self.places.index(place)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def copy(self) -> dict[str, FloatArray]:
        return {name: array.copy() for name, array in self.activations.items()}

    @property
    def n_bytes(self) -> int:
        return sum(array.nbytes for array in self.arrays)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {part.shape}" for name, part in islice(self.activations.items(), 4))
        shapes += f" and {len(self.places) - 4} more" if len(self.places) > 4 else ""
        return f"<Recording {self.model.id}: {shapes}, {self.encoding.summary()}>"

    def to_frame(self) -> DataFrame:
        """One row a place: its shape, and mean, standard deviation, lowest and highest of its numbers."""
        return table(
            [
                {
                    "place": name,
                    "shape": " × ".join(map(str, part.shape)),
                    "mean": float(part.mean(dtype=np.float64)),
                    "std": float(part.std(dtype=np.float64)),
                    "lowest": float(part.min()),
                    "highest": float(part.max()),
                }
                for name, part in self.activations.items()
            ]
        )
