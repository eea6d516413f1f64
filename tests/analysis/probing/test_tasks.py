"""Every built-in task, found by itself: balanced, no word that tells, other words in test."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import numpy as np
import pytest

from analysis.probing import TASKS, Dataset, Task
from analysis.probing.data import checked
from analysis.probing.grammar import FUNCTION_WORDS, Sentence, corpus
from model_zoo.errors import InvalidInput

WORD = re.compile(r"\w+")


@pytest.fixture(scope="module", params=sorted(TASKS))
def case(request: pytest.FixtureRequest) -> tuple[Task, Dataset]:
    task = TASKS[request.param]
    return task, task.build(2000, 0)


def test_the_tasks_of_the_field_are_there() -> None:
    assert set(TASKS) >= {
        "sentence_length",
        "word_content",
        "bigram_shift",
        "subject_number",
        "tense",
        "clause_depth",
        "coordination_inversion",
        "negation",
        "subject_animacy",
        "part_of_speech",
        "verb_number",
    }
    assert all(name == task.name for name, task in TASKS.items())


def test_two_thousand_different_sentences_that_can_be_probed(case: tuple[Task, Dataset]) -> None:
    task, data = case
    assert len(set(data.texts)) == len(data.texts) == 2000
    assert data.name == task.name
    assert data.level == task.level
    assert data.in_test.sum() == 600
    assert checked(data) is data
    assert all(text[0].isupper() and text.endswith(".") and "  " not in text for text in data.texts)


def test_labels_are_balanced_on_both_sides(case: tuple[Task, Dataset]) -> None:
    _, data = case
    for side in (False, True):
        counts = Counter(np.array(data.labels)[data.item_in_test == side].tolist())
        fair = sum(counts.values()) / len(set(data.labels))
        assert all(abs(count - fair) <= max(1.0, 0.08 * fair) for count in counts.values()), counts


def test_no_word_gives_the_label_away(case: tuple[Task, Dataset]) -> None:
    task, data = case
    if task.name == "word_content":
        pytest.skip("the label of word content is a word")
    by_word: dict[str, Counter[str]] = defaultdict(Counter)
    for item, label in enumerate(data.labels):
        word = data.word(item)
        words = {word} if word else set(WORD.findall(data.texts[data.text_of[item]].lower()))
        for found in words:
            by_word[found][label] += 1
    for word, counts in by_word.items():
        n, most = sum(counts.values()), max(counts.values())
        # Two of three: the label stays open for every word, beyond four standard deviations of chance.
        assert most <= 2 / 3 * n + 4 * np.sqrt(n * 2 / 9), (word, counts)


def test_training_and_test_use_different_content_words(case: tuple[Task, Dataset]) -> None:
    task, data = case
    sides: dict[bool, set[str]] = {False: set(), True: set()}
    for text, held_out in zip(data.texts, data.in_test, strict=True):
        sides[bool(held_out)].update(WORD.findall(text.lower()))
    assert (sides[False] & sides[True]) - FUNCTION_WORDS <= task.shared_words


def test_the_seed_makes_the_sentences(case: tuple[Task, Dataset]) -> None:
    task, _ = case
    assert task.build(100, 3).texts == task.build(100, 3).texts
    assert task.build(100, 3).texts != task.build(100, 4).texts


def test_spans_are_words(case: tuple[Task, Dataset]) -> None:
    task, data = case
    if task.level == "token":
        assert all(WORD.fullmatch(data.word(i) or "") for i in range(len(data)))


def test_gold_labels_by_hand() -> None:
    length = TASKS["sentence_length"].build(200, 1)
    for text, label in zip(length.texts, length.labels, strict=True):
        shortest, longest = map(int, re.findall(r"\d+", label))
        assert shortest <= len(WORD.findall(text)) <= longest
    content = TASKS["word_content"].build(200, 1)
    for text, label in zip(content.texts, content.labels, strict=True):
        assert WORD.findall(text.lower()).count(label) == 1
    depth = TASKS["clause_depth"].build(200, 1)
    for text, label in zip(depth.texts, depth.labels, strict=True):
        words = WORD.findall(text.lower())
        assert (words.count("that"), words.count("and"), text.count(","), len(words)) == (3, 1, 1, 19)
        nested = 1 + text.count(" that ") - len(re.findall(r"(,| and) that ", text))
        assert nested - 1 == int(label)


def test_tasks_of_one_corpus_share_their_sentences() -> None:
    assert TASKS["subject_number"].build(50, 0).texts == TASKS["verb_number"].build(50, 0).texts
    assert TASKS["tense"].build(50, 0).texts == TASKS["negation"].build(50, 0).texts


def test_asking_for_more_than_the_grammar_has_says_so() -> None:
    with pytest.raises(InvalidInput, match="no 30 different sentences"):
        corpus(30, 0, {"x": ("a", "b")}, lambda *_: Sentence(("one", "word"), {}))
