"""One code for numpy's arrays and for torch's tensors, which are measured where they lie: on a GPU as well as here.

numpy and torch call what is used here by the same names (``maximum``, ``where``, ``amax`` ...), with ``axis`` for an
axis. Numbers stay float32, since not every device has float64.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

Array = Any
"""An array of numpy, or a tensor of torch on whatever device."""


def namespace(array: Array) -> Any:
    """The module whose functions take this array."""
    return np if isinstance(array, np.ndarray) else sys.modules["torch"]


def beside(array: Array, other: Array) -> Array:
    """The same numbers as what ``other`` is, on its device."""
    return array if isinstance(other, np.ndarray) else namespace(other).as_tensor(array, device=other.device)


def in_memory(array: Array) -> Any:
    """The same numbers as an array of numpy; it shares memory with what is one already, or lies on the CPU."""
    return array if isinstance(array, np.ndarray) else array.cpu().numpy()
