"""What the entailment set is written from: frames, in which something is so of one, is not so of another and is left
open of a third, and the words that fill their slots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tools.sets.writing import blocks, tables
from training.finetuning.data import SPLITS, Split


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
