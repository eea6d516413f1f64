"""Texts, or pairs of texts, each with its label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from model_zoo.errors import InvalidInput
from model_zoo.types import counted
from reading.data import Choices, Notes, Role, Row, Split, Table
from reading.formats import delimited
from reading.items import Labelled
from reading.kinds.base import SPLIT, SPLITS, Kind, Place, cells_of, open_table, split_of, stripped, to_list
from reading.packed import Packed
from reading.text import Text, check_cells, clipped, listed, number, plain

MAX_LABEL: Final = 200
"""Characters of a label, which stands in tables, messages and legends."""

_NONE: Final = "-"
_MISSING: Final = {"nan", "na", "n/a", "null", "none", "<na>", "nat"}
_FASTTEXT: Final = "__label__"
_SENTEVAL: Final = ("split", "label", "text")
_LOOKED_AT: Final = 20

_Example = tuple[str, str | None, str, int, Split | None]  # the texts and the label of a row, its line and its split


def _open(kind: Kind, text: Text, choices: Choices, notes: Notes) -> Table:
    """Also the probing sets of SentEval: a split (tr, va or te), a label and a text between tabs, without names; and
    fastText's lines, in which labels stand before the text.
    """
    lines = [*islice((line.split("\t") for line in text.head if line.strip()), _LOOKED_AT)]
    if any(len(cells) > 2 and cells[0] in SPLITS for cells in lines) and not choices.header:
        rows = ((line, written.split("\t", 2) if written.strip() else []) for line, written in text.numbered())
        return Table("SentEval’s lines", [*_SENTEVAL], delimited.complete_rows(rows, 3, notes, text.name, "\t"))
    if text.first_line.startswith(_FASTTEXT):
        return Table("fastText’s lines", ["label", "text"], _read_fasttext(text))
    return open_table(kind, text, choices, notes)


def _read_fasttext(text: Text) -> Iterator[tuple[int, list[Any]]]:
    for place, line in text.numbered():
        words = line.split()
        check_cells([line], text.name, "line", place)
        labels = [word.removeprefix(_FASTTEXT) for word in words if word.startswith(_FASTTEXT)]
        if words:
            yield place, [labels, " ".join(word for word in words if not word.startswith(_FASTTEXT))]


def _rows(table: Table, places: Mapping[str, int], place: Place) -> Iterator[Row]:
    rows = Packed[_Example]()
    counts: Counter[str] = Counter()
    n_several = 0
    first_several: tuple[int, str] = (0, "")
    pairs = "pair" in places
    for line, cells in cells_of(table, places):
        text, pair = stripped(cells, "text"), stripped(cells, "pair")
        labels = to_list(cells["label"], place.label(line))
        label = stripped(cells, "label") if labels is None else plain(labels[0]).strip() if len(labels) == 1 else ""
        if labels is not None and (len(labels) > 1 or isinstance(labels[0] if labels else None, list)):
            first_several = first_several if n_several else (line, clipped(str(labels)))
            n_several += 1
            place.notes.leave_out("rows with several labels", line)
        elif not (text and label and (pair or cells.get("pair") is None)):
            place.notes.leave_out(f"rows without {'two texts and a label' if pairs else 'a text or a label'}", line)
        elif len(label) > MAX_LABEL:
            raise InvalidInput(
                f"{place.label(line)}: the label has {len(label):,} characters; labels are names of up to "
                f"{MAX_LABEL}. Check which column is the label."
            )
        else:
            rows.append((text, pair or None, label, line, split_of(cells, line, place)))
            counts[label] += 1
    if n_several > len(rows) / 2:
        raise InvalidInput(
            f"{place.label(first_several[0])}: the labels “{first_several[1]}” are several of one text, and so in "
            f"{counted(n_several, 'row')}. Texts are told apart by one label each: choose a column with one."
        )
    none = _no_labels(counts, place.notes, pairs=pairs)
    lines: dict[str, list[int]] = {label: [] for label in sorted(counts) if label.lower() in _MISSING}
    for text, of_pair, label, line, split in rows.drain():
        if label in none:
            place.notes.leave_out(f"rows without a label (“{label}”)", line)
        else:
            yield Row(Labelled(text, of_pair, label), line, split)
        if label in lines:
            lines[label].append(line)
    for label, where in lines.items():
        place.notes.say(
            f"The label “{label}” looks like a missing value; it is taken as a label "
            f"({counted(len(where), 'row')}, {listed(where, place.unit)})."
        )


def _no_labels(counts: Counter[str], notes: Notes, *, pairs: bool) -> set[str]:
    """What stands for no label: "-", as NLI's sets write where annotators disagree, and -1, as Hugging Face's do."""
    values = {label: value for label in counts if (value := number(label)) is not None}
    none = {_NONE} & counts.keys() if len(counts) > 1 and "+" not in counts else set()
    # Beside 0 and 1 alone, -1 can be a class of its own: negative, neutral, positive.
    if len(values) == len(counts) and min(values.values(), default=0) == -1:
        others = set(values.values()) - {-1}
        if not others or (others >= {0} and (pairs or max(others) > 1)):
            none = {label for label, value in values.items() if value == -1}
        else:
            notes.say("-1 is taken as a label; some sets of data write it where there is none.")
    return none


KIND: Final = Kind(
    "labelled",
    "text",
    {
        "text": Role("text"),
        "pair": Role("second text", needed=False),
        "label": Role("label"),
        "split": SPLIT,
    },
    _rows,
    _open,
)
