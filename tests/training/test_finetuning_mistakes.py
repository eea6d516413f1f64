"""Mistakes in order of how sure the model was, entities by type against seqeval, and where tags stand on tokens."""

import numpy as np
import pytest
from hypothesis import given
from seqeval.metrics import classification_report
from seqeval.metrics.sequence_labeling import get_entities
from strategies import IOB2

from model_zoo.text import word_spans
from training.finetuning.data import Item, Labelled, PassageQuestion, Scored, Tagged
from training.finetuning.entities import entities_of, first_pieces
from training.finetuning.mistakes import mistakes, mistakes_by_type
from training.finetuning.results import Answered, AnswerSpan, Classified, Prediction, Rated, TaggedWords

BRIDGE = AnswerSpan(0, 6, "bridge", 2.0)
TAGS = ("O", "O", "B-PLACE", "I-PLACE", "B-NAME", "I-NAME")


def words(*tags: str, sure: float = 1.0) -> TaggedWords:
    return TaggedWords(("w",) * len(tags), tags, (sure,) * len(tags))


def random_tags(n: int) -> tuple[list[list[str]], list[list[str]]]:
    rng = np.random.default_rng(0)
    gold = [[str(tag) for tag in rng.choice(TAGS, size=8)] for _ in range(n)]
    predicted = [[tag if rng.random() < 0.6 else str(rng.choice(TAGS)) for tag in row] for row in gold]
    return gold, predicted


@pytest.mark.parametrize(
    ("items", "predictions", "expected"),
    [
        (
            [Labelled("a", None, label) for label in "xyxx"],
            [Classified("y", (0.4, 0.6)), Classified("y", (0.1, 0.9)), Classified("y", (0.2, 0.8)),
             Classified("x", (0.7, 0.3))],
            [2, 0],
        ),
        (
            [Tagged(("w", "w"), ("O", "B-A"))] * 3,
            [words("O", "O", sure=0.5), words("O", "B-A"), words("B-A", "B-A", sure=0.9)],
            [2, 0],
        ),
        (
            [PassageQuestion("q", "p", answers)
             for answers in (((0, "the bridge"),), (), ((0, "river"),), ((0, "river"),), ())],
            [Answered((BRIDGE,), 0.0), Answered((BRIDGE,), 1.5), Answered((BRIDGE,), -1.0), Answered((BRIDGE,), 9.0),
             Answered((BRIDGE,), 3.0)],
            [3, 2, 1],  # the first is right but for its article, the last says rightly that there is none
        ),
        (
            [Scored("a", "b", 3.0)] * 4,
            [Rated(3.4), Rated(4.0), Rated(-1.0), Rated(2.5)],
            [2, 1],
        ),
    ],
    ids=["classification", "tagging", "answering", "similarity"],
)  # fmt: skip
def test_the_surest_mistake_comes_first(items: list[Item], predictions: list[Prediction], expected: list[int]) -> None:
    assert mistakes(items, predictions) == expected


def test_types_are_scored_as_by_seqeval() -> None:
    gold, predicted = random_tags(40)
    rows = mistakes_by_type([Tagged(("w",) * 8, tuple(row)) for row in gold], [words(*row) for row in predicted])
    report = classification_report(gold, predicted, output_dict=True)
    assert [row["type"] for row in rows] == ["NAME", "PLACE"]
    for row in rows:
        expected = report[str(row["type"])]
        assert row["precision"] == pytest.approx(expected["precision"])
        assert row["recall"] == pytest.approx(expected["recall"])
        assert row["F1"] == pytest.approx(expected["f1-score"])
        assert row["entities"] == expected["support"]


def test_types_that_are_missed_or_invented_and_none_at_all() -> None:
    missed = mistakes_by_type([Tagged(("w",), ("B-A",))], [words("O")])
    assert missed == [{"type": "A", "precision": 0, "recall": 0, "F1": 0, "entities": 1}]
    invented = mistakes_by_type([Tagged(("w",), ("O",))], [words("B-A")])
    assert invented == [{"type": "A", "precision": 0, "recall": 0, "F1": 0, "entities": 0}]
    assert mistakes_by_type([Tagged(("w",), ("O",))], [words("O")]) == []
    with pytest.raises(TypeError, match="a Rated is no answer to a Labelled"):
        mistakes([Labelled("a", None, "x")], [Rated(1.0)])


@given(IOB2)
def test_entities_are_those_of_seqeval(tags: list[str]) -> None:
    assert entities_of(tags) == [(kind, first, last + 1) for kind, first, last in get_entities(tags)]


@pytest.mark.parametrize("family", ["bert", "roberta", "albert", "xlnet", "deberta-v2"])
def test_the_first_piece_of_a_word_begins_where_the_word_does(engine, checkpoint, family) -> None:
    text = "Unbelievably, the old bridges  of Zwolle shimmered."
    encoding = engine.encode(str(checkpoint(family)), text)
    spans = word_spans(text)
    pieces = first_pieces(encoding, spans)
    assert None not in pieces
    assert [encoding.offsets[place][0] for place in pieces if place is not None] == [start for start, _ in spans]
    assert pieces == sorted(set(pieces))
    assert not any(encoding.special[place] for place in pieces if place is not None)
    assert len(pieces) < len(encoding) - sum(encoding.special)  # some words have several
    if family == "bert":  # words beyond its limit have no piece
        text = "the cat " * 400
        pieces = first_pieces(engine.encode(str(checkpoint(family)), text), word_spans(text))
        assert (pieces[0] is None, pieces[-1]) == (False, None)
