"""The built-in sets, found by themselves: ``<name>.toml`` here says what a set is, ``<name>.tsv`` holds its items.

The first line of a ``.tsv`` names its columns: ``split``, those of ``_ITEM``, and if there are any ``cluster`` and
``number``, by which the items of a split are put in order (else they stay as they are in the file). The mark 〃 stands
for the cell above it.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from training.finetuning.data import KINDS, BuiltIn, Item, Kind, Labelled, PassageQuestion, Scored, Split, Tagged

FOLDER: Final = Path(__file__).parent
DITTO: Final = "〃"

Line = Mapping[str, str]

_ITEM: Final[Mapping[Kind, Callable[[Line, str], Item]]] = {
    "classification": lambda line, cluster: Labelled(line["text"], line.get("pair"), line["label"], cluster),
    "tagging": lambda line, cluster: Tagged(tuple(line["words"].split()), tuple(line["tags"].split()), cluster),
    "answering": lambda line, cluster: PassageQuestion(
        line["question"], line["passage"], ((int(line["start"]), line["answer"]),) if line["answer"] else (), cluster
    ),
    "similarity": lambda line, cluster: Scored(line["text"], line["pair"], float(line["score"]), cluster),
}


@lru_cache(maxsize=2)
def read_lines(name: str) -> tuple[Line, ...]:
    """The lines of a set's items, by column, in the order of the file."""
    with (FOLDER / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        columns, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    lines, above = [], [""] * len(columns)
    for row in rows:
        above = [before if cell == DITTO else cell for before, cell in zip(above, row, strict=True)]
        lines.append(dict(zip(columns, above, strict=True)))
    return tuple(lines)


def read_items(name: str, kind: Kind, split: Split) -> tuple[Item, ...]:
    """The items of one split, in their order."""
    lines = [line for line in read_lines(name) if line["split"] == split]
    lines.sort(key=lambda line: int(line.get("number", 0)))
    return tuple(_ITEM[kind](line, line.get("cluster", "")) for line in lines)


def find_sets() -> dict[str, BuiltIn]:
    """All sets of this folder by name, in the order of their kinds."""
    sets = []
    for file in FOLDER.glob("*.toml"):
        fields = tomllib.loads(file.read_text(encoding="utf-8"))
        fields["labels"] = tuple(fields.get("labels", ()))
        fields["tries"] = tuple((text, *pair) if pair else (text, None) for text, *pair in fields["tries"])
        sets.append(BuiltIn(name=file.stem, items=partial(read_items, file.stem, fields["kind"]), **fields))
    sets.sort(key=lambda built_in: (KINDS.index(built_in.kind), built_in.title))
    return {built_in.name: built_in for built_in in sets}


SETS: dict[str, BuiltIn] = find_sets()
