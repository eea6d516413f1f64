"""Entailment: does the first sentence say that the second is true, that it is false, or neither?

It is written from frames, in which something is so of one, is not so of another and is left open of a third, and from
the words that fill their slots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from tools.sets.writing import Deck, blocks, fill_template, generator, numbered, tables
from training.finetuning.data import SPLITS, Labelled, Split

LABELS: Final = ("contradiction", "entailment", "neutral")
_EACH: Final[Mapping[Split, tuple[int, int]]] = {"train": (1, 4), "dev": (1, 2), "test": (1, 2)}
"""Groups that a frame makes: one of three, and one of one."""
_DENIES: Final = 4
"""One group in so many denies in its hypotheses: where half of them did, embedded/bert learned what is open, but not
which of the other two is so.
"""
_NUMBERS: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_LABEL_OF: Final = {False: ("entailment", "contradiction", "neutral"), True: ("contradiction", "entailment", "neutral")}
"""What a hypothesis on {x}, {y} or {z} is, where it says what is so of {x}, and where it denies that."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Premises, and two hypotheses, each with a slot {x}. Filled with a premise's {x}, the ``affirmative`` one is true;
    with its {y}, the ``negative`` one; with its {z}, neither is known.

    {x}, {y} and {z} are of the pool ``of``; {a}, {b}, ... are the words of one entry of each of ``slots``, which names
    pools; {v} and {w} are other people; {low}, {mid} and {high} are numbers that rise.
    """

    phenomenon: str
    of: str
    slots: tuple[str, ...]
    premises: tuple[str, ...]
    affirmative: str
    negative: str


def _read(name: str) -> tuple[Frame, ...]:
    """The frames of a file. A block of it is: phenomenon | pool of {x}, {y}, {z} | pools of the slots; premises, a line
    each; the affirmative hypothesis; the negative one.
    """
    frames = []
    for head, *premises, affirmative, negative in blocks(f"inference_{name}"):
        phenomenon, of, *slots = (field.strip() for field in head.split("|"))
        frames.append(Frame(phenomenon, of, tuple(" ".join(slots).split()), tuple(premises), affirmative, negative))
    return tuple(frames)


FRAMES: Final[Mapping[Split, tuple[Frame, ...]]] = {split: _read(f"of_three_{split}") for split in SPLITS}
"""Frames that tell of three people or things."""

FRAMES_OF_ONE: Final[Mapping[Split, tuple[Frame, ...]]] = {split: _read(f"of_one_{split}") for split in SPLITS}
"""Frames that tell of one: of three things {x} is so, {y} is not so, and {z} is left open.

Each has two premises: in the first {x} stands before {y}, in the second {y} before {x}; one of them mentions {z}, the
other does not. So neither who comes first nor what is mentioned gives the answer away.
"""

POOLS: Final[Mapping[str, Mapping[str, str]]] = tables("inference")
"""By split and name: entries with commas between, the words of an entry with slashes."""


def _words(frame: Frame, decks: dict[str, Deck[str]], rng: np.random.Generator) -> dict[str, str]:
    """A word for each slot of a frame, no word twice."""
    drawn: list[str] = []
    for pool in (*[frame.of] * 3, *frame.slots, "names", "names"):
        drawn.append(decks[pool].draw(*drawn))
    words = dict(zip("xyz", drawn, strict=False)) | dict(zip("vw", drawn[-2:], strict=True))
    words |= dict(zip("abcd", "/".join(drawn[3:-2]).split("/"), strict=False))
    rising = sorted(rng.choice(len(_NUMBERS), 3, replace=False))
    return words | {slot: _NUMBERS[place] for slot, place in zip(("low", "mid", "high"), rising, strict=True)}


def _group(frame: Frame, premise: str, words: dict[str, str], denied: bool, cluster: str) -> list[Labelled]:
    """Nine pairs: {x}, {y} and {z} take all three places in turn, and each premise stands with each hypothesis.

    So every premise, and every hypothesis, has each label once.
    """
    three = [words[slot] for slot in "xyz"]
    turns = [words | dict(zip("xyz", three[turn:] + three[:turn], strict=True)) for turn in range(3)]
    premises = [fill_template(premise, turn) for turn in turns]
    hypotheses = [fill_template(frame.negative if denied else frame.affirmative, turn) for turn in turns]
    return [
        Labelled(premises[first], hypotheses[second], _LABEL_OF[denied][(second - first) % 3], cluster)
        for first, second in product(range(3), repeat=2)
    ]


def make_items(split: Split) -> list[tuple[int, Labelled]]:
    """All pairs, each with its number in the split; the nine of a group stand together."""
    rng = generator(split)
    decks = {name: Deck(rng, pool.split(", ")) for name, pool in POOLS[split].items()}
    items: dict[tuple[str, str | None], Labelled] = {}
    of_three, of_one = _EACH[split]
    frames = [*((frame, of_three) for frame in FRAMES[split]), *((frame, of_one) for frame in FRAMES_OF_ONE[split])]
    for number, (frame, n) in enumerate(frames, 1):
        made = 0
        while made < n:
            denied = (number + made) % _DENIES == 0
            premise = frame.premises[(made + number // _DENIES) % len(frame.premises)]
            group = _group(frame, premise, _words(frame, decks, rng), denied, f"{split} {number}: {frame.phenomenon}")
            if items.keys().isdisjoint((item.text, item.pair) for item in group):
                items |= {(item.text, item.pair): item for item in group}
                made += 1
    return numbered(rng, tuple(items.values()))
