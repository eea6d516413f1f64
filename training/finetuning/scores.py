"""How good predictions are: the scores of each kind of task, with intervals and a baseline. Imports no torch.

The libraries of the scores are slow to import, so they are where they are needed.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analysis.intervals import Spread, interval, left_out, mean_spread
from model_zoo.types import DoubleArray, IntArray, counted
from training.finetuning.data import (
    OUTSIDE,
    Data,
    Item,
    Labelled,
    PassageQuestion,
    Scored,
    Split,
    Tagged,
    cast_all,
)
from training.finetuning.entities import entities_of
from training.finetuning.results import Answered, Classified, Prediction, Rated, Score, TaggedWords

FEWEST_TO_CHOOSE_BY = 30
"""Independent items of a development split; by fewer, epochs that differ by five points are hardly told apart."""

_MOST_LEFT_OUT = 200
"""Of more clusters of items several are left out at a time: intervals are as good and take no longer."""


@dataclass(frozen=True, slots=True)
class Measure:
    """``about`` says in a sentence what it is. ``percent`` tells shares from numbers that can be below 0."""

    kind: str
    title: str
    percent: bool
    about: str

    @property
    def lowest(self) -> float:
        """The lowest possible value; 1 is the highest."""
        return 0.0 if self.percent else -1.0

    def format(self, value: float | None) -> str:
        """A number of this score as people read it."""
        if value is None:
            return "–"
        return f"{value:.1%}" if self.percent else f"{value:.2f}"


def _read_measures() -> dict[str, Measure]:
    lines = Path(__file__).with_name("measures.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = (line.split("\t") for line in lines)
    return {name: Measure(kind, title, percent == "yes", about) for name, kind, title, percent, about in rows}


MEASURES: Mapping[str, Measure] = _read_measures()
"""By name, in the order in which they are shown."""


def measures_of(data: Data) -> tuple[str, ...]:
    """The measures of the data's kind, the data's own first."""
    of_kind = (name for name, measure in MEASURES.items() if measure.kind == data.kind)
    return tuple(dict.fromkeys((data.measure, *of_kind)))


def value(measure: str, items: Sequence[Item], predictions: Sequence[Prediction]) -> float:
    """The score of predictions for items of the kind it is for; where it is undefined, such as the correlation with
    scores that are all equal, it is 0.
    """
    return _scored(measure, items, predictions)(np.ones(len(items)))


def evaluate(
    data: Data, *of_seeds: Sequence[Prediction], beside: Sequence[Prediction] | None = None
) -> tuple[Score, ...]:
    """The scores on the test split by the predictions of a model, or the means over those of several seeds, with 95%
    intervals over clusters of items (and over seeds), and the baseline. ``beside`` are those of the strongest baseline.
    """
    clusters = _clusters(data.test)
    n = n_clusters(data.test)
    groups = np.random.default_rng(0).permutation(n)[clusters] % _MOST_LEFT_OUT
    kept = [(groups != group).astype(float) for group in range(min(n, _MOST_LEFT_OUT))]
    alike = always_alike(data)
    scores = []
    for measure in measures_of(data):
        measured = [_scored(measure, data.test, predictions) for predictions in of_seeds]
        values = [score(np.ones(len(data.test))) for score in measured]
        # One cluster alone cannot be left out: nothing would be left to score.
        spreads = [
            left_out([np.mean([score(chosen) for score in measured]) for chosen in kept]) if n > 1 else Spread(0.0, 1)
        ]
        if len(of_seeds) > 1:
            spreads.append(mean_spread(values))
        mean = float(np.mean(values))
        low, high = interval(mean, spreads, n, lowest=MEASURES[measure].lowest)
        baseline, strongest = (
            None if chosen is None else value(measure, data.test, chosen) for chosen in (alike, beside)
        )
        scores.append(Score(measure, mean, low, high, baseline, strongest))
    return tuple(scores)


def n_clusters(items: Sequence[Item]) -> int:
    """The number of independent items, or of groups of items that are not independent."""
    return int(_clusters(items).max()) + 1


def too_few_to_choose_by(data: Data) -> str:
    """That the development split is too small to choose an epoch by, in a sentence; "" where it is not."""
    n = n_clusters(data.dev)
    if n >= FEWEST_TO_CHOOSE_BY:
        return ""
    noun = counted(n, "item") if n == len(data.dev) else counted(n, "group") + " of items"
    return f"With only {noun} to choose by, which epoch comes out best may well be chance."


def _clusters(items: Sequence[Item]) -> IntArray:
    """The number of each item's cluster, from 0; items that name none are one each."""
    numbers: dict[str | int, int] = {}
    return np.array([numbers.setdefault(item.cluster or place, len(numbers)) for place, item in enumerate(items)])


