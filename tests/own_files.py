"""Files as visitors bring them to fine-tune on, and what is read of them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import reading
from analysis.probing import Dataset, Treebank, readers
from training.finetuning.data import Data, Kind
from training.finetuning.prepare import KIND_OF, prepare

TEXT = [(f"sentence {i}", "ab"[i % 2]) for i in range(20)]


def table(rows: Sequence[Sequence[object]], header: str = "text,label", separator: str = ",") -> bytes:
    lines = [header.split(","), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(separator.join(cells) for cells in lines).encode()


def jsonl(rows: Sequence[object]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def to_train_on(data: bytes, name: str, kind: Kind, seed: int) -> Data:
    """A file as data to train on, with the remarks of the reader among its notes."""
    (of,) = (read for read, task in KIND_OF.items() if task == kind)
    read = reading.read(data, of, name=name)
    prepared = prepare(read, seed)
    return replace(prepared, notes=(*read.report.remarks, *prepared.notes))


def to_probe(data: bytes, name: str, target: readers.CoNLLTarget | None = None, *, seed: int = 0) -> Dataset:
    """A file as data to probe, of labelled texts or of a treebank's words; its notes as those of ``to_train_on``."""
    read = reading.read(data, "trees" if target else "labelled", name=name)
    dataset = readers.words(read, target, seed=seed) if target else readers.labelled_sentences(read, seed=seed)
    return replace(dataset, notes=(*read.report.remarks, *dataset.notes))


def trees(data: bytes, name: str, *, seed: int = 0) -> Treebank:
    """A file as a treebank; its notes as those of ``to_train_on``."""
    read = reading.read(data, "trees", name=name)
    bank = readers.treebank(read, seed=seed)
    return replace(bank, words=replace(bank.words, notes=(*read.report.remarks, *bank.words.notes)))


def items(data: Data) -> list[Any]:
    return [*data.train, *data.dev, *data.test]


def notes(data: Data) -> str:
    return "\n".join(data.notes)


def sentences(n: int) -> str:
    return "\n".join(f"Ann{i} x x B-PER\nsleeps x x O\n" for i in range(n))
