"""Encodings, layers and runs of two tokens, whose attention is known by hand."""

import dataclasses
from typing import Any

import builders
import numpy as np

from model_zoo.types import AttentionRun, Encoding, QueryKeyLayer

ENCODING: dict[str, Any] = dataclasses.asdict(builders.encoding(["a", "b"], front=None, end=None))
INFO = builders.info(id="tiny", family="test", n_heads=2)


def array(values: Any) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def two_tokens(**changes: Any) -> QueryKeyLayer:
    """One head whose scores are [[ln 3, 0], [0, ln 3]]: weights 3/4 and 1/4."""
    plain: dict[str, Any] = {
        "query": array([[[2, 0], [0, 2]]]),
        "key": array([[[np.log(3), 0], [0, np.log(3)]]]),
        "value": array([[[3, 4], [0, 2]]]),
        "scaling": 0.5,
    }
    return QueryKeyLayer(**(plain | changes))


def run_of(*layers: Any, projections: tuple[Any, ...] = ()) -> AttentionRun:
    return AttentionRun(encoding=Encoding(**ENCODING), model=INFO, layers=layers, output_projections=projections)