def always_alike(data: Data, split: Split = "test") -> list[Prediction] | None:
    """The majority baseline of a split: the majority label of the training split, "O" for every word, or no answer.

    None for similarity, where scores that are all equal have no order.
    """
    if data.kind == "classification":
        label = Counter(item.label for item in data.train if isinstance(item, Labelled)).most_common(1)[0][0]
        shares = tuple(float(known == label) for known in data.labels)
        return [Classified(label, shares) for _ in data.split(split)]
    if data.kind == "tagging":
        words = [item.words for item in data.split(split) if isinstance(item, Tagged)]
        return [TaggedWords(known, (OUTSIDE,) * len(known), (1.0,) * len(known)) for known in words]
    if data.kind == "answering":
        return [Answered((), 0.0) for _ in data.split(split)]
    return None


Weighted = Callable[[DoubleArray], float]
"""The score where each item counts so many times: once, or not at all where it is left out."""


def _scored(measure: str, items: Sequence[Item], predictions: Sequence[Prediction]) -> Weighted:
    if len(items) != len(predictions) or not items:
        raise ValueError(f"{counted(len(predictions), 'prediction')} for {counted(len(items), 'item')}")
    return _MEASURED[measure](items, predictions)


def _labels(items: Sequence[Item], predictions: Sequence[Prediction]) -> tuple[list[str], list[str]]:
    gold = [item.label for item in cast_all(Labelled, items)]
    return gold, [prediction.label for prediction in cast_all(Classified, predictions)]


def _accuracy(items: Sequence[Item], predictions: Sequence[Prediction]) -> Weighted:
    gold, predicted = _labels(items, predictions)
    return _mean([a == b for a, b in zip(gold, predicted, strict=True)])


def _mean(of_items: Sequence[float]) -> Weighted:
    array = np.asarray(of_items, dtype=float)
    return lambda weights: float(array @ weights / weights.sum())


def confusion(items: Sequence[Item], predictions: Sequence[Prediction], labels: Sequence[str]) -> IntArray:
    """How often each true label (row) was predicted as which label (column), int64 (labels, labels)."""
    matrix = np.zeros((len(labels), len(labels)), dtype=np.int64)
    places = {label: place for place, label in enumerate(labels)}
    for a, b in zip(*_labels(items, predictions), strict=True):
        matrix[places[a], places[b]] += 1
    return matrix


def _matrix_score(score: Callable[[DoubleArray], float]) -> Callable[..., Weighted]:
    """A score of the confusion matrix, which is cheap to draw again."""

    def measured(items: Sequence[Item], predictions: Sequence[Prediction]) -> Weighted:
        gold, predicted = _labels(items, predictions)
        names = {label: place for place, label in enumerate(sorted({*gold, *predicted}))}
        rows, columns = ([names[text_label] for text_label in labels] for labels in (gold, predicted))

        def weighted(weights: DoubleArray) -> float:
            matrix = np.zeros((len(names), len(names)))
            np.add.at(matrix, (rows, columns), weights)
            return score(matrix)

        return weighted

    return measured


def _macro_f1(matrix: DoubleArray) -> float:
    """Takes the mean over the labels that occur, in truth or as an answer."""
    n = matrix.sum(axis=0) + matrix.sum(axis=1)
    occurs = n > 0
    return float((2 * np.diag(matrix)[occurs] / n[occurs]).mean())


def _mcc(matrix: DoubleArray) -> float:
    """Gorodkin 2004, for any number of labels."""
    gold, predicted, n = matrix.sum(axis=1), matrix.sum(axis=0), matrix.sum()
    spread = (n**2 - (predicted**2).sum()) * (n**2 - (gold**2).sum())
    return float((np.trace(matrix) * n - gold @ predicted) / np.sqrt(spread)) if spread > 0 else 0.0


