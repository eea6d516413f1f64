"""Whether two results are equal to the last bit."""

import dataclasses
from typing import Any

import numpy as np

from model_zoo.types import AttentionRun


def same(a: Any, b: Any, but: frozenset[str] = frozenset()) -> bool:
    """Whether two values are of the same types and equal, arrays bit for bit; fields of these names may differ."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, AttentionRun):
        return all(same(getattr(a, name), getattr(b, name), but) for name in ("encoding", "layers", "states"))
    if dataclasses.is_dataclass(a):
        names = {field.name for field in dataclasses.fields(a)} - but
        return all(same(getattr(a, name), getattr(b, name), but) for name in names)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(*pair, but) for pair in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key], but) for key in a)
    return bool(a == b) or (a != a and b != b)
