"""Arrays in results: float32 and read-only, because the engine hands one result to everybody who asks."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
DoubleArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Array = TypeVar("Array", bound=npt.NDArray[Any])

OF_THE_MODEL = "of the model"
"""Marks, in a field's metadata, weights that all results of a model share: neither counted nor pickled with them."""


def read_only(array: Array) -> Array:
    """The same numbers, read-only, without a copy. The original array can still be written to."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.setflags(write=False)
    return view


def _made(kind: type[Any], values: dict[str, Any]) -> Any:
    return kind(**values)


class ReadOnly:
    """A frozen result whose fields that are arrays are read-only: pickles by way of its constructor, which makes them
    so again.
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, field.name, read_only(value))

    def __reduce__(self) -> tuple[Any, ...]:
        kept = [field.name for field in fields(self) if OF_THE_MODEL not in field.metadata]  # type: ignore[arg-type]
        return _made, (type(self), {name: getattr(self, name) for name in kept})
