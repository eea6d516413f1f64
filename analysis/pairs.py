"""Lists of sentence pairs: read from CSV, judged against labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
import pandas as pd

from analysis import files
from model_zoo.errors import InvalidInput
from model_zoo.types import FloatArray, Shows

MAX_PAIRS = 10_000

_TRUE = {"1", "true", "yes", "y", "next", "isnext", "is next", "in order"}
_FALSE = {"0", "false", "no", "n", "random", "notnext", "not next", "swapped"}


@dataclass(frozen=True, slots=True)
class Pairs:
    """Sentence pairs with, if the file had them, labels: True where B follows A, None where a cell is empty.

    ``n_empty`` rows without an A or a B, and ``n_beyond`` rows beyond the first ``MAX_PAIRS``, were left out.
    """

    rows: tuple[tuple[str, str], ...] = field(repr=False)
    labels: tuple[bool | None, ...] | None = field(repr=False)
    n_empty: int
    n_beyond: int


def read_file(data: bytes, name: str) -> tuple[Pairs, tuple[str, ...]]:
    """The pairs of a file, and what must be said about how it was decoded."""
    text, remarks = files.decoded(data, name) if data.strip() else ("", ())  # which has no pairs
    return read(text, name), remarks


def read(text: str, name: str) -> Pairs:
    """Pairs from CSV with a header: columns a and b, label if there is one, in any order, others ignored.

    Columns and quotes as in ``analysis.files.rows``. Labels: 1, true, yes, next; 0, false, no, random. Raises
    InvalidInput with the line and what to change; ``name`` is what the text is called there.
    """
    if not text.strip():
        raise InvalidInput("There are no pairs. Paste or upload CSV with the columns a and b.")
    rows = files.rows(text, name)
    _, header = next(rows)
    names = [cell.strip().lower() for cell in header]
    missing = [wanted for wanted in ("a", "b") if wanted not in names]
    if missing:
        raise InvalidInput(
            f"{name} has no column {' and no column '.join(missing)}; "
            f"its first line reads “{', '.join(names)[:80]}”. "
            "Name the columns of the two sentences a and b in the first line."
        )
    places = names.index("a"), names.index("b")
    label_place = names.index("label") if "label" in names else None
    pairs: list[tuple[str, str]] = []
    labels: list[bool | None] = []
    n_empty = n_beyond = 0
    for line, cells in rows:
        a, b = (files.cell(cells, place) for place in places)
        if not (a and b):
            n_empty += 1
        elif len(pairs) == MAX_PAIRS:
            n_beyond += 1
        else:
            pairs.append((a, b))
            labels.append(_label(files.cell(cells, label_place), f"{name}, line {line}"))
    if not pairs:
        raise InvalidInput(f"{name}: no line has both an a and a b. Fill in at least one pair.")
    return Pairs(tuple(pairs), tuple(labels) if label_place is not None else None, n_empty, n_beyond)


def _label(cell: str, where: str) -> bool | None:
    word = cell.lower()
    if not word:
        return None
    if word not in _TRUE | _FALSE:
        raise InvalidInput(f"{where}: “{cell[:40]}” is not a label. Write 1 (B follows A) or 0.")
    return word in _TRUE


@dataclass(frozen=True, slots=True)
class Bin:
    """Predictions from ``low`` to ``high``: how many, their mean, and how many of them really were next."""

    low: float
    high: float
    n: int
    mean: float
    share_next: float


@dataclass(frozen=True, slots=True)
class Judged(Shows):
    """Predictions against labels. ``calibration_error`` is the mean of |share - mean| over the bins, weighted by n
    (expected calibration error, Guo et al. 2017).
    """

    n: int
    accuracy: float
    bins: tuple[Bin, ...] = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """One row a bin of the calibration curve: low, high, n, mean, share_next."""
        return pd.DataFrame([asdict(one) for one in self.bins])

    @property
    def calibration_error(self) -> float:
        return sum(bin_.n * abs(bin_.share_next - bin_.mean) for bin_ in self.bins) / self.n


def judge(p_next: Sequence[float] | FloatArray, labels: Sequence[bool | None], n_bins: int = 10) -> Judged | None:
    """Accuracy at the threshold 0.5 and the calibration curve, bins of equal width without the empty ones.

    Pairs without a label are left out; None if none has one.
    """
    known = [(p, label) for p, label in zip(p_next, labels, strict=True) if label is not None]
    if not known:
        return None
    p, is_next = np.array([p for p, _ in known], dtype=np.float64), np.array([label for _, label in known])
    places = np.minimum((p * n_bins).astype(int), n_bins - 1)
    bins = tuple(
        Bin(
            place / n_bins,
            (place + 1) / n_bins,
            int((places == place).sum()),
            float(p[places == place].mean()),
            float(is_next[places == place].mean()),
        )
        for place in np.unique(places).tolist()
    )
    return Judged(len(p), float(((p > 0.5) == is_next).mean()), bins)
