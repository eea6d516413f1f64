"""Relations in plain words: each names two ends, and the direction says which of them looks."""

from __future__ import annotations

import pytest

from analysis.corpus.relation_names import ends, looks, short
from analysis.corpus.relations import ALL, Relation


def test_a_direction_says_which_end_looks() -> None:
    assert ends(Relation("obj", "down")) == ("verb", "object")
    assert ends(Relation("obj", "up")) == ("object", "verb")
    assert short(Relation("obj", "down")) == "obj: verb → object"
    assert looks(Relation("obj", "up")) == "looks from an object at its verb"
    assert looks(Relation("nsubj", "down")) == "looks from a verb at its subject"


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        (ALL, "looks from a word at its head"),
        (Relation("own", "up"), "looks from a dependent at its head"),
        (Relation("own", "down"), "looks from a head at its dependent"),
    ],
)
def test_a_relation_without_a_name_of_its_own_is_between_dependent_and_head(relation: Relation, message: str) -> None:
    assert looks(relation) == message
    assert short(ALL) == "all: word → head"
