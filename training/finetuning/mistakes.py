"""Where a tuned model is wrong: its mistakes in order of how sure it was, and entities by type. Imports no torch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from training.finetuning.data import Asked, Item, Labelled, Scored, Tagged
from training.finetuning.entities import types_of
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
    if isinstance(item, Asked) and isinstance(told, Answered):
        return None if best_of_answers(overlap, item, told) == 1 else abs(told.margin)
    if isinstance(item, Scored) and isinstance(told, Rated):
        missed = abs(told.score - item.score)
        return missed if missed > CLOSE else None
    raise TypeError(f"a {type(told).__name__} is no answer to a {type(item).__name__}")


def by_type(items: Sequence[Item], predictions: Sequence[Prediction]) -> list[dict[str, object]]:
    """Precision, recall and F1 of each type of entity, and how many there are: a row a type, by ``seqeval``."""
    from seqeval.metrics.sequence_labeling import precision_recall_fscore_support

    gold = [list(item.tags) for item in items if isinstance(item, Tagged)]
    told = [list(each.tags) for each in predictions if isinstance(each, TaggedWords)]
    types = types_of(chain(*gold, *told))
    columns = precision_recall_fscore_support(gold, told, average=None, zero_division=0)
    return [
        {"type": type_, "precision": float(p), "recall": float(r), "F1": float(f), "entities": int(n)}
        for type_, p, r, f, n in zip(types, *columns, strict=True)
    ]
