"""What was read of a visitor's file as ``Data`` to train on, or a sentence that says why it cannot be learned from."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import reading
from model_zoo.errors import InvalidInput
from model_zoo.types import counted
from reading.text import clipped, named, number
from training.finetuning import entities, splits
from training.finetuning.data import (
    HIGHEST_SCORE,
    OUTSIDE,
    SPLITS,
    Data,
    Item,
    Kind,
    Labelled,
    PassageQuestion,
    Scored,
    Tagged,
    check,
)
from training.finetuning.splits import Row

FEWEST = 10
MOST_LABELS = 50

KIND_OF: Mapping[str, Kind] = {
    "labelled": "classification",
    "tagged": "tagging",
    "questions": "answering",
    "scored": "similarity",
}
"""What items of each kind of data, as they are read, are trained for."""

_MEASURE: Mapping[Kind, str] = {
    "classification": "accuracy",
    "tagging": "entity_f1",
    "answering": "span_f1",
    "similarity": "spearman",
}
_ONE = {"classification": "text", "tagging": "sentence", "answering": "question", "similarity": "pair"}
_SCALES = ((0.0, 1.0), (0.0, HIGHEST_SCORE), (-1.0, 1.0), (0.0, 10.0), (0.0, 100.0))


def prepare(data: reading.Data, seed: int) -> Data:
    """The items that were read of a file, in three splits, checked.

    The file's splits, where it names them; else the seed draws 70% to train on, 10% to choose by and 20% to test on, as
    ``splits.drawn`` says. Of many items a sample is drawn, of at most ``splits.MOST``. Tags are brought to IOB2, scores
    to a scale from 0 to ``HIGHEST_SCORE``. Raises InvalidInput for what nothing can be learned from.
    """
    kind, name = KIND_OF[data.kind], data.name
    notes: list[str] = []
    items = splits.unrepeated(_rows(data, kind, notes), _ONE[kind], notes)
    if len(items) < FEWEST:
        apart = " An empty line ends a sentence." if kind == "tagging" else ""
        remarks = "".join(f" {note}" for note in (*data.report.remarks, *notes))
        raise InvalidInput(
            f"{name} has {counted(len(items), f'usable {_ONE[kind]}')}; at least {FEWEST} are needed to train on, "
            f"to choose by and to test on. Add more.{apart}{remarks}"
        )
    _check_labels(items, kind, name)
    usable = splits.sampled(splits.drawn(items, kind, name, seed, notes), seed, notes)
    labels = _labels(usable, kind, notes)
    train, dev, test = (tuple(row.item for row in usable[split]) for split in SPLITS)
    digest = hashlib.sha256(repr((kind, seed)).encode())
    for item in zip(data.items, data.splits, strict=True):
        digest.update(repr(item).encode("utf-8", "surrogatepass"))
    fingerprint = digest.hexdigest()[:16]
    prepared = Data(f"own data {fingerprint}", name, kind, train, dev, test, labels, _MEASURE[kind], tuple(notes))
    return _learnable(check(prepared), data.report.remarks)


def prepare_file(
    data: bytes, name: str, kind: Kind, seed: int, choices: reading.Choices
) -> tuple[Data, reading.Report]:
    """The items of a file for a task of this ``kind``, and how it was read. Raises InvalidInput."""
    (of,) = (read for read, task in KIND_OF.items() if task == kind)
    read = reading.read_files([(name, data)], of, choices)
    return prepare(read, seed), read.report


def _rows(data: reading.Data, kind: Kind, notes: list[str]) -> list[Row]:
    if kind == "tagging":
        tagged = [item.tags for item in data.items if isinstance(item, Tagged)]
        places = [data.where(line) for line in data.lines]
        tags = entities.convert_to_iob2(list(zip(places, tagged, strict=True)), notes)
    if kind == "similarity":
        rescaled = _rescaled([item.score for item in data.items if isinstance(item, Scored)], data.name, notes)
    rows = []
    for place, (item, line, split) in enumerate(zip(data.items, data.lines, data.splits, strict=True)):
        if isinstance(item, Labelled):
            rows.append(Row(line, item, (item.text, item.pair or ""), item.label, split, item.label))
        elif isinstance(item, Tagged):
            rows.append(Row(line, replace(item, tags=tags[place]), item.words, tags[place], split, ""))
        elif isinstance(item, Scored):
            first, second = sorted((item.text, item.pair))
            rows.append(Row(line, replace(item, score=rescaled[place]), (first, second), item.score, split, ""))
        elif isinstance(item, PassageQuestion):
            stratum = "answered" if item.answers else "not answered"
            rows.append(Row(line, item, (item.text, item.pair), None, split, stratum))
    return rows


def _rescaled(scores: Sequence[float], name: str, notes: list[str]) -> list[float]:
    """The scores on the scale from 0 to ``HIGHEST_SCORE``. Raises InvalidInput where they are all the same."""
    if min(scores) == max(scores):
        raise InvalidInput(f"{name}: all scores are {scores[0]:g}. Bring pairs that are alike to different degrees.")
    low, high = _scale(min(scores), max(scores))
    if (low, high) == (0.0, HIGHEST_SCORE):
        return list(scores)
    notes.append(f"The scores, from {low:g} to {high:g}, were rescaled to 0 to {HIGHEST_SCORE:.0f}.")
    # Halves first: the difference of two large numbers can be larger than any.
    shares = ((score / 2 - low / 2) / (high / 2 - low / 2) for score in scores)
    return [HIGHEST_SCORE * share for share in shares]


def _scale(lowest: float, highest: float) -> tuple[float, float]:
    """The first of the usual scales that holds all scores; beyond all of them, that from the lowest to the highest."""
    return next(((low, high) for low, high in _SCALES if low <= lowest and highest <= high), (lowest, highest))


def _kinds_of(item: Item) -> set[str]:
    """The label of a text, or the types of the entities in a sentence."""
    if isinstance(item, Tagged):
        return {entities.type_of(tag) for tag in item.tags if tag != OUTSIDE}
    return {item.label} if isinstance(item, Labelled) else set()


def _check_labels(items: Sequence[Row], kind: Kind, name: str) -> None:
    """Raises InvalidInput for more labels than can be told apart, or too few examples of them."""
    counts = Counter(label for row in items for label in _kinds_of(row.item))
    if len(counts) > MOST_LABELS:
        noun = "types of entities" if kind == "tagging" else "labels"
        raise InvalidInput(
            f"{name} has {len(counts):,} different {noun}; at most {MOST_LABELS} can be told apart. This is likely the "
            "wrong column; if it holds numbers, put them into a few bins first."
        )
    if kind == "classification" and len(counts) > 1 and sum(n > 1 for n in counts.values()) < 2:
        most = ", ".join(f"“{clipped(label)}” {n:,}" for label, n in counts.most_common(5))
        raise InvalidInput(
            f"{name} has fewer than two labels with more than one example ({most}). Bring several items of each label."
        )


def _labels(usable: splits.SplitRows, kind: Kind, notes: list[str]) -> tuple[str, ...]:
    """Those of the network's outputs: numbers by their size, anything else by the alphabet, "O" before other tags.
    Those that cannot be learned, or whose learning cannot be seen, are noted.
    """
    counts = {split: Counter(label for row in usable[split] for label in _kinds_of(row.item)) for split in SPLITS}
    total = sum(counts.values(), Counter[str]())
    untaught = sorted(label for label in total if not counts["train"][label])
    if untaught:
        notes.append(f"In no item to train on, so that it cannot be learned: {named(untaught)}.")
    if kind == "tagging":
        tags = {
            tag for split in SPLITS for row in usable[split] if isinstance(row.item, Tagged) for tag in row.item.tags
        }
        return (OUTSIDE, *sorted(tags - {OUTSIDE}, key=lambda tag: (entities.type_of(tag), tag)))
    single = sorted(label for label, n in total.items() if n == 1 and counts["train"][label])
    if single:
        notes.append(f"In one item only, which is to train on, so that no score covers it: {named(single)}.")
    numbers = {label: value for label in total if (value := number(label)) is not None}
    if total and len(numbers) == len(total):
        notes.append("The labels are numbers; they are taken as names, without an order.")
        return tuple(sorted(total, key=lambda label: (numbers[label], label)))
    return tuple(sorted(total))


def _learnable(data: Data, remarks: Sequence[str]) -> Data:
    """The data; raises InvalidInput with the reader's ``remarks`` where the items to train on are all alike."""
    if data.kind == "classification":
        alike = "one label only" if len({label for item in data.train for label in _kinds_of(item)}) < 2 else ""
    elif data.kind == "tagging":
        alike = "" if any(_kinds_of(item) for item in data.train) else "no entity"
    elif data.kind == "answering":
        alike = "" if any(isinstance(item, PassageQuestion) and item.answers for item in data.train) else "no answer"
    else:
        alike = "one score only" if len({item.score for item in data.train if isinstance(item, Scored)}) < 2 else ""
    if alike:
        raise InvalidInput(
            f"{data.title}: the items to train on have {alike}. Bring more, or divide them otherwise among the splits."
            f"{''.join(f' {remark}' for remark in remarks)}"
        )
    return data
