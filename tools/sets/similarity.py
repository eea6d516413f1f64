"""Similarity: pairs of sentences scored from 0 to 5 by how much of what they say is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Final

from tools.sets.writing import blocks, generator, numbered, shuffled
from training.finetuning.data import SPLITS, Scored, Split

_PER_SCORE: Final[Mapping[Split, int]] = {"train": 35, "dev": 10, "test": 10}


@dataclass(frozen=True, slots=True)
class Scene:
    """One thing that happens, in several wordings.

    ``text`` and ``again`` say the same (5). ``detail`` leaves out or adds something small (4). ``other`` has the same
    people doing something else of the kind, or something important changed (3). ``shares`` has some details in common
    (2). ``topic`` is about the same topic alone (1).
    """

    text: str
    again: str
    detail: str
    other: str
    shares: str
    topic: str


SCENES: Final[Mapping[Split, tuple[Scene, ...]]] = {
    split: tuple(Scene(*wordings) for wordings in blocks(f"similarity_{split}")) for split in SPLITS
}
"""Each split has a file, ``similarity_train.txt`` and so on, with a scene a block and a wording a line."""


def _candidates(score: int, scenes: Sequence[Scene]) -> list[tuple[str, str]]:
    """The pairs of one score, those that are used first in front."""
    if score == 0:
        n = len(scenes)
        apart = [(scenes[place], scenes[(place + step) % n]) for step in range(1, n) for place in range(n)]
        return [(first.text, other.again if place % 2 else other.text) for place, (first, other) in enumerate(apart)]
    if score == 5:
        return [(scene.text, scene.again) for scene in scenes] + [(scene.again, scene.text) for scene in scenes]
    second = [(scene, (scene.topic, scene.shares, scene.other, scene.detail)[score - 1]) for scene in scenes]
    firsts = [[(scene.text, text) for scene, text in second], [(text, scene.again) for scene, text in second]]
    if score < 4:
        firsts.append([(scene.detail, text) for scene, text in second])
    return [pair for pairs in firsts for pair in pairs]


def make_items(split: Split) -> list[tuple[int, Scored]]:
    """All pairs, each with its number in the split, from score 0 to 5."""
    rng = generator(split)
    scenes = shuffled(rng, SCENES[split])
    scene_of = {text: scene.text for scene in scenes for text in astuple(scene)}
    items = [
        Scored(first, second, float(score), scene_of[first])
        for score in range(6)
        for first, second in _candidates(score, scenes)[: _PER_SCORE[split]]
    ]
    return numbered(rng, items)
