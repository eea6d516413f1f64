"""The sets of entities, questions and pairs: sizes, balance, and that no split knows another's words."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from training.finetuning.data import SPLITS, Data, PassageQuestion, Scored, Split, Tagged
from training.finetuning.scores import overlap
from training.finetuning.sets import SETS, entities, questions, similarity
from training.finetuning.sets.questions.topics import KINDS, Fact

USES = {"train": "training", "dev": "development", "test": "test"}


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


@pytest.mark.parametrize(("name", "sizes"), [("entities", (280, 80, 80)), ("questions", (1596, 280, 420)),
                                              ("similarity", (210, 60, 60))])  # fmt: skip
def test_a_set_has_its_size(name: str, sizes: tuple[int, ...]) -> None:
    data = SETS[name].build()
    assert tuple(len(data.split(split)) for split in SPLITS) == sizes
    texts = [{(item.text, item.pair) for item in data.split(split)} for split in SPLITS]
    assert [len(of_part) for of_part in texts] == list(sizes)
    assert apart(texts)


def apart(sets: list[set]) -> bool:
    """Whether nothing is in two of them."""
    return sum(map(len, sets)) == len(set.union(*sets))


def splits_of(data: Data, kind: type) -> list[list]:
    return [[item for item in data.split(split) if isinstance(item, kind)] for split in SPLITS]


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
    splits = splits_of(data, Tagged)
    for items in splits:
        for item in items:
            for before, tag in zip(("O", *item.tags), item.tags, strict=False):
                assert tag[0] != "I" or before[2:] == tag[2:]
        without = sum(set(item.tags) == {"O"} for item in items) / len(items)
        assert without == pytest.approx(0.1)
        types = Counter(tag[2:] for item in items for tag in item.tags if tag[0] == "B")
        assert min(types.values()) > 0.2 * sum(types.values())
    of_splits = [names(items) for items in splits]
    assert apart(of_splits)
    places = (entities.CITIES, entities.COUNTRIES)
    lists = (entities.FIRST, entities.LAST, *places, entities.ORGANIZATIONS, entities.TEMPLATES)
    for each in (*lists, entities.WITHOUT):
        assert apart([set(each[split]) for split in SPLITS])


def test_some_names_are_words_elsewhere_in_their_part() -> None:
    (_, *held_out) = splits_of(SETS["entities"].build(), Tagged)
    for items, both in zip(held_out, ("mobile cork young hope faith", "bath reading nice king fox"), strict=True):
        told = [each for item in items for each in zip(item.words, item.tags, strict=True)]
        as_word = {word.lower() for word, tag in told if tag == "O"}
        assert set(both.split()) <= as_word & {word.lower() for word, tag in told if tag != "O"}


def test_sentences_fit_whatever_name_fills_them() -> None:
    for split in SPLITS:
        for template in entities.TEMPLATES[split]:
            # Thomas would be no "she"; and near, outside, train and hotel, colder and bridge ask for a city.
            assert "{p}" not in template or not words(template) & {"he", "she", "his", "her", "him", "hers"}
            assert not re.search(r"(near|outside|train from|hotel in|bridge in|museums in|colder than) \{l\}", template)
        for item in splits_of(SETS["entities"].build(), Tagged)[SPLITS.index(split)]:
            own = [name for name in names([item]) if name]
            assert len(own) == sum(tag[0] == "B" for tag in item.tags), item  # nobody meets himself


def test_to_choose_by_is_of_the_kind_of_the_test() -> None:
    slots = [
        sorted(tuple(re.findall(r"\{(\w)\}", template)) for template in entities.TEMPLATES[split])
        for split in ("dev", "test")
    ]
    assert slots[0] == slots[1]
    for each in (entities.FIRST, entities.LAST, entities.CITIES, entities.COUNTRIES, entities.ORGANIZATIONS):
        assert len(each["dev"]) == len(each["test"])
    assert len(entities.WITHOUT["dev"]) == len(entities.WITHOUT["test"])


def test_every_answer_stands_where_it_is_said_to() -> None:
    splits = splits_of(SETS["questions"].build(), PassageQuestion)
    for split, items in zip(SPLITS, splits, strict=True):
        for item in items:
            assert all(item.pair[start : start + len(text)] == text for start, text in item.answers)
            assert 4 <= len(re.findall(r"[.] |[.]$", item.pair)) <= 5
        by_passage = Counter(item.pair for item in items)
        assert set(by_passage.values()) == {7}
        assert {item.pair for item in items if not item.answers} == set(by_passage)
        assert Counter(item.pair for item in items if item.answers) == dict.fromkeys(by_passage, 5)
        assert {item.cluster for item in items} == {topic.name for topic in questions.TOPICS[split]}
    assert [len({item.pair for item in items}) for items in splits] == [228, 40, 60]
    assert [len({item.cluster for item in items}) for items in splits] == [38, 10, 20]


def facts(split: Split) -> list[Fact]:
    return [fact for topic in questions.TOPICS[split] for fact in topic.facts]


def test_no_part_of_the_questions_knows_another_s_words() -> None:
    for words_of in (
        lambda split: questions.NAMES[split],
        lambda split: (person for topic in questions.TOPICS[split] for person in topic.people),
        lambda split: (opening for topic in questions.TOPICS[split] for opening in topic.openings),
        lambda split: (fact.past for fact in facts(split)),
        lambda split: (thing for fact in facts(split) for thing in fact.things),
        lambda split: (way for fact in facts(split) for way in fact.ways),
        lambda split: (fact.own[0] for fact in facts(split) if fact.own),
    ):
        assert apart([{each.lower() for each in words_of(split)} for split in SPLITS])
    splits = splits_of(SETS["questions"].build(), PassageQuestion)
    assert apart([{item.text for item in items} for items in splits])
    assert apart([{text.lower() for item in items for _, text in item.answers} for items in splits])


@pytest.mark.slow
def test_a_question_alone_does_not_tell_whether_it_has_an_answer() -> None:
    """In no split, learned from the training split or from the split itself: n-grams know by heart what they learned
    from, and nothing on passages that are new to them.
    """
    splits = splits_of(SETS["questions"].build(), PassageQuestion)
    train = splits[0]
    for n in (1, 3):
        rule = make_pipeline(
            CountVectorizer(ngram_range=(1, n), token_pattern=r"\w+"), LogisticRegression(max_iter=1000)
        )
        for items in splits:
            asked = [item.text for item in items]
            answered = np.array([bool(item.answers) for item in items])
            passages = [item.pair for item in items]
            found = cross_val_predict(rule, asked, answered, groups=passages, cv=GroupKFold(5), method="predict_proba")
            assert roc_auc_score(answered, found[:, 1]) == pytest.approx(0.5, abs=0.08)
            if items is not train:
                rule.fit([item.text for item in train], [bool(item.answers) for item in train])
                assert rule.score(asked, answered) < np.mean(answered) + 0.02
    for items in splits:
        starts = Counter(item.text.split()[0] for item in items)
        for first in (first for first, n in starts.items() if n >= 30):
            of_start = [not item.answers for item in items if item.text.startswith(f"{first} ")]
            assert 0.13 < np.mean(of_start) < 0.43, first


def of_kind(item: PassageQuestion) -> list[str]:
    """What a passage has of the kind that a question asks for by its first words."""
    topic = next(topic for topic in questions.TOPICS["test"] if topic.name == item.cluster)
    asked: dict[str, list[str]] = {
        "Who ": [*questions.NAMES["test"], *topic.people],
        "What ": [thing for fact in topic.facts if not fact.persons for thing in fact.things],
        "Whom ": [thing for fact in topic.facts if fact.persons for thing in fact.things],
    }
    for fact in topic.facts:
        if fact.kind:
            asked.setdefault(KINDS[fact.kind][1].split("did")[0], []).extend(fact.ways)
    start = max((start for start in asked if item.text.startswith(start)), key=len, default="")
    return [each for each in asked.get(start, []) if each.lower() in item.pair.lower()]


def test_the_kind_of_word_that_is_asked_for_does_not_give_the_answer() -> None:
    (_, _, test) = splits_of(SETS["questions"].build(), PassageQuestion)
    at_random = [
        np.mean([overlap(told, item.answers[0][1] if item.answers else "") for told in of_kind(item) or [""]])
        for item in test
    ]
    no_answer = np.mean([not item.answers for item in test])
    assert no_answer == pytest.approx(0.285, abs=0.005)
    assert np.mean(at_random) < no_answer + 0.06


@pytest.mark.parametrize("split", SPLITS)
def test_words_in_common_do_not_give_the_score_away(split: str) -> None:
    items = [item for item in SETS["similarity"].build().split(split) if isinstance(item, Scored)]
    assert set(Counter(item.score for item in items).values()) == {len(items) // 6}
    overlaps = [len(words(i.text) & words(i.pair)) / len(words(i.text) | words(i.pair)) for i in items]
    gold = [item.score for item in items]
    correlation = spearmanr(overlaps, gold).statistic
    assert correlation < 0.5
    assert f"{correlation:.2f} in the {USES[split]}" in " ".join(SETS["similarity"].card.split())
    mean = {score: np.mean([o for o, g in zip(overlaps, gold, strict=True) if g == score]) for score in set(gold)}
    assert mean[5] < mean[2] < mean[3] < mean[4]


def test_scenes_of_the_parts_share_no_sentence() -> None:
    sentences = [
        {text for scene in similarity.SCENES[split] for text in (scene.said, scene.again, scene.detail, scene.other,
                                                                 scene.shares, scene.topic)}
        for split in SPLITS
    ]  # fmt: skip
    assert apart(sentences)
    assert len(similarity.SCENES["dev"]) == len(similarity.SCENES["test"])
    assert [len(each) for each in sentences] == [6 * len(similarity.SCENES[split]) for split in SPLITS]
