"""Activations of one text, by the names of the places where they were recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from model_zoo.errors import InvalidInput
from model_zoo.types.arrays import FloatArray, read_only
from model_zoo.types.encoding import Encoding
from model_zoo.types.models import ModelInfo
from model_zoo.types.shows import DataFrame, Shows, table


@dataclass(frozen=True, slots=True)
class Recording(Shows):
    """What stood at some places of a network when a text passed: ``recording["layer.2.mlp.out"]``.

    ``activations`` are float32 and in the order of the network, by the names and with the shapes of ``Record``.
    """

    encoding: Encoding
    model: ModelInfo
    activations: Mapping[str, FloatArray] = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "activations", {name: read_only(part) for name, part in self.activations.items()})

    def __getitem__(self, place: str) -> FloatArray:
        if place not in self.activations:
            raise InvalidInput(f"“{place}” was not recorded. Recorded: {', '.join(self.activations)}.")
        return self.activations[place]

    def copy(self) -> dict[str, FloatArray]:
        """Arrays of one's own, to write into."""
        return {name: part.copy() for name, part in self.activations.items()}

    @property
    def n_bytes(self) -> int:
        return sum(part.nbytes for part in self.activations.values())

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {part.shape}" for name, part in islice(self.activations.items(), 4))
        shapes += f" and {len(self.activations) - 4} more" if len(self.activations) > 4 else ""
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
