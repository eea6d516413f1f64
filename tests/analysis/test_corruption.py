"""Corruption, and what an intervention does."""

import math
from collections import Counter
from dataclasses import replace

import builders
import numpy as np
import pytest

from analysis.corruption import Recipe, characters, corrupt, each_fate, moved, tokens_over
from analysis.effects import cut, lost, measured, recovered, same_answer
from analysis.words import Unit
from model_zoo.errors import InvalidInput
from model_zoo.types import Change, Edge, Effects, Encoding, Prediction, Reading, Vocabulary

MASK, SPECIAL = 3, frozenset({0, 1, 2, 3})
VOCABULARY = Vocabulary(tuple(f"t{i}" for i in range(50)), 50, MASK, "[MASK]", 1, SPECIAL)


def encoding(words: list[str], ids: list[int] | None = None) -> Encoding:
    return builders.encoding(words, ids=(0, *(ids or range(10, 10 + len(words))), 2))


TWENTY = encoding([f"w{i}" for i in range(20)])


def test_the_rates_over_many_draws_are_berts() -> None:
    kinds: Counter[str | None] = Counter()
    for seed in range(2000):
        drawn = corrupt(TWENTY, VOCABULARY, Recipe(seed=seed))
        kinds.update(drawn.kinds[1:-1])
        for place, kind in enumerate(drawn.kinds):
            if kind == "masked":
                assert drawn.ids[place] == MASK
            elif kind == "random":
                assert drawn.ids[place] not in SPECIAL
            else:
                assert drawn.ids[place] == TWENTY.ids[place]
    chosen = sum(kinds[kind] for kind in ("masked", "random", "kept"))
    assert chosen == 2000 * 3  # 15% of 20
    # Standard error of a share of 6000: at most 0.0065 of 0.8 and 0.004 of 0.1; four of them.
    assert kinds["masked"] / chosen == pytest.approx(0.8, abs=0.021)
    assert kinds["random"] / chosen == pytest.approx(0.1, abs=0.016)
    assert kinds["kept"] / chosen == pytest.approx(0.1, abs=0.016)
    # Every token is chosen equally often.
    counts = Counter(p for seed in range(2000) for p in corrupt(TWENTY, VOCABULARY, Recipe(seed=seed)).positions)
    assert set(counts) == set(range(1, 21))
    assert min(counts.values()) > 300 - 4 * 16  # mean 300, standard deviation 16
    assert max(counts.values()) < 300 + 4 * 16
    assert corrupt(TWENTY, VOCABULARY, Recipe(seed=5)) == corrupt(TWENTY, VOCABULARY, Recipe(seed=5))
    assert len({corrupt(TWENTY, VOCABULARY, Recipe(seed=seed)).positions for seed in range(9)}) > 1
    # All masked, all kept, and at least one.
    assert corrupt(TWENTY, VOCABULARY, Recipe(rate=1, masked=1, random=0)).ids[1:-1] == (MASK,) * 20
    assert corrupt(TWENTY, VOCABULARY, Recipe(rate=1, masked=0, random=0)).ids == TWENTY.ids
    assert len(corrupt(encoding(["one"]), VOCABULARY, Recipe(rate=0.01)).positions) == 1


def test_typed_masks_are_left_alone() -> None:
    text = encoding(["a", "b"], [MASK, 11])
    assert corrupt(text, VOCABULARY, Recipe(rate=1)).positions == (2,)
    with pytest.raises(InvalidInput, match="No word is left"):
        corrupt(encoding(["a"], [MASK]), VOCABULARY, Recipe())
    for rate in (0, 1.5):
        with pytest.raises(InvalidInput, match="cannot be chosen"):
            Recipe(rate=rate)
    with pytest.raises(InvalidInput, match="more than the chosen"):
        Recipe(masked=0.8, random=0.3)
    # Tokens and their characters.
    text = encoding(["The", "cat", "sat"])
    assert characters(text, [2]) == (4, 5, 6)
    assert tokens_over(text, [5]) == (2,)
    assert tokens_over(text, [3]) == ()  # the space
    assert tokens_over(text, characters(text, [1, 3])) == (1, 3)
    for case, (before, after, positions, expected) in MOVED.items():
        assert moved(before, after, positions) == expected, case


