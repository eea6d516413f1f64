"""The sets of entities, questions and pairs: sizes, balance, and that no part knows another's words."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from scipy.stats import spearmanr

from training.finetuning.data import PARTS, Asked, Data, Scored, Tagged
from training.finetuning.sets import SETS, entities, questions, similarity


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


@pytest.mark.parametrize(("name", "sizes"), [("entities", (280, 40, 80)), ("questions", (168, 24, 48)),
                                              ("similarity", (210, 30, 60))])  # fmt: skip
def test_a_set_has_its_size(name: str, sizes: tuple[int, ...]) -> None:
    data = SETS[name].build()
    assert tuple(len(data.part(part)) for part in PARTS) == sizes
    texts = [{(item.text, item.pair) for item in data.part(part)} for part in PARTS]
    assert [len(of_part) for of_part in texts] == list(sizes)
    assert apart(texts)


def apart(sets: list[set]) -> bool:
    """Whether nothing is in two of them."""
    return sum(map(len, sets)) == len(set.union(*sets))


def parts_of(data: Data, kind: type) -> list[list]:
    return [[item for item in data.part(part) if isinstance(item, kind)] for part in PARTS]


def names(items: list[Tagged]) -> set[tuple[str, ...]]:
    found, own = set(), []
    for item in items:
        for word, tag in zip((*item.words, ""), (*item.tags, "O"), strict=True):
            if tag[0] != "I" and own:
                found.add(tuple(own))
                own = []
            if tag != "O":
                own.append(word)
    return found


def test_tags_are_well_formed_and_no_name_is_in_two_parts() -> None:
    data = SETS["entities"].build()
    parts = parts_of(data, Tagged)
    for items in parts:
        for item in items:
            for before, tag in zip(("O", *item.tags), item.tags, strict=False):
                assert tag[0] != "I" or before[2:] == tag[2:]
        without = sum(set(item.tags) == {"O"} for item in items) / len(items)
        assert without == pytest.approx(0.1)
        types = Counter(tag[2:] for item in items for tag in item.tags if tag[0] == "B")
        assert min(types.values()) > 0.2 * sum(types.values())
    of_parts = [names(items) for items in parts]
    assert apart(of_parts)
    lists = (entities.FIRST, entities.LAST, entities.PLACES, entities.ORGANIZATIONS, entities.TEMPLATES)
    for each in (*lists, entities.WITHOUT):
        assert apart([set(each[part]) for part in PARTS])


def test_some_names_are_words_elsewhere_in_their_part() -> None:
    (_, _, test) = parts_of(SETS["entities"].build(), Tagged)
    as_word = {word.lower() for item in test for word, tag in zip(item.words, item.tags, strict=True) if tag == "O"}
    as_name = {word.lower() for item in test for word, tag in zip(item.words, item.tags, strict=True) if tag != "O"}
    assert {"bath", "reading", "nice", "king", "fox"} <= as_word & as_name


def test_every_answer_stands_where_it_is_said_to() -> None:
    data = SETS["questions"].build()
    parts = parts_of(data, Asked)
    for items in parts:
        for item in items:
            assert all(item.pair[start : start + len(text)] == text for start, text in item.answers)
        by_passage = Counter(item.pair for item in items)
        assert set(by_passage.values()) == {4}
        assert {item.pair for item in items if not item.answers} == set(by_passage)
        assert sum(not item.answers for item in items) == len(by_passage)
    passages = [{item.pair for item in items} for items in parts]
    assert [len(each) for each in passages] == [42, 6, 12]
    asked = [{item.text for item in items} for items in parts]
    assert apart(asked)
    topics = [{topic.passage for topic in questions.TOPICS[part]} for part in PARTS]
    assert apart(topics)
    answers = [{text for item in items for _, text in item.answers} for items in parts]
    assert apart([answers[0] | answers[1], answers[2]])


@pytest.mark.parametrize("part", PARTS)
def test_words_in_common_do_not_give_the_score_away(part: str) -> None:
    items = [item for item in SETS["similarity"].build().part(part) if isinstance(item, Scored)]
    assert set(Counter(item.score for item in items).values()) == {len(items) // 6}
    overlaps = [len(words(i.text) & words(i.pair)) / len(words(i.text) | words(i.pair)) for i in items]
    gold = [item.score for item in items]
    assert spearmanr(overlaps, gold).statistic < 0.5
    mean = {score: np.mean([o for o, g in zip(overlaps, gold, strict=True) if g == score]) for score in set(gold)}
    assert mean[5] < mean[2] < mean[3] < mean[4]


def test_scenes_of_the_parts_share_no_sentence() -> None:
    sentences = [
        {text for scene in similarity.SCENES[part] for text in (scene.said, scene.again, scene.detail, scene.other,
                                                                 scene.shares, scene.topic)}
        for part in PARTS
    ]  # fmt: skip
    assert apart(sentences)
    assert [len(each) for each in sentences] == [6 * len(similarity.SCENES[part]) for part in PARTS]
