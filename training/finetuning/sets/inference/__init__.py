"""Entailment: does the first sentence say that the second is true, that it is false, or neither?"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Final

import numpy as np

from training.finetuning.data import BuiltIn, Labelled, Split
from training.finetuning.sets.inference.frames import FRAMES, FRAMES_OF_ONE, POOLS, Frame
from training.finetuning.writing import Deck, generator, shuffled, written

LABELS: Final = ("contradiction", "entailment", "neutral")
_EACH: Final[Mapping[Split, tuple[int, int]]] = {"train": (1, 4), "dev": (1, 2), "test": (1, 2)}
"""Groups that a frame makes: one of three, and one of one."""
_DENIES: Final = 4
"""One group in so many denies in its hypotheses: where half of them did, embedded/bert learned what is open, but not
which of the other two is so.
"""
_NUMBERS: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SAID: Final = {False: ("entailment", "contradiction", "neutral"), True: ("contradiction", "entailment", "neutral")}
"""What a hypothesis on {x}, {y} or {z} is, where it says what is so of {x}, and where it denies that."""


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
    premises = [written(premise, turn) for turn in turns]
    hypotheses = [written(frame.negative if denied else frame.affirmative, turn) for turn in turns]
    return [
        Labelled(premises[one], hypotheses[other], _SAID[denied][(other - one) % 3], cluster)
        for one, other in product(range(3), repeat=2)
    ]


def _items(split: Split) -> tuple[Labelled, ...]:
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
    return shuffled(rng, tuple(items.values()))


SET = BuiltIn(
    name="inference",
    title="Entailment",
    kind="classification",
    question="Does the second sentence follow from the first, contradict it, or neither?",
    card="""\
**4,464 pairs** of a premise and a hypothesis, written for this project from 271 frames: 3,015 to train on, 486 for
development, 963 for the test. In each premise one thing is so, one is not so, and one is left open. In two thirds of
the pairs all three are about one person, or about nobody: “Lucy has a camera, talks about a tent, and has no violin.”
In the others they are about three people: “Anna managed to open the box, Tom failed to, and Lucy tried to.” That Anna
opened it follows, that Tom opened it is false, and whether Lucy did is unknown. These are harder, because the names
have to be told apart. The frames are on negation, time and order, relative clauses and what goes with what, comparison,
“and”, “or” and “neither”, what may be and what is known, “if”, “because”, “all” and “some”, active and passive, buying
and lending, trying and managing, place, numbers, kinds of things, and opposites. A quarter of the hypotheses deny.

**Balance.** The three take all places in turn, and every premise is paired with every hypothesis of its group: each
premise, and each hypothesis, has each of the three labels once. So neither sentence by itself says anything about the
label, nor do the words of both without their order: n-grams of either or of both get a third of the test right. Each
frame about one person has two premises: what is so comes first in one, what is not so in the other, and one of them
mentions what is open. What is not mentioned is always open: a rule that knows what is asked about and checks whether
the premise mentions it gets 45% right; one that also uses its place gets 42%, and counts of shared words get 45%. Only
a model that does better than that can be said to infer.

**How the splits are kept apart.** No frame is used in two splits. The words that fill the slots (names, nouns,
adjectives, verbs) occur nowhere in another split. The words that frames are made of are shared in part, on purpose:
besides function words these are some ninety words such as “older”, “managed”, “false” or “asked”, on which the
inference rests. What a model learns about them has to carry over to other sentences.
The development split is of the same kind as the test, with half as many frames.

**What it cannot show.** This is a tidy sample of inference: short sentences, one step, no knowledge of the world beyond
the meaning of words. Everything is meant literally: “some” does not exclude “all”, and a person who tried may have
managed. The authors saw the scores of the bundled Small BERT, on the test split too, and changed the set because of
them: with three people only it got 37% right, so the frames about one person were added; when half of the hypotheses
denied something it never predicted that anything follows, so now a quarter do; and what gave the label away before
(which thing comes first, and whether it is mentioned) was balanced.
""",
    items=_items,
    labels=LABELS,
    tries=(
        ("Nobody in the valley has a phone.", "Everybody in the valley has a phone."),
        ("Alfred forgave Rosa, Hugo did not, and nobody has heard from Irene.", "Alfred forgave Rosa."),
        ("George wrote to his mother.", "George wrote a long letter."),
        ("The blue truck is longer than the white truck.", "The white truck is shorter than the blue truck."),
    ),
)