def test_each_fate_changes_one_token_at_most() -> None:
    fates = each_fate(TWENTY, VOCABULARY, 3, seed=1)
    assert list(fates) == ["masked", "random", "kept"]
    assert fates["kept"] == TWENTY.ids
    assert fates["masked"] == (*TWENTY.ids[:3], MASK, *TWENTY.ids[4:])
    others = {each_fate(TWENTY, VOCABULARY, 3, seed=seed)["random"][3] for seed in range(500)}
    assert others == set(range(50)) - SPECIAL
    with pytest.raises(InvalidInput, match="no mask"):
        each_fate(TWENTY, Vocabulary(("a",), 1, None, None, None, frozenset()), 1)


MOVED = {
    "nothing changed": ("abcde", "abcde", [1, 3], (1, 3)),
    "inserted before": ("abcde", "abXXcde", [0, 3], (0, 5)),
    "deleted before": ("abcde", "cde", [0, 3], (1,)),
    "replaced": ("abcde", "abXde", [1, 2, 3], (1, 3)),
    "appended": ("abc", "abcd", [2], (2,)),
    "another text": ("abc", "xyz", [0, 1, 2], ()),
    "emptied": ("abc", "", [1], ()),
    "repeated letters": ("aaa", "aaaa", [2], (2,)),
}


CAT, DOG = Prediction("cat", 1, 0.5), Prediction("dog", 2, 0.25)


def reading(p: float, logit: float = 0.0, foil: float | None = 0.0, kl: float = 0.0, best: Prediction = CAT) -> Reading:
    return Reading(math.log(p), logit, None if foil is None else -1.0, foil, kl, (best,))


EFFECTS = Effects(
    builders.encoding(["a"]), builders.info(), 1, CAT, DOG, reading(0.5, 3.0, 1.0),
    (reading(0.25, 2.0, 1.5, math.log(2), DOG), reading(0.5, 3.0, 1.0)), other=reading(0.125, 0.0, 2.0),
)  # fmt: skip


def test_every_measure() -> None:
    first = EFFECTS.readings[0]
    assert measured(first, "bits") == pytest.approx(-2)
    assert measured(first, "probability") == pytest.approx(0.25)
    assert measured(first, "difference") == pytest.approx(0.5)
    assert measured(first, "divergence") == pytest.approx(1)
    assert lost(EFFECTS, "bits") == pytest.approx([1, 0])
    assert lost(EFFECTS, "difference") == pytest.approx([1.5, 0])
    assert lost(EFFECTS, "divergence") == pytest.approx([1, 0])
    assert recovered(EFFECTS, "bits") == pytest.approx([0.5, 0])
    assert recovered(EFFECTS, "difference") == pytest.approx([1.5 / 4, 0])
    assert np.isnan(recovered(replace(EFFECTS, other=EFFECTS.untouched), "bits")).all()
    with pytest.raises(ValueError, match="no other run"):
        recovered(replace(EFFECTS, other=None), "bits")
    assert [same_answer(EFFECTS, reading) for reading in EFFECTS.readings] == [False, True]
    with pytest.raises(ValueError, match="second answer"):
        measured(reading(0.5, foil=None), "difference")


def test_all_tokens_of_two_words_are_cut() -> None:
    entry, two = Unit("a", 1, 2, 0, False), Unit("bc", 2, 4, 0, False)
    assert cut([(entry, two)]) == Change(edges=(Edge(1, 2), Edge(1, 3)))
    assert cut([(two, entry), (entry, entry)], 5, 0) == Change(
        edges=(Edge(2, 1, 5, 0), Edge(3, 1, 5, 0), Edge(1, 1, 5, 0))
    )
