"""Why this word: what each other word does for a prediction, measured by hiding that word as well (erasure).

Li, Monroe and Jurafsky 2016, "Understanding Neural Networks through Representation Erasure": the importance of a part
of the input is what the log-likelihood of the answer loses without it. Here the part is a word, and it is replaced by
masks, which a masked-word model knows from its training. It is a measure and no full explanation: a sentence without a
word is another sentence, and of two words that say the same either can go without an effect.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from analysis.words import Unit
from model_zoo.types import MaskPrediction, Prediction

UNNOTICED = 0.1
"""Bits: an effect below this changes a probability by less than a fourteenth, which nobody sees."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """What hiding a word does to the probability of one token at a mask: ``before`` and ``after``, from 0 to 1; and
    what the model puts first then.
    """

    word: Unit
    before: float
    after: float
    guess: Prediction

    @property
    def bits(self) -> float:
        """What log2 P loses without the word, as occlusion counts it: 1 where P is halved, above 0 for a word that
        supports the token, below for one that opposes it. A probability that rounds to 0 is taken for a tiny one.
        """
        return math.log2(max(self.before, _TINIEST) / max(self.after, _TINIEST))


_TINIEST = 1e-30  # a probability that float32 can still hold


def erasable(units: Iterable[Unit], masks: Collection[int]) -> tuple[Unit, ...]:
    """The words that can be hidden as well: all but the special tokens and those with a mask at one of ``masks``."""
    hidden = set(masks)
    return tuple(unit for unit in units if not unit.special and hidden.isdisjoint(range(unit.start, unit.stop)))


def erasures(
    words: Sequence[Unit], answers: Sequence[Sequence[MaskPrediction]], position: int, followed: Prediction
) -> tuple[Erasure, ...]:
    """The effects, word by word, on the token ``followed`` (with its probability before) of the mask at ``position``.

    ``answers`` are those of all masks while a word is hidden, with the token among their targets.
    """
    found = []
    for word, of_word in zip(words, answers, strict=True):
        answer = next(one for one in of_word if one.position == position)
        target = next(one for one in answer.targets if one.id == followed.id)
        found.append(Erasure(word, followed.probability, target.probability, answer.best[0]))
    return tuple(found)


def ranked(effects: Iterable[Erasure]) -> list[Erasure]:
    """The largest effects first, whether they lower or raise the probability."""
    return sorted(effects, key=lambda effect: -abs(effect.bits))
