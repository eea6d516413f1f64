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
    found = []
    for place, (item, told) in enumerate(zip(items, predictions, strict=True)):
        sure = _sure_and_wrong(item, told)
        if sure is not None:
            found.append((-sure, place))
    return [place for _, place in sorted(found)]


def _sure_and_wrong(item: Item, told: Prediction) -> float | None:
    """How sure the model was; None where it is right."""
    if isinstance(item, Labelled) and isinstance(told, Classified):
        return None if told.label == item.label else max(told.probabilities)
    if isinstance(item, Tagged) and isinstance(told, TaggedWords):
        triples = zip(item.tags, told.tags, told.probabilities, strict=True)
        wrong = [share for gold, tag, share in triples if gold != tag]
        return max(wrong) if wrong else None
    if isinstance(item, PassageQuestion) and isinstance(told, Answered):
        return None if best_of_answers(overlap, item, told) == 1 else abs(told.margin)
    if isinstance(item, Scored) and isinstance(told, Rated):
        missed = abs(told.score - item.score)
        return missed if missed > CLOSE else None
    raise TypeError(f"a {type(told).__name__} is no answer to a {type(item).__name__}")


def by_type(items: Sequence[Item], predictions: Sequence[Prediction]) -> list[dict[str, object]]:
    """Precision, recall and F1 of each type of entity, with its number of entities: a row a type. A share of nothing is
    0.
    """
    right, called, there = Counter[str](), Counter[str](), Counter[str]()
    for item, each in zip(items, predictions, strict=True):
        if isinstance(item, Tagged) and isinstance(each, TaggedWords):
            gold, told = set(entities_of(item.tags)), set(entities_of(each.tags))
            for counts, found in ((right, gold & told), (called, told), (there, gold)):
                counts.update(kind for kind, _, _ in found)
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
