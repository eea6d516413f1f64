"""Where a tuned model is wrong: its most confident errors first, and entities by type. Imports no torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from training.finetuning.data import Item, Labelled, PassageQuestion, Scored, Tagged
from training.finetuning.entities import entities_of
from training.finetuning.results import Answered, Classified, Prediction, Rated, TaggedWords
from training.finetuning.scores import best_of_answers, overlap

CLOSE = 0.5
"""A score of similarity that misses by no more is no mistake."""


def mistakes(items: Sequence[Item], predictions: Sequence[Prediction]) -> list[int]:
    """The places of the items that are wrong, that of which the model was surest first.

    How sure: the probability of the wrong label, or of the surest wrong tag; how far the wrong span, or a wrong "no
    answer", is ahead; of scores by how much they miss, and there no item counts that is within ``CLOSE``.
    """
    mistaken = []
    for place, (item, prediction) in enumerate(zip(items, predictions, strict=True)):
        sure = _sure_and_wrong(item, prediction)
        if sure is not None:
            mistaken.append((-sure, place))
    return [place for _, place in sorted(mistaken)]


def _sure_and_wrong(item: Item, prediction: Prediction) -> float | None:
    """How sure the model was; None where it is right."""
    if isinstance(item, Labelled) and isinstance(prediction, Classified):
        return None if prediction.label == item.label else max(prediction.probabilities)
    if isinstance(item, Tagged) and isinstance(prediction, TaggedWords):
        triples = zip(item.tags, prediction.tags, prediction.probabilities, strict=True)
        wrong = [share for gold, tag, share in triples if gold != tag]
        return max(wrong) if wrong else None
    if isinstance(item, PassageQuestion) and isinstance(prediction, Answered):
        return None if best_of_answers(overlap, item, prediction) == 1 else abs(prediction.margin)
    if isinstance(item, Scored) and isinstance(prediction, Rated):
        missed = abs(prediction.score - item.score)
        return missed if missed > CLOSE else None
    raise TypeError(f"a {type(prediction).__name__} is no answer to a {type(item).__name__}")


def mistakes_by_type(items: Sequence[Item], predictions: Sequence[Prediction]) -> list[dict[str, object]]:
    """A row a type of entity: precision, recall, F1 and number of entities. A share of nothing is 0."""
    right, called, there = Counter[str](), Counter[str](), Counter[str]()
    for item, prediction in zip(items, predictions, strict=True):
        if isinstance(item, Tagged) and isinstance(prediction, TaggedWords):
            gold, predicted = set(entities_of(item.tags)), set(entities_of(prediction.tags))
            for counts, entities in ((right, gold & predicted), (called, predicted), (there, gold)):
                counts.update(kind for kind, _, _ in entities)
    return [
        {
            "type": kind,
            "precision": right[kind] / max(1, called[kind]),
            "recall": right[kind] / max(1, there[kind]),
            "F1": 2 * right[kind] / (called[kind] + there[kind]),
            "entities": there[kind],
        }
        for kind in sorted({*called, *there})
    ]
