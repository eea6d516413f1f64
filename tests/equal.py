"""Whether two results are equal to the last bit."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from model_zoo.types import AttentionRun


def same(a: Any, b: Any) -> bool:
    """Whether two values are of the same types and equal, arrays bit for bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, AttentionRun):
        return same(a.encoding, b.encoding) and same(a.layers, b.layers) and same(a.states, b.states)
    if dataclasses.is_dataclass(a):
        return all(same(getattr(a, field.name), getattr(b, field.name)) for field in dataclasses.fields(a))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return bool(a == b) or (a != a and b != b)
