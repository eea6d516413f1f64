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

import pandas as pd

from analysis.words import Unit
from model_zoo.types import Change, Effects, Prediction

UNNOTICED = 0.1
"""Bits: an effect below this changes a probability by less than a fourteenth, which nobody sees."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """The effect of hiding a word on the probability of one token at a mask: ``before`` and ``after``, from 0 to 1; and
    the model's top prediction then.
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


def each_hidden(words: Iterable[Unit]) -> tuple[Change, ...]:
    """The changes that the engine is asked about: one for each word, in which all its tokens are hidden."""
    return tuple(Change(hidden=tuple(range(word.start, word.stop))) for word in words)


def erasures(words: Sequence[Unit], effects: Sequence[Effects], followed: Prediction) -> tuple[Erasure, ...]:
    """The effect of hiding each word by itself on ``followed``, which is the target of the effects or its foil; the
    effects are of all words together, in their order.
    """
    readings = [(part.answer, reading) for part in effects for reading in part.readings]
    rows = []
    for word, (answer, reading) in zip(words, readings, strict=True):
        log = reading.log_probability if answer.id == followed.id else reading.foil_log_probability
        assert log is not None
        rows.append(Erasure(word, followed.probability, math.exp(log), reading.best[0]))
    return tuple(rows)


def table(effects: Iterable[Erasure]) -> pd.DataFrame:
    """One row a word: without (the word), first_token, last_token (from 0), p_before, p_after, bits_lost, and the
    prediction without it with its prediction_probability.
    """
    return pd.DataFrame(
        [
            {
                "without": effect.word.label,
                "first_token": effect.word.start,
                "last_token": effect.word.stop - 1,
                "p_before": effect.before,
                "p_after": effect.after,
                "bits_lost": effect.bits,
                "prediction": effect.guess.token,
                "prediction_probability": effect.guess.probability,
            }
            for effect in effects
        ]
    )


def ranked(effects: Iterable[Erasure]) -> list[Erasure]:
    """The largest effects first, whether they lower or raise the probability."""
    return sorted(effects, key=lambda effect: -abs(effect.bits))
