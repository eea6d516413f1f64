"""Every explanation of one answer put to the test, for one sentence, and for built-in ones: a job."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

import numpy as np
import pandas as pd

from analysis import explanations
from analysis.explanations import Area, Way
from analysis.words import Unit, word_units
from jobs.job import StagedJob
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.heldout import spread_pairs
from model_zoo.questions.attribute import Attribute
from model_zoo.questions.intervene import Intervene
from model_zoo.types import (
    METHODS,
    Attribution,
    Change,
    DoubleArray,
    Effects,
    Encoding,
    Measure,
    Shows,
    TargetAnswer,
    counted,
)

NEARNESS: Final = "nearness"
RANDOM: Final = "random order"
ORDERS: Final = (*METHODS, NEARNESS, RANDOM)
"""Everything that ranks words: the methods, and what they have to beat."""
WAYS: Final[tuple[Way, Way]] = ("deletion", "insertion")
N_SENTENCES: Final = 100
_IN_UNITS: Final = ("occlusion", "gradient x input", "integrated gradients")
"""Methods whose scores are parts of the measure."""
_RANDOM_ORDERS: Final = 5


@dataclass(slots=True, repr=False)
class Explained(Shows):
    """What each method says of one answer, a number a unit, and what came of hiding those units that are words (their
    places are ``words``) in its order: ``curves`` (words + 1,) by ``ORDERS`` and way. ``failures`` say why a method
    says nothing of this model; ``sums`` are the attributions by methods that promise a sum.
    """

    units: tuple[Unit, ...]
    words: tuple[int, ...]
    untouched: Effects
    measure: Measure
    scores: dict[str, DoubleArray] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    curves: dict[tuple[str, Way], DoubleArray] = field(default_factory=dict)
    sums: dict[str, Attribution] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Explained {self.untouched.answer.token!r} by {counted(len(self.scores), 'method')}>"

    def scale(self, method: str) -> float:
        """What a method’s scores are multiplied by for the screen: parts of ln P become bits."""
        return 1 / math.log(2) if self.measure == "log P" and method in _IN_UNITS else 1.0

    def to_frame(self) -> pd.DataFrame:
        """A row a method and word: the word, its first and last token from 0, and its score in the units of pages."""
        return pd.DataFrame(
            [
                (method, unit.label, unit.start, unit.stop - 1, float(score) * self.scale(method))
                for method, scores in self.scores.items()
                for unit, score in zip(self.units, scores, strict=True)
            ],
            columns=["method", "word", "first_token", "last_token", "score"],
        )

    def area(self, method: str, way: Way) -> float:
        return explanations.area(self.curves[method, way])


def explainable(encoding: Encoding, position: int | None) -> tuple[Unit, ...]:
    """Words and marks whose part in an answer is asked for: all but what frames a text, and the mask that is read."""
    return tuple(
        unit
        for unit in word_units(encoding)
        if not unit.special and not (position is not None and unit.start <= position < unit.stop)
    )


def explain(engine: EngineInterface, question: Intervene, measure: Measure) -> Generator[Explained, None, None]:
    """The explanations of a question's answer, which has no changes of its own; yields them as they grow, the last one
    whole.
    """
    untouched = engine.ask(replace(question, changes=()))
    fixed = replace(question, aim=replace(question.aim, answer=untouched.answer.id, position=untouched.position))
    units = explainable(untouched.encoding, untouched.position)
    explained = Explained(units, explanations.ranked_words(units), untouched, measure)
    yield explained
    if not explained.words:
        return
    words = [units[place] for place in explained.words]
    for method in METHODS:
        arguments = (fixed.model, fixed.text, fixed.text_pair, fixed.masked, fixed.aim, method, measure)
        try:
            attribution = engine.ask(Attribute(*arguments))
        except NotSupported as error:
            explained.failures[method] = str(error)
            continue
        except InvalidInput as error:
            if not explained.scores:
                raise
            explained.failures[method] = str(
                error
            )  # other methods take it; value zeroing takes no text as long as this
            continue
        explained.scores[method] = explanations.by_word(attribution, units)
        if attribution.error is not None:
            explained.sums[method] = attribution
        yield explained
    orders = {name: [explanations.order(scores[[*explained.words]])] for name, scores in explained.scores.items()}
    if fixed.aim.reads in ("mask", "next token"):
        place = len(untouched.encoding) if untouched.position is None else untouched.position
        orders[NEARNESS] = [explanations.order(explanations.nearness(words, place))]
    orders[RANDOM] = explanations.random_orders(len(words), _RANDOM_ORDERS)
    needed = explanations.needed(ranked for group in orders.values() for ranked in group)
    tokens = [range(word.start, word.stop) for word in words]
    changes = tuple(Change(hidden=tuple(chain.from_iterable(tokens[place] for place in group))) for group in needed)
    pieces = []
    with closing(engine.stream(replace(fixed, changes=changes, top_k=1))) as parts:
        for piece in parts:
            pieces.append(piece)
            yield explained
    readings = fixed.combine(pieces).readings
    probabilities = {
        group: float(np.exp(reading.log_probability)) for group, reading in zip(needed, readings, strict=True)
    }
    for name, group in orders.items():
        for way in WAYS:
            curves = [explanations.curve(ranked, way, probabilities) for ranked in group]
            explained.curves[name, way] = np.mean(curves, axis=0)
    yield explained


def built_in(model: str, *, causal: bool) -> list[Intervene]:
    """The questions of the 100 built-in sentences: the longest word of each is hidden, or its last words are left out
    for a model that says what comes next; the answer is the model's own.
    """
    texts = [pair.first for pair in spread_pairs(N_SENTENCES)]
    words = [text.rstrip(".").split() for text in texts]
    if causal:
        return [Intervene(model, " ".join(text_words[:-1]), aim=TargetAnswer("next token")) for text_words in words]
    longest = [max(text_words, key=len) for text_words in words]
    return [Intervene(model, text.replace(word, "[MASK]", 1)) for text, word in zip(texts, longest, strict=True)]


class Explaining(StagedJob):
    """All methods on the built-in sentences; what is done stays when it is stopped. For each sentence that is done,
    ``areas`` are by method and way, and ``probabilities`` are P of the target in the whole sentence.
    """

    doing = "testing explanations"
    unit = "sentence"

    def __init__(self, engine: EngineInterface, questions: Sequence[Intervene], measure: Measure = "log P") -> None:
        super().__init__(engine, len(questions), "Testing explanations")
        self.questions, self.measure = tuple(questions), measure
        self.areas: list[dict[tuple[str, Way], float]] = []
        self.probabilities: list[float] = []

    @property
    def model(self) -> str:
        return self.questions[0].model

    @property
    def n_ended(self) -> int:
        return self.n_done // 10  # the table is drawn again every ten sentences

    def table(self) -> list[Area]:
        """The areas so far, against those of nearness; empty before the first sentence is done."""
        return explanations.areas(self.areas, NEARNESS)

    def steps(self) -> Generator[None, None, None]:
        for question in self.questions:
            explained: list[Explained] = []
            yield from self._read(explain(self._engine, question, self.measure), explained.append)
            complete = explained[-1]
            self.areas.append({key: complete.area(*key) for key in complete.curves})
            self.probabilities.append(complete.untouched.answer.probability)
            self.n_done += 1
