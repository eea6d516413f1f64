"""Minimal pairs, two sentences of which one is right: read from files, and how often a model prefers the right one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
import pandas as pd

from analysis import files as texts
from analysis.files import decoded
from analysis.intervals import wilson
from model_zoo.errors import InvalidInput
from model_zoo.types import EQUAL_NATS, Shows, counted

# What a column or a field may be called: ours, and that of BLiMP (Warstadt et al. 2020).
_NAMES = {
    "good": ("good", "sentence_good"),
    "bad": ("bad", "sentence_bad"),
    "phenomenon": ("phenomenon", "linguistics_term"),
    "paradigm": ("paradigm", "uid"),
}


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """A right sentence and a wrong one; ``phenomenon`` and the ``paradigm`` within it are "" where a file has none."""

    good: str
    bad: str
    phenomenon: str = ""
    paradigm: str = ""


@dataclass(frozen=True, slots=True)
class MinimalPairs(Shows):
    """The pairs of some files in their order, and what must be said about them: what was left out, and how
    they were read.
    """

    rows: tuple[MinimalPair, ...] = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)

    def __repr__(self) -> str:
        return f"<MinimalPairs {counted(len(self.rows), 'pair')}>"

    def to_frame(self) -> pd.DataFrame:
        """One row a pair: good, bad, phenomenon, paradigm."""
        return pd.DataFrame([asdict(one) for one in self.rows])


def read(files: Sequence[tuple[bytes, str]], most: int | None = None) -> MinimalPairs:
    """Pairs from files, each its bytes and its name: JSON lines as BLiMP has them, or CSV.

    JSON lines have one object per line with ``sentence_good`` and ``sentence_bad``, and if known ``linguistics_term``
    (the phenomenon) and ``UID`` (the paradigm). CSV (comma, semicolon or tab, by what its first line holds) has the
    columns good and bad, and if known phenomenon and paradigm. Other fields are ignored. Rows beyond ``most`` are
    counted and left out. Raises InvalidInput with the line and what to change.
    """
    rows: list[MinimalPair] = []
    notes: list[str] = []
    n_beyond = 0
    for data, name in files:
        text, said = decoded(data, name)
        notes += [f"{name}: {note}" for note in said]
        records = _from_json(text, name) if text.lstrip().startswith(("{", "[")) else _from_csv(text, name)
        n_empty = 0
        for pair in records:
            if pair is None:
                n_empty += 1
            elif most is not None and len(rows) >= most:
                n_beyond += 1
            else:
                rows.append(pair)
        if n_empty:
            notes.append(f"{name}: {counted(n_empty, 'row')} without both sentences left out.")
    if n_beyond:
        notes.append(f"{counted(n_beyond, 'pair')} beyond the first {most:,} left out.")
    if not rows:
        raise InvalidInput("There are no pairs. Give each a good and a bad sentence.")
    return MinimalPairs(tuple(rows), tuple(notes))


def _from_json(text: str, name: str) -> Iterator[MinimalPair | None]:
    for number, found in texts.json_lines(text, name):
        record = {key: texts.plain(value) for key, value in found.items()}
        _columns(record, f"{name}, line {number}", "field")
        yield _pair(record)


def _from_csv(text: str, name: str) -> Iterator[MinimalPair | None]:
    rows = texts.rows(text, name)
    _, header = next(rows)
    columns = [cell.strip().lower() for cell in header]
    _columns(dict.fromkeys(columns, ""), f"{name}, line 1", "column")
    for _, row in rows:
        yield _pair({column: texts.cell(row, place) for place, column in enumerate(columns)})


def _columns(record: Mapping[str, str], where: str, what: str) -> None:
    """Raises InvalidInput where a sentence's field is missing."""
    for wanted in ("good", "bad"):
        if not any(known in record for known in _NAMES[wanted]):
            names = " or ".join(_NAMES[wanted])
            raise InvalidInput(
                f"{where}: there is no {what} {names} among “{', '.join(record)[:80]}”. "
                f"Name the {what}s of the right and the wrong sentence good and bad."
            )


def _pair(record: Mapping[str, str]) -> MinimalPair | None:
    """Reads a pair from a row; None where the row lacks a sentence."""
    found = {
        wanted: next((record[known].strip() for known in names if known in record), "")
        for wanted, names in _NAMES.items()
    }
    return MinimalPair(**found) if found["good"] and found["bad"] else None


@dataclass(frozen=True, slots=True)
class Accuracy(Shows):
    """How often the right sentence has the higher score, over ``n`` pairs; a tie counts half.

    ``phenomenon`` and ``paradigm`` say which pairs, "" for all of them. ``low`` and ``high`` are the 95% interval
    (Wilson 1927); chance is 0.5. ``mean_difference`` is that of the scores, right less wrong, in nats.
    """

    phenomenon: str
    paradigm: str
    n: int
    n_ties: int
    accuracy: float
    low: float
    high: float
    mean_difference: float


def accuracies(rows: Sequence[MinimalPair], differences: Sequence[float]) -> tuple[Accuracy, ...]:
    """Over all pairs, then each phenomenon, and each paradigm where a phenomenon has several; nan is not counted.

    ``differences`` are the scores of the right sentences less those of the wrong ones (nats), one per row. Phenomena
    and paradigms come as they first occur. Empty where nothing was scored.
    """
    judged = [(row, value) for row, value in zip(rows, differences, strict=True) if not math.isnan(value)]
    if not judged:
        return ()
    found = [_accuracy("", "", [value for _, value in judged])]
    phenomena = dict.fromkeys(row.phenomenon for row, _ in judged)
    if list(phenomena) == [""]:
        return tuple(found)
    for phenomenon in phenomena:
        mine = [(row.paradigm, value) for row, value in judged if row.phenomenon == phenomenon]
        paradigms = list(dict.fromkeys(paradigm for paradigm, _ in mine))
        only = paradigms[0] if len(paradigms) == 1 else ""
        found.append(_accuracy(phenomenon or "none given", only, [value for _, value in mine]))
        if len(paradigms) > 1:
            found += [
                _accuracy(phenomenon or "none given", paradigm, [value for other, value in mine if other == paradigm])
                for paradigm in paradigms
            ]
    return tuple(found)


def _accuracy(phenomenon: str, paradigm: str, differences: Sequence[float]) -> Accuracy:
    values = np.asarray(differences, dtype=np.float64)
    ties = np.abs(values) < EQUAL_NATS
    share = float(np.where(ties, 0.5, values > 0).mean())
    low, high = wilson(share, len(values))
    return Accuracy(phenomenon, paradigm, len(values), int(ties.sum()), share, low, high, float(values.mean()))
