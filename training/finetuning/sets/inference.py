"""Entailment: does the first sentence say that the second is true, that it is false, or neither?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from training.finetuning.data import PARTS, BuiltIn, Labelled, Part
from training.finetuning.writing import Deck, shuffled, written

LABELS: Final = ("contradiction", "entailment", "neutral")
_SEED = 15


@dataclass(frozen=True, slots=True)
class Frame:
    """A hypothesis, and a premise for each label (in their order): every hypothesis stands once with each of them.

    {x} and {y} are two people, {a}, {b}, ... the words of one of the ``rows``: "move/moved box, open/opened door".
    """

    hypothesis: str
    contradiction: str
    entailment: str
    neutral: str
    rows: str = ""


_DEEDS = "open/opened/window, repair/repaired/bicycle, climb/climbed/wall, catch/caught/ball, solve/solved/puzzle"
_ROOMS = "kitchen/garden, office/canteen, library/gym, garage/bedroom"
_KINDS = "rose/flower, hammer/tool, violin/instrument, apple/fruit, puppy/dog, chair/piece of furniture"
_GROUPS = "students/bus, teachers/train, players/boat, workers/taxi, actors/plane, tourists/tram, judges/ferry"
_SALES = "car, camera, guitar, tent, lamp, horse"
_STATES = (
    "shop/open/closed, bottle/full/empty, towel/wet/dry, glass/clean/dirty, street/wide/narrow, box/heavy/light, "
    "room/warm/cold"
)

_TRAIN = (
    Frame(
        "{x} {b} the {c}.",
        "{x} failed to {a} the {c}.",
        "{x} managed to {a} the {c}.",
        "{x} tried to {a} the {c}.",
        _DEEDS,
    ),
    Frame(
        "{x} did not {a} the {c}.",
        "{x} managed to {a} the {c}.",
        "{x} failed to {a} the {c}.",
        "{x} tried to {a} the {c}.",
        _DEEDS,
    ),
    Frame(
        "{x} tried to {a} the {c}.",
        "{x} did not even try to {a} the {c}.",
        "{x} tried in vain to {a} the {c}.",
        "{x} was asked to {a} the {c}.",
        _DEEDS,
    ),
    Frame(
        "{y} is younger than {x}.",
        "{y} is older than {x}.",
        "{x} is older than {y}.",
        "{x} is taller than {y}.",
    ),
    Frame(
        "{x} is taller than {y}.",
        "{x} is shorter than {y}.",
        "{y} is shorter than {x}.",
        "{x} is older than {y}.",
    ),
    Frame(
        "{x} is in the {a}.",
        "{y} is in the {a}, but {x} has gone to the {b}.",
        "{x} and {y} are both in the {a}.",
        "{x} is either in the {a} or in the {b}.",
        _ROOMS,
    ),
    Frame(
        "{x} is not in the {a}.",
        "{x} is in the {a} and {y} is in the {b}.",
        "{x} has gone from the {a} to the {b}.",
        "{y} has gone from the {a} to the {b}.",
        _ROOMS,
    ),
    Frame(
        "{x} bought a {b} at the market.",
        "{x} went to the market but bought nothing there.",
        "{x} bought a {a} at the market.",
        "{x} looked at a {a} at the market.",
        _KINDS,
    ),
    Frame(
        "{x} bought nothing at the market.",
        "{x} bought a {a} at the market.",
        "{x} went to the market but bought nothing there.",
        "{x} looked at a {a} at the market.",
        _KINDS,
    ),
    Frame(
        "Some of the {a} were late.",
        "All of the {a} came on time.",
        "Most of the {a} were late.",
        "All of the {a} came by {b}.",
        _GROUPS,
    ),
    Frame(
        "All of the {a} came on time.",
        "Most of the {a} came late.",
        "Not one of the {a} was late.",
        "Most of the {a} came by {b}.",
        _GROUPS,
    ),
    Frame(
        "{y} bought a {a} from {x}.",
        "{y} has never bought anything from {x}.",
        "{x} sold a {a} to {y}.",
        "{x} showed a {a} to {y}.",
        _SALES,
    ),
    Frame(
        "{x} does not own a {a}.",
        "{x} is the owner of a {a}.",
        "{x} has never had a {a}.",
        "{x} wants to own a {a}.",
        _SALES,
    ),
    Frame(
        "{x} arrived after {y}.",
        "{x} arrived before {y}.",
        "{y} arrived before {x}.",
        "{x} and {y} arrived on the same day.",
    ),
    Frame(
        "{x} arrived earlier than {y}.",
        "When {x} arrived, {y} was already there.",
        "When {y} arrived, {x} was already there.",
        "{x} was there when {y} was there.",
    ),
    Frame(
        "The {a} is {b}.",
        "{x} noticed that the {a} is {c}.",
        "{x} noticed that the {a} is {b}.",
        "{x} asked whether the {a} is {b}.",
        _STATES,
    ),
    Frame(
        "The {a} is not {c}.",
        "As {x} knows, the {a} is {c}.",
        "As {x} knows, the {a} is {b}.",
        "{x} hopes that the {a} is {b}.",
        _STATES,
    ),
    Frame(
        "The {a}.",
        "{x} wrongly believes that the {a}.",
        "{x} is glad that the {a}.",
        "{x} believes that the {a}.",
        "lake is frozen, exam is over, museum is free, road is safe, tea is ready, snow has melted, oven is hot",
    ),
    Frame(
        "{x} works at the {a}.",
        "{x} no longer works at the {a}.",
        "{x} still works at the {a}.",
        "{x} lives near the {a}.",
        "bank, airport, hospital, bakery, zoo, station",
    ),
    Frame(
        "{y} ate some of the {a}.",
        "{x} ate the whole {a} before {y} came.",
        "{x} and {y} ate the whole {a} together.",
        "{x} ate some of the {a} before {y} came.",
        "cake, pizza, pie, melon, soup",
    ),
)

_DEV = (
    Frame(
        "{x} {b} {y}'s {c}.",
        "{x} forgot to {a} {y}'s {c}.",
        "{x} remembered to {a} {y}'s {c}.",
        "{x} planned to {a} {y}'s {c}.",
        "lock/locked/door, post/posted/card, water/watered/plants, sign/signed/contract",
    ),
    Frame(
        "{x} weighs less than {y}.",
        "{y} weighs less than {x}.",
        "{y} weighs more than {x}.",
        "{x} talks more than {y}.",
    ),
    Frame(
        "{x} is wearing a {b}.",
        "{x} is not wearing any {b}.",
        "{x} is wearing a {a} {b}.",
        "{x} is holding a {a} {b}.",
        "red/jacket, blue/scarf, green/hat, black/coat",
    ),
    Frame(
        "{x} sat to the left of {y}.",
        "{x} sat to the right of {y}.",
        "{y} sat to the right of {x}.",
        "{y} sat next to {x}.",
    ),
    Frame(
        "{x} lost a game of {a} against {y}.",
        "{x} has not lost any game of {a}.",
        "{y} beat {x} in a game of {a}.",
        "{y} wished for a game of {a} with {x}.",
        "chess, tennis, cards, golf",
    ),
)

_TEST = (
    Frame(
        "{x} {b} the {d} on {e}.",
        "On {e} {x} refused to {a} the {d}.",
        "On {e} {x} succeeded in {c} the {d}.",
        "On {e} {x} intended to {a} the {d}.",
        "finish/finished/finishing/report/Monday, fix/fixed/fixing/radio/Friday, hide/hid/hiding/money/Tuesday, "
        "cross/crossed/crossing/desert/Sunday",
    ),
    Frame(
        "{x} never {b} the {d}.",
        "With {y}'s help {x} succeeded in {c} the {d}.",
        "Even with {y}'s help {x} was unable to {a} the {d}.",
        "{x} promised {y} to {a} the {d}.",
        "pay/paid/paying/bill, fix/fixed/fixing/engine, reach/reached/reaching/summit, win/won/winning/prize",
    ),
    Frame(
        "{x} can {a} faster than {y}.",
        "{y} can {a} faster than {x}.",
        "{y} {b} more slowly than {x}.",
        "{x} {b} more often than {y}.",
        "run/runs, swim/swims, type/types, drive/drives",
    ),
    Frame(
        "{x} often draws {b}.",
        "{x} never draws anything.",
        "{x} often draws {a}.",
        "{x} often watches {a}.",
        "sparrows/birds, oaks/trees, bees/insects, castles/buildings",
    ),
    Frame(
        "Every {a} {c}.",
        "At least one {a} did not {b}.",
        "There was no {a} who did not {b}.",
        "At least one {a} {c}.",
        "guest/dance/danced, visitor/complain/complained, child/laugh/laughed, singer/bow/bowed",
    ),
    Frame(
        "{y} has borrowed {x}'s {a}.",
        "{x} has never lent {y} any {a}.",
        "{x} has lent {y} a {a}.",
        "{x} has a {a}, and so has {y}.",
        "knife, dictionary, suitcase, blanket",
    ),
    Frame(
        "The {a}.",
        "It is a lie that the {a}.",
        "{x} realized that the {a}.",
        "{x} suspected that the {a}.",
        "bridge was broken, king was ill, ship was sinking, concert was canceled",
    ),
    Frame(
        "{x} is alone in the {a}.",
        "{x} is with {y} in the {a}.",
        "Nobody is with {x} in the {a}.",
        "{x} is in the {a}, and {y} is not.",
        "cellar, attic, stable, cabin",
    ),
    Frame(
        "The {a} was expensive.",
        "The {a} cost {x} very little.",
        "The {a} cost {x} a fortune.",
        "The {a} was a gift from {y}.",
        "ring, vase, carpet, mirror",
    ),
    Frame(
        "The {a} was inexpensive.",
        "The {a} cost {x} a fortune.",
        "The {a} cost {x} very little.",
        "The {a} was a gift from {y}.",
        "ring, necklace, painting, sofa",
    ),
)

_FRAMES: Final = {"train": _TRAIN, "dev": _DEV, "test": _TEST}
_EACH: Final = {"train": 7, "dev": 4, "test": 4}
_NAMES: Final = {
    "train": "Anna Peter Maria Tom Lucy David Sarah Paul Nina Mark",
    "dev": "Helen Oscar Ruth Victor",
    "test": "Emma Daniel Laura Simon Clara Martin",
}


def _part(part: Part) -> tuple[Labelled, ...]:
    rng = np.random.default_rng([_SEED, PARTS.index(part)])
    names = Deck(rng, _NAMES[part].split())
    items: list[Labelled] = []
    for frame in _FRAMES[part]:
        rows = Deck(rng, frame.rows.split(", "))
        met: set[str] = set()
        while len(met) < _EACH[part]:
            name = names.draw()
            words = dict(zip("abcde", rows.draw().split("/"), strict=False))
            words |= {"x": name, "y": names.draw(name)}
            hypothesis = written(frame.hypothesis, words)
            if hypothesis not in met:
                met.add(hypothesis)
                items += [
                    Labelled(written(premise, words), hypothesis, label)
                    for label, premise in zip(
                        LABELS, (frame.contradiction, frame.entailment, frame.neutral), strict=True
                    )
                ]
    return shuffled(rng, items)


SET = BuiltIn(
    name="inference",
    title="Entailment",
    kind="classification",
    question="Does the second sentence follow from the first, contradict it, or neither?",
    card="""\
