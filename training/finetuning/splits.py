"""Which of the visitor's items are for training, development and test: no item twice, no leak, and not too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.corpus.sentences import alike
from analysis.probing.data import DEV, TEST, TRAIN, random_split, with_split
from model_zoo.errors import InvalidInput
from model_zoo.types import IntArray, counted
from training.finetuning.data import SPLITS, USES, Item, Kind, Split

DEV_SHARE, TEST_SHARE = 0.1, 0.2
MOST: Mapping[Split, int] = {"train": 2000, "dev": 500, "test": 500}
"""Items in a split; of more, a sample is drawn. Two cores take all weights through so many in a few minutes."""
FEWEST_GROUPS = 3
FEWEST_FIRST_TEXTS = 10

_NUMBER: Mapping[Split, int] = {"train": TRAIN, "dev": DEV, "test": TEST}


@dataclass(frozen=True, slots=True)
class Row:
    """An item and the number of its line. Items of the same ``key`` are the same but for what they are labelled with,
    their ``gold``. ``split`` is that of the file, None where it names none. Samples hold every ``stratum`` in
    proportion.
    """

    number: int
    item: Item
    key: tuple[str, ...]
    gold: Hashable
    split: Split | None
    stratum: str


SplitRows = dict[Split, list[Row]]


def unrepeated(rows: Sequence[Row], noun: str, notes: list[str]) -> list[Row]:
    """Each item once, in the split that is held out the most, without the items that the file labels in two ways."""
    first: dict[tuple[str, ...], Row] = {}
    golds: dict[tuple[str, ...], set[Hashable]] = {}
    for row in rows:
        before = first.setdefault(row.key, row)
        if before.split != row.split:
            first[row.key] = replace(before, split=most_held_out((before.split, row.split)))
        golds.setdefault(row.key, set()).add(row.gold)
    unsure = {key for key, several in golds.items() if len(several) > 1}
    repeated = sum(row.key not in unsure for row in rows) - (len(first) - len(unsure))
    if unsure:
        notes.append(f"Left out {counted(len(unsure), noun)} labelled in more than one way.")
    if repeated:
        notes.append(f"Left out {counted(repeated, f'repeated {noun}')}.")
    return [row for row in first.values() if row.key not in unsure]


def drawn(rows: Sequence[Row], kind: Kind, name: str, seed: int, notes: list[str]) -> SplitRows:
    """The rows in their splits: those of the file, or at random by the seed, every label in proportion.

    Texts that are alike but for case and spaces are always in one split: of a file's own splits, in the one that is
    held out the most. At random, questions on one passage stay together, too, and pairs with the same first text,
    unless there are too few different ones. Raises InvalidInput where there is too little to be divided.
    """
    unnamed = [row for row in rows if row.split is None]
    if unnamed and len(unnamed) < len(rows):
        raise InvalidInput(
            f"{name}, line {unnamed[0].number:,}: this line names no split, and others do. Write train, dev or test "
            "into each, or into none."
        )
    groups, noun = _groups(rows, kind)
    if unnamed:
        n_groups = len(set(map(alike, groups)))
        if n_groups < FEWEST_GROUPS:
            raise InvalidInput(
                f"{name} has {counted(n_groups, f'different {noun}')}, case and spaces aside, and none may be in "
                f"two splits: at least {FEWEST_GROUPS} are needed. Add others, or a column “split” with train, dev "
                "and test."
            )
        strata = [row.stratum if kind == "classification" else "" for row in rows]
        number = random_split(groups, strata, seed, dev=DEV_SHARE, test=TEST_SHARE)
    else:
        number = _splits_of_file(rows, seed, notes)
        if kind == "answering" or rows[0].item.pair is not None:
            _note_shared(groups, number.tolist(), noun, notes)
    return {split: [row for row, of in zip(rows, number, strict=True) if of == _NUMBER[split]] for split in SPLITS}


def _groups(rows: Sequence[Row], kind: Kind) -> tuple[list[str], str]:
    """What each row must share its split with, and what that is called."""
    if kind == "answering":
        return [str(row.item.pair) for row in rows], "passage"
    first = [row.item.text for row in rows]
    if all(row.item.pair is None for row in rows):
        return first, "text"
    if len(set(map(alike, first))) >= FEWEST_FIRST_TEXTS:
        return first, "first text"
    return ["\n".join(row.key) for row in rows], "pair"


def most_held_out(named: Iterable[Split | None]) -> Split | None:
    """Of the splits that an item is named for in several lines the one that is held out the most."""
    return max((split for split in named if split is not None), key=SPLITS.index, default=None)


def _splits_of_file(rows: Sequence[Row], seed: int, notes: list[str]) -> IntArray:
    """The splits of the file, each text in one of them; one that it lacks is taken out of its training split."""
    keys = [alike("\n".join(row.key)) for row in rows]
    named: dict[str, set[Split]] = {}
    for key, row in zip(keys, rows, strict=True):
        if row.split is not None:
            named.setdefault(key, set()).add(row.split)
    several = sum(len(splits) > 1 for splits in named.values())
    if several:
        notes.append(
            f"In more than one split, case and spaces aside: {counted(several, 'text')}, kept in the held-out split "
            "only."
        )
    number = np.array([_NUMBER[most_held_out(named[key]) or "train"] for key in keys], dtype=np.int64)
    rng = np.random.default_rng(seed)
    lacking: tuple[tuple[Split, float, str], ...] = (
        ("test", TEST_SHARE / (1 - DEV_SHARE), "test on"),
        ("dev", DEV_SHARE / (1 - TEST_SHARE), "choose by"),
    )
    for split, share, use in lacking:
        if not (number == _NUMBER[split]).any() and (number == TRAIN).any():
            number = with_split(keys, number, _NUMBER[split], share, rng)
            notes.append(f"The file has no split to {use}: {share:.0%} of its training split takes its place.")
    return number


def _note_shared(groups: Sequence[str], number: Sequence[int], noun: str, notes: list[str]) -> None:
    splits_of: dict[str, set[int]] = {}
    for group, split in zip(groups, number, strict=True):
        splits_of.setdefault(group, set()).add(split)
    shared = sum(len(splits) > 1 for splits in splits_of.values())
    if shared and noun != "pair":
        verb = "is" if shared == 1 else "are"
        notes.append(
            f"As the file has it, {counted(shared, noun)} {verb} in more than one split: scores can come out too high."
        )


def sampled(rows: SplitRows, seed: int, notes: list[str]) -> SplitRows:
    """At most ``MOST`` items in each split, drawn by the seed: every stratum in proportion, with none left out."""
    sample = {split: _sample(of, MOST[split], np.random.default_rng(seed)) for split, of in rows.items()}
    total = sum(map(len, rows.values()))
    if sum(map(len, sample.values())) < total:
        uses = ", ".join(f"{len(sample[split]):,} to {use}" for split, use in USES.items())
        notes.append(f"Of {total:,} usable items a sample is used, drawn by the seed: {uses}.")
    return sample


def _sample(rows: list[Row], most: int, rng: np.random.Generator) -> list[Row]:
    if len(rows) <= most:
        return rows
    sizes = Counter(row.stratum for row in rows)
    seen: Counter[str] = Counter()
    turns = []
    for place in rng.permutation(len(rows)).tolist():
        stratum = rows[place].stratum
        turns.append((seen[stratum] / sizes[stratum], place))  # the first of each comes before all others
        seen[stratum] += 1
    return [rows[place] for place in sorted(place for _, place in sorted(turns)[:most])]
