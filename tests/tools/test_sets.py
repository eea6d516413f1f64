"""The tool that wrote the built-in sets: it still makes their files byte by byte, and its lists of words are apart."""

import re

import numpy as np
import pytest

from tools.sets import acceptability, entities, questions, sentiment
from tools.sets.__main__ import MAKE, table
from tools.sets.inference import FRAMES_OF_ONE
from tools.sets.topics import KINDS
from tools.sets.writing import Deck, fill_template
from training.finetuning.data import SPLITS
from training.finetuning.scores import overlap
from training.finetuning.sets import FOLDER, SETS
from training.finetuning.sets.acceptability import KINDS as KINDS_OF_MISTAKES


@pytest.mark.parametrize("name", MAKE)
def test_it_makes_the_files_of_the_sets(name: str) -> None:
    assert table(name).encode() == (FOLDER / f"{name}.tsv").read_bytes()
    assert name in SETS
    assert tuple(acceptability.TEMPLATES) == KINDS_OF_MISTAKES


def test_opinions_to_choose_by_are_of_the_kind_of_the_test() -> None:
    """As many templates of each kind, and as many words for each slot: a split of harder words would mislead."""

    def size(split: str) -> object:
        writing = sentiment.WRITINGS[split]
        kinds = sorted(("{anti}" in template, "{verdict}" in template) for template in writing["templates"])
        topics = [
            [len(words.split()) for words in (topic[kind] for kind in ("things", "parts", "good", "bad"))]
            for topic in writing["topics"]
        ]
        return kinds, topics, [[side.count(" ") for side in sides] for sides in (writing["verdicts"], writing["verbs"])]

    assert size("dev") == size("test")
    for split in SPLITS:
        parts = {part for topic in sentiment.WRITINGS[split]["topics"] for part in topic["parts"].split()}
        plural = "|".join(part.rstrip("*") for part in parts if part.endswith("*"))
        for item in SETS["sentiment"].build().split(split):
            assert not re.search(rf"\b[Aa]n? [a-z-]+ (?:{plural})\b", item.text), item.text


def test_no_unacceptable_sentence_has_a_good_reading() -> None:
    """As "The guard brought in the garden" has, "The farmers fell them" and "The writer will saw the box"."""
    for split in SPLITS:
        words = acceptability.WORDS[split]
        # Trees are felled, and governments disappear people.
        assert not {"fell", "disappeared", "vanished"} & set(words["without_object"].split())
        # Two lift, hold and touch without saying what; and "in" goes with the verb.
        assert not {"brought", "carried", "lifted", "held", "touched", "took"} & set(words["with_object"].split())
        # To saw, to found; and one sees or notices somebody do something.
        assert not {"see", "find", "watch", "notice", "hear"} & set(words["verbs"].split())
        # Without its article it follows no noun that it could go with ("near the school hunter").
        near = re.compile(rf"Near the ({'|'.join(words['places'].split())}) (?!he |him )\w")
        assert not [item for item in SETS["acceptability"].build().split(split) if near.match(item.text)]


def test_frames_about_one_person_are_balanced() -> None:
    for split in SPLITS:
        for frame in FRAMES_OF_ONE[split]:
            orders = [[slot for slot in re.findall("[{]([xyz])[}]", text) if slot != "z"] for text in frame.premises]
            assert orders == [["x", "y"], ["y", "x"]], frame
            assert sum("{z}" in premise for premise in frame.premises) == 1, frame


def test_sentences_fit_whatever_name_fills_them() -> None:
    slots = {}
    for split in SPLITS:
        templates = entities.WORDS[split]["templates"]
        slots[split] = sorted(tuple(re.findall(r"\{(\w)\}", template)) for template in templates)
        for template in templates:
            # Thomas would be no "she"; and near, outside, train and hotel, colder and bridge ask for a city.
            assert "{p}" not in template or not {"he", "she", "his", "her", "him", "hers"} & set(
                template.lower().split()
            )
            assert not re.search(r"(near|outside|train from|hotel in|bridge in|museums in|colder than) \{l\}", template)
    assert slots["dev"] == slots["test"]
    for kind in ("first", "last", "cities", "countries", "organizations"):
        of_splits = [entities.names(split, kind) for split in SPLITS]
        assert sum(map(len, of_splits)) == len({name for names in of_splits for name in names})
        assert len(of_splits[1]) == len(of_splits[2])


def test_no_split_of_the_questions_knows_the_words_of_another() -> None:
    words: dict[str, list[str]] = {}
    for split in SPLITS:
        facts = [fact for topic in questions.TOPICS[split] for fact in topic.facts]
        of_split = {
            "names": questions.NAMES[split],
            "people": [person for topic in questions.TOPICS[split] for person in topic.people],
            "openings": [opening for topic in questions.TOPICS[split] for opening in topic.openings],
            "verbs": [fact.past for fact in facts],
            "things": [thing for fact in facts for thing in fact.things],
            "ways": [way for fact in facts for way in fact.ways],
            "questions": [fact.paraphrase[0] for fact in facts if fact.paraphrase],
        }
        for kind, listed in of_split.items():
            words.setdefault(kind, []).extend({word.lower() for word in listed})
    for kind, listed in words.items():
        assert len(listed) == len(set(listed)), kind


def test_the_kind_of_word_that_is_asked_for_does_not_give_the_answer() -> None:
    topics = {topic.name: topic for topic in questions.TOPICS["test"]}
    scores = []
    test = SETS["questions"].build().test
    for item in test:
        topic = topics[item.cluster]
        fitting: dict[str, list[str]] = {
            "Who ": [*questions.NAMES["test"], *topic.people],
            "What ": [thing for fact in topic.facts if not fact.persons for thing in fact.things],
            "Whom ": [thing for fact in topic.facts if fact.persons for thing in fact.things],
        }
        for fact in topic.facts:
            if fact.kind:
                fitting.setdefault(KINDS[fact.kind][1].split("did")[0], []).extend(fact.ways)
        start = max((start for start in fitting if item.text.startswith(start)), key=len, default="")
        spans = [span for span in fitting.get(start, []) if span.lower() in item.pair.lower()] or [""]
        scores.append(np.mean([overlap(span, item.answers[0][1] if item.answers else "") for span in spans]))
    no_answer = np.mean([not item.answers for item in test])
    assert no_answer == pytest.approx(0.285, abs=0.005)
    assert np.mean(scores) < no_answer + 0.06


def test_templates_are_filled() -> None:
    for template, thing, text in (
        ("it was a {thing}", "awful inn", "It was an awful inn."),
        ("an {thing} is a fact?", "useful book", "A useful book is a fact?"),
        ("what a {thing}! it is an end", "honest hour", "What an honest hour! It is an end."),
        ("when it {thing} , they left", "", "When it, they left."),
    ):
        assert fill_template(template, {"thing": thing}) == text


def test_a_deck_deals_all_before_any_comes_again():
    deck = Deck(np.random.default_rng(0), "abc")
    drawn = [deck.draw() for _ in range(12)]
    assert all(sorted(drawn[start : start + 3]) == ["a", "b", "c"] for start in range(0, 12, 3))
    for _ in range(20):
        first = deck.draw()
        assert deck.draw(first) != first
    assert Deck(np.random.default_rng(0), "ab").draw("a") == "b"