**600 pairs** of a premise and a hypothesis, written for this project from 35 frames: 420 to train on, 60 for
development, 120 for the test. The frames are on trying and managing, comparing, kinds of things, “all” and “some”,
before and after, buying and selling, knowing and believing, and opposites.

**Balance.** A third of each part has each label. Every hypothesis stands with three premises, one for each label: the
second sentence alone says nothing about the answer. Premises are reused, too (“Tom managed to open the window” entails
that he opened it and contradicts that he did not), but a premise alone can still hint at it: “wants to”, for
example, mostly leaves things open.

**How the parts are kept apart.** No frame is used in two parts, and the parts share only function words: verbs, nouns,
adjectives and names are all different. What is learnt from “managed” and “failed” has to carry over to “succeeded” and
“refused”.

**What it cannot show.** This is a small and neat sample of inference: short sentences, one step, no knowledge of the
world beyond what words mean. Everything is taken in its plain sense: “some” does not exclude “all”. 420 pairs are few
to learn this from: a small model may hardly do better than chance (a third) on the test.
""",
    part=_part,
    labels=LABELS,
    measure="accuracy",
    tries=(
        ("Nobody in the village has a telephone.", "Everybody in the village has a telephone."),
        ("The cat chased the mouse under the bed.", "An animal was under the bed."),
        ("George wrote to his mother.", "George wrote a long letter."),
        ("The blue boat is longer than the white boat.", "The white boat is shorter than the blue boat."),
    ),
)
