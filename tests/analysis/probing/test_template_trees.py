"""Template sentences are different, and their trees are those of their words."""

from __future__ import annotations

import re

from own_files import trees

from analysis.probing.data import DEV, TEST, TRAIN
from analysis.probing.grammar import THINGS
from analysis.probing.template_trees import template_conllu


def test_template_sentences_are_different_and_trees_of_their_words() -> None:
    text = template_conllu(300, seed=2)
    assert text == template_conllu(300, seed=2)
    assert "made by templates" in text.splitlines()[0]
    treebank = trees(text.encode(), "templates")
    assert len(treebank.words.texts) == 300
    assert not treebank.words.notes
    written = [line.removeprefix("# text = ") for line in text.splitlines() if line.startswith("# text = ")]
    assert list(treebank.words.texts) == written
    assert {DEV, TEST, TRAIN} == set(treebank.words.split.tolist())
    # No lamp sees or wants anything: after "the lamp that" somebody else follows.
    things = "|".join(noun.singular for noun in THINGS)
    assert not re.search(rf"\b({things}) that (?!the |this |every )", text)
    for tree in treebank.trees.values():
        assert tree.punctuation[-1]
        # Every link but the comma's and the full stop's crosses no other: what a template makes is projective.
        edges = tree.edges.tolist()
        assert not any(a < c < b < d for a, b in edges for c, d in edges)
