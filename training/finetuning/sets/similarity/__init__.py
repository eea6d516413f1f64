"""Similarity: pairs of sentences scored from 0 to 5 by how much of what they say is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Final

from training.finetuning.data import SPLITS, BuiltIn, Scored, Split
from training.finetuning.writing import blocks, generator, shuffled

_PER_SCORE: Final[Mapping[Split, int]] = {"train": 35, "dev": 10, "test": 10}


@dataclass(frozen=True, slots=True)
class Scene:
    """One thing that happens, in several wordings.

    ``said`` and ``again`` say the same (5). ``detail`` leaves out or adds something small (4). ``other`` has the same
    people doing something else of the kind, or something important changed (3). ``shares`` has some details in common
    (2). ``topic`` is about the same topic alone (1).
    """

    said: str
    again: str
    detail: str
    other: str
    shares: str
    topic: str


SCENES: Final[Mapping[Split, tuple[Scene, ...]]] = {
    split: tuple(Scene(*wordings) for wordings in blocks(__file__, split)) for split in SPLITS
}
"""Each split has a file, ``train.txt`` and so on, with a scene a block and a wording a line."""


def _candidates(score: int, scenes: Sequence[Scene]) -> list[tuple[str, str]]:
    """The pairs of one score, those that are used first in front."""
    if score == 0:
        n = len(scenes)
        apart = [(scenes[place], scenes[(place + step) % n]) for step in range(1, n) for place in range(n)]
        return [(one.said, other.again if place % 2 else other.said) for place, (one, other) in enumerate(apart)]
    if score == 5:
        return [(each.said, each.again) for each in scenes] + [(each.again, each.said) for each in scenes]
    second = [(each, (each.topic, each.shares, each.other, each.detail)[score - 1]) for each in scenes]
    firsts = [[(each.said, text) for each, text in second], [(text, each.again) for each, text in second]]
    if score < 4:
        firsts.append([(each.detail, text) for each, text in second])
    return [pair for pairs in firsts for pair in pairs]


def _items(split: Split) -> tuple[Scored, ...]:
    rng = generator(split)
    scenes = shuffled(rng, SCENES[split])
    scene_of = {text: scene.said for scene in scenes for text in astuple(scene)}
    items = [
        Scored(first, second, float(score), scene_of[first])
        for score in range(6)
        for first, second in _candidates(score, scenes)[: _PER_SCORE[split]]
    ]
    return shuffled(rng, items)


SET = BuiltIn(
    name="similarity",
    title="Similarity",
    kind="similarity",
    question="How much of what two sentences say is the same?",
    card="""\
**330 pairs** of sentences written for this project around 40 small scenes: 210 to train on, 60 for development, 60 for
the test. Scores follow a rule. **5**: the same in other words. **4**: the same but for an unimportant detail. **3**:
something important is different. **2**: a few details are shared. **1**: the topic alone. **0**: nothing.

**Balance.** A sixth of each split has each score. Words in common do not give the score away: pairs of 5 share few of
them and pairs of 3 many. Over all pairs the rank correlation of the score with the share of words in common (Jaccard)
is 0.28 in the training split, 0.42 in the development split and 0.48 in the test, most of it because pairs of 0 and 1
share hardly any.

**How the splits are kept apart.** A scene and its sentences are in one split only, and scenes of different splits are
about different things. A sentence occurs in several pairs of its split, and in the training split some pairs of 5 in
both orders. The development split is made like the test: of ten scenes, six pairs each.

**What it cannot show.** The scores come from a rule, not from the judgements of many people, the sentences are short,
and nothing depends on a wider context.
""",
    items=_items,
    measure="spearman",
    tries=(
        ("A chef is tasting the sauce.", "The cook tries a spoonful of gravy."),
        ("The museum is open on holidays.", "The museum is closed on holidays."),
        ("A carpenter is sawing a board.", "A carpenter is carrying a ladder."),
        ("The moon is full tonight.", "Potatoes should not be stored in the light."),
    ),
)