def entity_counts(item: Tagged, prediction: TaggedWords) -> tuple[int, int, int]:
    """The numbers of correct, predicted and true entities."""
    gold, predicted = set(entities_of(item.tags)), set(entities_of(prediction.tags))
    return len(gold & predicted), len(predicted), len(gold)


def _entity_f1(items: Sequence[Item], predictions: Sequence[Prediction]) -> Weighted:
    """F1 of all entities together: twice the right ones over those called and those there are."""
    counts = np.array(list(map(entity_counts, cast_all(Tagged, items), cast_all(TaggedWords, predictions))))

    def weighted(weights: DoubleArray) -> float:
        right, called, there = weights @ counts
        return float(2 * right / (called + there)) if called + there else 0.0

    return weighted


def _word_accuracy(items: Sequence[Item], predictions: Sequence[Prediction]) -> Weighted:
    pairs = [
        (sum(a == b for a, b in zip(item.tags, prediction.tags, strict=True)), len(item.tags))
        for item, prediction in zip(cast_all(Tagged, items), cast_all(TaggedWords, predictions), strict=True)
    ]
    right, n = np.array(pairs, dtype=float).T
    return lambda weights: float(right @ weights / (n @ weights))


_ARTICLE = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normal(answer: str) -> list[str]:
    """An answer's words as SQuAD compares them: lower case, no punctuation or articles (Rajpurkar et al. 2016)."""
    return _ARTICLE.sub(" ", answer.lower().translate(_PUNCTUATION)).split()


def overlap(answer: str, gold: str) -> float:
    """F1 of the words of two answers; 1 where both are empty."""
    predicted, true = normal(answer), normal(gold)
    if not predicted or not true:
        return float(predicted == true)
    common = sum((Counter(predicted) & Counter(true)).values())
    return 2 * common / (len(predicted) + len(true))


def best_of_answers(score: Callable[[str, str], float], item: PassageQuestion, prediction: Answered) -> float:
    """The best score over the accepted answers, by the rules of SQuAD 2.0's program: an answer of articles and
    punctuation alone is none, and where there is none, the empty answer is right (Rajpurkar et al. 2018).
    """
    return max(score(prediction.text, gold) for gold in ([text for _, text in item.answers if normal(text)] or [""]))


def _answer_score(score: Callable[[str, str], float]) -> Callable[..., Weighted]:
    """The mean over the questions."""

    def measured(items: Sequence[Item], predictions: Sequence[Prediction]) -> Weighted:
        pairs = zip(cast_all(PassageQuestion, items), cast_all(Answered, predictions), strict=True)
        return _mean([best_of_answers(score, item, prediction) for item, prediction in pairs])

    return measured


def _exact(answer: str, gold: str) -> float:
    return float(normal(answer) == normal(gold))


def _correlation(prepare: Callable[[Any], Any]) -> Callable[..., Weighted]:
    def measured(items: Sequence[Item], predictions: Sequence[Prediction]) -> Weighted:
        gold = np.array([item.score for item in cast_all(Scored, items)])
        predicted = np.array([prediction.score for prediction in cast_all(Rated, predictions)])

        def weighted(weights: DoubleArray) -> float:
            drawn = np.repeat(np.arange(len(gold)), weights.astype(int))
            a, b = prepare(gold[drawn]), prepare(predicted[drawn])
            if np.ptp(a) == 0 or np.ptp(b) == 0:
                return 0.0
            return float(np.corrcoef(a, b)[0, 1])

        return weighted

    return measured


def _ranks(values: DoubleArray) -> DoubleArray:
    from scipy.stats import rankdata

    ranks: DoubleArray = rankdata(values)
    return ranks


_MEASURED: Mapping[str, Callable[..., Weighted]] = {
    "accuracy": _accuracy,
    "macro_f1": _matrix_score(_macro_f1),
    "mcc": _matrix_score(_mcc),
    "entity_f1": _entity_f1,
    "word_accuracy": _word_accuracy,
    "span_f1": _answer_score(overlap),
    "exact_match": _answer_score(_exact),
    "spearman": _correlation(_ranks),
    "pearson": _correlation(lambda values: values),
}
