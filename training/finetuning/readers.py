"""The visitor's own data: from the bytes of a file to ``Data``, or one sentence that says what is wrong with it.

Rows that cannot be used are left out or repaired, and the notes say so, with the numbers of the lines; a file that
cannot be used raises InvalidInput.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from analysis import files
from model_zoo.errors import InvalidInput
from model_zoo.types import counted
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
    Split,
    Tagged,
    check,
)
from training.finetuning.formats import Rows, rows, shown
from training.finetuning.splits import Row

FEWEST = 10
MOST_LABELS = 50
MAX_LABEL = 200

_MEASURE: Mapping[Kind, str] = {
    "classification": "accuracy",
    "tagging": "entity_f1",
    "answering": "span_f1",
    "similarity": "spearman",
}
_SPLITS: Mapping[str, Split] = {
    **dict.fromkeys(("train", "training", "tr"), "train"),
    **dict.fromkeys(("dev", "development", "validation", "valid", "val", "va"), "dev"),
    **dict.fromkeys(("test", "testing", "te"), "test"),
}
_ONE = {"classification": "text", "tagging": "sentence", "answering": "question", "similarity": "pair"}
_SCALES = ((0.0, 1.0), (0.0, HIGHEST_SCORE), (-1.0, 1.0), (0.0, 10.0), (0.0, 100.0))


def read(data: bytes, name: str, kind: Kind, seed: int) -> Data:
    """The items of a file in three splits, checked; ``name`` is what it is called in messages.

    A table (CSV, TSV, with semicolons or bars), JSON lines, CoNLL columns for tagging, or SQuAD's JSON for answering;
    ``formats.COLUMNS`` are the columns of the first two. A column ``split`` gives the splits; without one the seed
    draws 70% to train on, 10% to choose by and 20% to test on, as ``splits.drawn`` says. Of a large file a sample is
    drawn, of at most ``splits.MOST`` items. Raises InvalidInput.
    """
    text, said = files.decoded(data, name)
    notes = list(said)
    items = splits.unrepeated(_READERS[kind](rows(text, name, kind), notes), _ONE[kind], notes)
    if len(items) < FEWEST:
        apart = " An empty line ends a sentence." if kind == "tagging" else ""
        raise InvalidInput(
            f"{name} has {counted(len(items), f'usable {_ONE[kind]}')}; at least {FEWEST} are needed to train on, "
            f"to choose by and to test on. Add more.{apart}{''.join(f' {note}' for note in notes)}"
        )
    _check_labels(items, kind, name)
    usable = splits.sampled(splits.drawn(items, kind, name, seed, notes), seed, notes)
    labels = _labels(usable, kind, notes)
    train, dev, test = (tuple(row.item for row in usable[split]) for split in SPLITS)
    fingerprint = hashlib.sha256(b"\0".join([kind.encode(), str(seed).encode(), data])).hexdigest()[:16]
    found = Data(f"own data {fingerprint}", name, kind, train, dev, test, labels, _MEASURE[kind], tuple(notes))
    return _learnable(check(found))


def _split(row: Mapping[str, Any], found: Rows, number: int) -> Split | None:
    """The split that a row names; None where the file has no column for it."""
    if "split" not in row:
        return None
    named = files.plain(row["split"]).strip()
    if named.lower() not in _SPLITS:
        raise InvalidInput(
            f"{found.where(number)}: the split is “{shown(named)}”. Write train, dev (or validation) or test, or leave "
            "the column out."
        )
    return _SPLITS[named.lower()]


def _classification(found: Rows, notes: list[str]) -> list[Row]:
    read, empty = [], []
    for number, row in found.each:
        text, pair, label = (files.plain(row.get(column)).strip() for column in ("text", "pair", "label"))
        if not (text and label and (pair or "pair" not in row)):
            empty.append(number)
            continue
        if len(label) > MAX_LABEL:
            raise InvalidInput(
                f"{found.where(number)}: the label has {len(label):,} characters; labels are names of up to "
                f"{MAX_LABEL}. Check which column is the label."
            )
        split = _split(row, found, number)
        read.append(Row(number, Labelled(text, pair or None, label), (text, pair), label, split, label))
    pairs = any("pair" in row for _, row in found.each)
    notes += files.left_out(empty, "two texts and a label" if pairs else "a text or a label", found.unit)
    return read


def _similarity(found: Rows, notes: list[str]) -> list[Row]:
    read: list[tuple[int, str, str, float, Split | None]] = []
    empty = []
    for number, row in found.each:
        text, pair, written = (files.plain(row.get(column)).strip() for column in ("text", "pair", "score"))
        if not (text and pair and written):
            empty.append(number)
            continue
        score = files.number(written)
        if score is None:
            raise InvalidInput(
                f"{found.where(number)}: the score “{shown(written)}” is not a number. Write one from 0 (nothing in "
                f"common) to {HIGHEST_SCORE:.0f} (the same meaning)."
            )
        read.append((number, text, pair, score, _split(row, found, number)))
    notes += files.left_out(empty, "two texts and a score", found.unit)
    if not read:
        return []
    given = [score for *_, score, _ in read]
    if min(given) == max(given):
        raise InvalidInput(
            f"{found.name}: all scores are {given[0]:g}. Bring pairs that are alike to different degrees."
        )
    low, high = _scale(min(given), max(given))
    if (low, high) != (0.0, HIGHEST_SCORE):
        notes.append(f"The scores, from {low:g} to {high:g}, were rescaled to 0 to {HIGHEST_SCORE:.0f}.")
    items = []
    for number, text, pair, score, split in read:
        # Halves first: the difference of two large numbers can be larger than any.
        share = (score / 2 - low / 2) / (high / 2 - low / 2)
        rescaled = score if (low, high) == (0.0, HIGHEST_SCORE) else HIGHEST_SCORE * share
        first, second = sorted((text, pair))
        items.append(Row(number, Scored(text, pair, rescaled), (first, second), score, split, ""))
    return items


def _scale(lowest: float, highest: float) -> tuple[float, float]:
    """The first of the usual scales that holds all scores; beyond all of them, that from the lowest to the highest."""
    return next(((low, high) for low, high in _SCALES if low <= lowest and highest <= high), (lowest, highest))


def _tagging(found: Rows, notes: list[str]) -> list[Row]:
    sentences: list[tuple[int, tuple[str, ...], tuple[str, ...], Split | None]] = []
    empty = []
    for number, row in found.each:
        words, tags = (_words(row[column]) for column in ("tokens", "tags"))
        if len(words) != len(tags):
            raise InvalidInput(
                f"{found.where(number)}: {counted(len(words), 'word')} and {counted(len(tags), 'tag')}. "
                "Each word needs a tag of its own."
            )
        if words and all(words) and all(tags):
            sentences.append((number, words, tags, _split(row, found, number)))
        else:
            empty.append(number)
    notes += files.left_out(empty, "a word and a tag in every place", found.unit)
    tagged = entities.in_iob2([(found.where(number), tags) for number, _, tags, _ in sentences], notes)
    return [
        Row(number, Tagged(words, tags), words, tags, split, "")
        for (number, words, _, split), tags in zip(sentences, tagged, strict=True)
    ]


def _words(value: object) -> tuple[str, ...]:
    """Takes the words of a list, or of a text those between spaces."""
    return tuple(
        files.plain(each).strip() for each in (value if isinstance(value, list) else files.plain(value).split())
    )


def _answering(found: Rows, notes: list[str]) -> list[Row]:
    read: dict[tuple[str, str], tuple[int, list[tuple[int, str]], Split | None]] = {}
    empty, foreign, mended, several = [], [], [], []
    joined = 0
    for number, row in found.each:
        question, context = files.plain(row.get("question")).strip(), files.plain(row.get("context"))
        if not (question and context.strip()):
            empty.append(number)
            continue
        given = _given(row["answer"], row.get("answer_start"))
        answers: list[tuple[int, str]] = []
        for start, answer in given:
            place = context.find(answer) if start is None else _nearest(context, answer, start)
            if place < 0:
                continue
            answers.append((place, answer))
            if start is None and context.find(answer, place + 1) >= 0:
                several.append(number)
            elif start is not None and place != start:
                mended.append(number)
        if len(answers) < len(given):
            foreign.append(number)
            if not answers:
                continue
        split = _split(row, found, number)
        _, before, named = read.get((question, context), (0, [], split))
        joined += (question, context) in read
        before += answers
        read[question, context] = number, before, splits.most_held_out((split, named))
    notes += files.left_out(empty, "a question or a passage", found.unit)
    if foreign:
        notes.append(
            "Left out answers that are not in their passage, and the question where it has no other "
            f"({_numbers(found, foreign)})."
        )
    if mended:
        notes.append(
            "Answers that do not begin where the file says were found elsewhere in their passage "
            f"({_numbers(found, mended)})."
        )
    if several:
        notes.append(
            f"Where an answer is in its passage more than once, the first place was taken ({_numbers(found, several)})."
        )
    if joined:
        notes.append(f"Joined {counted(joined, 'repeated question')} with the answers it had before.")
    if (read or foreign) and not any(answers for _, answers, _ in read.values()):
        where = f" ({_numbers(found, foreign)})" if foreign else ""
        raise InvalidInput(
            f"{found.name}: no question has an answer that is in its passage, letter by letter{where}. "
            "Copy answers exactly as they are in the passage."
        )
    return [
        Row(
            number,
            PassageQuestion(question, context, tuple(dict.fromkeys(answers))),
            (question, context),
            None,
            split,
            "answered" if answers else "not answered",
        )
        for (question, context), (number, answers, split) in read.items()
    ]


def _numbers(found: Rows, numbers: list[int]) -> str:
    """ "lines 3, 8, 9": the first few, each once."""
    each = list(dict.fromkeys(numbers))
    return f"{found.unit}{'s' if len(each) > 1 else ''} {files.first_few(each)}"


def _given(value: Any, start: Any) -> list[tuple[int | None, str]]:
    """Answers in any of the usual forms, without the empty ones: a text and its start, lists of both, or objects of
    ``text`` and ``answer_start``, as SQuAD has them.
    """
    if isinstance(value, dict):
        start = value.get("answer_start", start)
        value = value.get("text")
    texts: list[Any] = value if isinstance(value, list) else [value]
    starts: list[Any] = start if isinstance(start, list) else [start] * len(texts)
    found: list[tuple[int | None, str]] = []
    for text, at in itertools.zip_longest(texts, starts[: len(texts)]):
        said = text if isinstance(text, dict) else {"text": text, "answer_start": at}
        written, first = files.plain(said.get("text")), _first_character(files.plain(said.get("answer_start")).strip())
        if first is not None:
            first += len(written) - len(written.lstrip())
        if written.strip():
            found.append((first, written.strip()))
    return list(dict.fromkeys(found))


def _first_character(written: str) -> int | None:
    """None where nothing is said; -1, where nothing begins, for what is not a place in a text."""
    if not written:
        return None
    return int(written) if written.isascii() and written.isdigit() and len(written) < 10 else -1


def _nearest(context: str, answer: str, start: int) -> int:
    """Where the answer begins in the passage, as near to ``start`` as can be; -1 where it is not in it."""
    after = context.find(answer, max(start, 0))
    before = context.rfind(answer, 0, max(start, 0) + len(answer))
    return min((place for place in (before, after) if place >= 0), key=lambda place: abs(place - start), default=-1)


_READERS: Mapping[Kind, Callable[[Rows, list[str]], list[Row]]] = {
    "classification": _classification,
    "tagging": _tagging,
    "answering": _answering,
    "similarity": _similarity,
}


def _named(labels: Iterable[str]) -> str:
    """The first few labels, for a sentence."""
    each = list(labels)
    return ", ".join(f"“{shown(label)}”" for label in each[:5]) + (" …" if len(each) > 5 else "")


def _kinds_of(item: Item) -> set[str]:
    """The label of a text, or the types of the entities in a sentence."""
    if isinstance(item, Tagged):
        return {entities.type_of(tag) for tag in item.tags if tag != OUTSIDE}
    return {item.label} if isinstance(item, Labelled) else set()


def _check_labels(items: Sequence[Row], kind: Kind, name: str) -> None:
    """Raises InvalidInput for more labels than can be told apart, or too few examples of them."""
    counts = Counter(label for row in items for label in _kinds_of(row.item))
    if len(counts) > MOST_LABELS:
        what = "types of entities" if kind == "tagging" else "labels"
        raise InvalidInput(
            f"{name} has {len(counts):,} different {what}; at most {MOST_LABELS} can be told apart. This is likely the "
            "wrong column; if it holds numbers, put them into a few bins first."
        )
    if kind == "classification" and len(counts) > 1 and sum(n > 1 for n in counts.values()) < 2:
        most = ", ".join(f"“{shown(label)}” {n:,}" for label, n in counts.most_common(5))
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
        notes.append(f"In no item to train on, so that it cannot be learned: {_named(untaught)}.")
    if kind == "tagging":
        tags = {
            tag for split in SPLITS for row in usable[split] if isinstance(row.item, Tagged) for tag in row.item.tags
        }
        return (OUTSIDE, *sorted(tags - {OUTSIDE}, key=lambda tag: (entities.type_of(tag), tag)))
    single = sorted(label for label, n in total.items() if n == 1 and counts["train"][label])
    if single:
        notes.append(f"In one item only, which is to train on, so that no score covers it: {_named(single)}.")
    numbers = {label: number for label in total if (number := files.number(label)) is not None}
    if total and len(numbers) == len(total):
        notes.append("The labels are numbers; they are taken as names, without an order.")
        return tuple(sorted(total, key=lambda label: (numbers[label], label)))
    return tuple(sorted(total))


def _learnable(data: Data) -> Data:
    """The data itself. Raises InvalidInput where the items to train on are all alike."""
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
        )
    return data
