"""The effect of every head of a model on a prediction, as cells: a row a layer, a column a head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from analysis.effects import By
from model_zoo.types import DoubleArray
from viz.cells import Payload, cells
from viz.erasure import SIGNS

UNITS: Final[dict[By, str]] = {
    "bits": "loss of log₂ P in bits: 1 bit halves the probability",
    "probability": "P lost",
    "difference": "logit difference lost",
    "divergence": "KL divergence from the original distribution, in bits",
}
_BLOCKS: Final = ("all heads", "feed-fwd")  # of a layer, beside its heads


def head_effects(
    values: DoubleArray,
    n_heads: int,
    by: By,
    *,
    picked: Sequence[tuple[int, int]] = (),
    mark: str = "",
    counts: int = 1,
) -> Payload:
    """What the prediction loses without each head, and without whole blocks of a layer where ``values`` (layers, heads
    and blocks) have those, too. The colour is full at the largest effect of a head. Names ``counts`` from 1, or from 0.
    Cells can be picked.
    """
    n_layers, n = values.shape
    return cells(
        values,
        [str(layer + counts) for layer in range(n_layers)],
        [*(str(head + counts) for head in range(n_heads)), *_BLOCKS[: n - n_heads]],
        quantity=UNITS[by],
        across="head",
        down="layer",
        end=float(np.abs(values[:, :n_heads]).max(initial=0)),
        picked=picked,
        pick=True,
        mark=mark,
        signed=by != "divergence",
        signs=SIGNS,
        file="heads-that-matter",
    )
