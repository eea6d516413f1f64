"""The results of tuning: events on the way, predictions, scores, and the outcome. Plain data; imports no torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from model_zoo.types import FloatArray
from model_zoo.types.shows import DataFrame, Shows, table
from training.finetuning.data import Data
from training.finetuning.settings import Settings


@dataclass(frozen=True, slots=True)
class Stepped:
    """One step of the optimizer. ``epoch`` is a fraction and counts from 0, ``seconds`` are of work so far."""

    step: int
    epoch: float
    loss: float
    learning_rate: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The development split at the start (epoch 0) and after each epoch: mean loss, and the data's ``measure``."""

    step: int
    epoch: float
    loss: float
    score: float


def best_of(evaluated: Sequence[Evaluated]) -> Evaluated | None:
    """The epoch whose weights are kept: the highest score, of equals the lower loss, else the earlier. None before the
    first step: a network that has learned nothing is not kept.
    """
    return max((epoch for epoch in evaluated if epoch.step), key=lambda epoch: (epoch.score, -epoch.loss), default=None)


@dataclass(frozen=True, slots=True)
class FirstVectors:
    """The last layer's vector of the first token ([CLS]) for the first development items, (items, width), after a
    whole number of epochs.
    """

    epoch: int
    vectors: FloatArray = field(repr=False)


@dataclass(frozen=True, slots=True)
class Started:
    """The event before the first step, and again where a stopped run continues: then with all events until its stop,
    of which the last ones may have reached nobody.
    """

    n_parameters: int
    n_learning: int
    n_steps: int
    steps: tuple[Stepped, ...] = field(default=(), repr=False)
    evaluated: tuple[Evaluated, ...] = field(default=(), repr=False)
    first_vectors: tuple[FirstVectors, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Classified(Shows):
    """The most probable label, and the probability of each in the order of the data's labels."""

    label: str
    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TaggedWords(Shows):
    """A tag for each word of the text, and its probability. Words beyond the model's limit are "O" with 0."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    probabilities: tuple[float, ...]

    def to_frame(self) -> DataFrame:
        """One row a word: word, tag, probability."""
        return table({"word": self.words, "tag": self.tags, "probability": self.probabilities})


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """A part of the passage: characters [start, end), its text, and score: start score + end score (logits)."""

    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Answered(Shows):
    """The best spans of a passage, best first; ``no_answer`` is the score of [CLS] as start and end.

    The answer is "" where ``margin`` is above 0. ``tokens`` are those of the passage the model read, with their
    characters and scores (logits) as start and as end.
    """

    spans: tuple[AnswerSpan, ...]
    no_answer: float
    tokens: tuple[str, ...] = field(default=(), repr=False)
    offsets: tuple[tuple[int, int], ...] = field(default=(), repr=False)
    start_scores: tuple[float, ...] = field(default=(), repr=False)
    end_scores: tuple[float, ...] = field(default=(), repr=False)

    def to_frame(self) -> DataFrame:
        """One row a span, best first: start, end (characters of the passage), text, score."""
        return table([asdict(span) for span in self.spans])

    @property
    def margin(self) -> float:
        """The margin of "no answer" over the best span; negative where the span is ahead."""
        return self.no_answer - (self.spans[0].score if self.spans else float("-inf"))

    @property
    def text(self) -> str:
        return "" if self.margin > 0 or not self.spans else self.spans[0].text


@dataclass(frozen=True, slots=True)
class Rated(Shows):
    """The similarity of two texts by the model, on the data's scale; not bounded."""

    score: float


Prediction = Classified | TaggedWords | Answered | Rated


@dataclass(frozen=True, slots=True)
class Score(Shows):
    """A score on the test split with its 95% interval.

    ``baseline`` is the majority baseline (the most frequent label, "O" for every word, "no answer", the mean score),
    None where it is not defined; ``strongest_baseline`` that of the strongest of those that were tried (see
    ``baselines``), None where none was.
    """

    measure: str
    value: float
    low: float
    high: float
    baseline: float | None
    strongest_baseline: float | None = None


@dataclass(frozen=True)
class Tuned(Shows):
    """The outcome. ``id`` is the tuned model's, which the engine knows like any other until the visitor leaves. Its
    weights are those after the epoch that was ``best`` on the development split, so ``scores`` are theirs.

    ``predictions`` are those for the test split, in its order, ``scores`` the data's measure first. ``latency`` is the
    median time of one text by itself in seconds, ``n_bytes`` the memory of its weights, ``seconds`` those of
    training; ``rate`` is the highest learning rate it had. ``strongest_baseline`` names what reaches that
    of the scores.
    """

    id: str
    base: str
    data: Data = field(repr=False)
    settings: Settings
    scores: tuple[Score, ...]
    predictions: tuple[Prediction, ...] = field(repr=False)
    rate: float
    n_parameters: int
    n_learning: int
    n_bytes: int
    latency: float
    seconds: float
    steps: tuple[Stepped, ...] = field(repr=False)
    evaluated: tuple[Evaluated, ...] = field(repr=False)
    first_vectors: tuple[FirstVectors, ...] = field(repr=False)
    strongest_baseline: str = ""

    def score(self, measure: str | None = None) -> Score:
        """One of the scores; the first without a name."""
        return self.scores[0] if measure is None else next(score for score in self.scores if score.measure == measure)

    @property
    def best(self) -> Evaluated:
        """The epoch whose weights were kept, and its loss and score on the development split."""
        best = best_of(self.evaluated)
        assert best is not None, "it has taken no step"
        return best

    def __repr__(self) -> str:
        first = self.scores[0]
        return f"<Tuned {self.base} on {self.data.title}: {first.measure} {first.value:.2f}>"

    def to_frame(self) -> DataFrame:
        """One row a score on the test split: measure, value, low, high, baseline, strongest_baseline, best_epoch."""
        return table([asdict(score) | {"best_epoch": self.best.epoch} for score in self.scores])


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """An event without news: a place between two pieces of work, where other work can have its turn."""


Event = Heartbeat | Started | Stepped | Evaluated | FirstVectors | Tuned
