"""Every built-in task, found by itself: balanced, no word or pair of words that tells, other words in test."""

import re
from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from analysis.probing import TASKS, Dataset, Task, grammar
from analysis.probing.baselines import baseline_answers
from analysis.probing.data import DEV, TEST, TRAIN, checked
from analysis.probing.grammar import Sentence, Side, corpus
from analysis.probing.tasks import part_of_speech
from model_zoo.errors import InvalidInput

WORD = re.compile(r"\w+")

FUNCTION_WORDS = frozenset(
    grammar.listed(
        "the and but that when because although near behind beside in under above not never did does do it "
        "them two to will this every again anyway instead"
    )
)


@cache
def built(name: str) -> Dataset:
    return TASKS[name].build(2000, 0)


@pytest.fixture(params=sorted(TASKS))
def case(request: pytest.FixtureRequest) -> tuple[Task, Dataset]:
    return TASKS[request.param], built(request.param)


def test_two_thousand_different_sentences_that_can_be_probed(case: tuple[Task, Dataset]) -> None:
    task, data = case
    assert len(set(data.texts)) == len(data.texts) == 2000
    assert data.name == task.name
    assert data.level == task.level
    assert np.bincount(data.split).tolist() == [1200, 200, 600]
    assert checked(data) is data
    assert all(text[0].isupper() and text.endswith(".") and "  " not in text for text in data.texts)
    assert task.build(100, 3).texts == task.build(100, 3).texts != task.build(100, 4).texts
    if task.level == "token":
        assert all(WORD.fullmatch(data.word(i) or "") for i in range(len(data)))
    for part in (TRAIN, DEV, TEST):
        counts = Counter(np.array(data.labels)[data.item_split == part].tolist())
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
        for actual in words:
            by_word[actual][label] += 1
    for word, counts in by_word.items():
        n, most = sum(counts.values()), max(counts.values())
        # Two of three: the label stays open for every word, beyond four standard deviations of chance.
        assert most <= 2 / 3 * n + 4 * np.sqrt(n * 2 / 9), (word, counts)


def test_training_and_test_use_different_content_words(case: tuple[Task, Dataset]) -> None:
    task, data = case
    sides: dict[bool, set[str]] = {False: set(), True: set()}
    for text, part in zip(data.texts, data.split, strict=True):
        sides[bool(part != TRAIN)].update(WORD.findall(text.lower()))
    assert (sides[False] & sides[True]) - FUNCTION_WORDS <= task.shared_words
    # Not "at the kitchen" or "burned by the fox"; not "the brown huge tiny uncle".
    kinds = {word: kind for kind, words in enumerate(grammar.KINDS_OF_ADJECTIVES) for word in words}
    assert set(kinds) == set(grammar.ADJECTIVES)
    for text, label in zip(data.texts, data.labels, strict=False):
        words = WORD.findall(text.lower())
        assert not {"at", "by", "island"} & set(words), text
        if task.name != "bigram_shift" or label == "intact":
            for word, after in pairwise(words):
                if word in kinds and after in kinds:
                    assert kinds[word] < kinds[after], text
    # No word gives the label away.
    if task.name == "word_content":
        return  # its label is a word
    by_word: dict[str, Counter[str]] = defaultdict(Counter)
    for item, label in enumerate(data.labels):
        word = data.word(item)
        words = {word} if word else set(WORD.findall(data.texts[data.text_of[item]].lower()))
        for actual in words:
            by_word[actual][label] += 1
    for word, counts in by_word.items():
        n, most = sum(counts.values()), max(counts.values())
        # Two of three: the label stays open for every word, beyond four standard deviations of chance.
        assert most <= 2 / 3 * n + 4 * np.sqrt(n * 2 / 9), (word, counts)


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
        assert (words.count("that"), words.count("when"), words.count("but"), text.count(",")) == (3, 1, 1, 2)
        assert len(words) == 6 * 3 + 3 + 2 + 2
        assert max(branch.count(" that ") for branch in text.split(",")) == int(label)


# What their labels ask for can be seen in words and pairs of words: length, a name, an order, a word's neighbours.
OPEN_TO_NGRAMS = {"sentence_length", "word_content", "bigram_shift", "part_of_speech"}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(TASKS) - OPEN_TO_NGRAMS))
def test_neither_words_nor_pairs_nor_places_tell_the_label(name: str) -> None:
    data = built(name)
    labels = np.unique(data.labels, return_inverse=True)[1]
    actual = {name: correct.mean() for name, correct in baseline_answers(data, labels).items()}
    majority = actual.pop("majority")
    n = int((data.item_split == TEST).sum())
    margin = 3 * np.sqrt(majority * (1 - majority) / n)
    assert list(actual)[:2] == ["bag of words", "word bigrams"]
    assert all(abs(accuracy - majority) < margin for accuracy in actual.values()), actual


@pytest.mark.slow
def test_neither_its_place_nor_its_neighbours_tell_the_kind_of_a_word() -> None:
    data = built("part_of_speech")
    labels = np.unique(data.labels, return_inverse=True)[1]
    correct = baseline_answers(data, labels)
    assert correct["position"].mean() < 0.29  # of four kinds; it was 0.575 when they stood in places of their own
    assert correct["word bigrams"].mean() < 0.75  # it was 0.93 when "to", "never" or "often" stood before every verb
    assert "word only" not in correct  # no word asked about is in training


def test_a_verb_looks_different_in_the_past() -> None:
    """No "put" or "read", whose tense could not be told."""
    assert all(len({verb.base, verb.third, verb.past}) == 3 for verb in grammar.TRANSITIVE)
    # "When the nurses admire the vase, the poets did not paint the rope" is no English: its clauses have one tense.
    assert not any("when" in WORD.findall(text.lower()) for text in built("tense").texts)
    # Adjectives of one noun are of different kinds.
    rng = np.random.default_rng(0)
    for held_out in (False, True):
        words = Side(held_out).words(grammar.ADJECTIVES)
        drawn = [grammar.pick_adjectives(rng, words, 4) for _ in range(200)]
        assert all(len(set(entry)) == 4 for entry in drawn)
        assert {word for entry in drawn for word in entry} <= set(words)
    assert TASKS["subject_number"].build(50, 0).texts == TASKS["verb_number"].build(50, 0).texts
    assert TASKS["tense"].build(50, 0).texts == TASKS["negation"].build(50, 0).texts
    with pytest.raises(InvalidInput, match="does not have 30 different sentences"):
        corpus(30, 0, {"x": ("a", "b")}, lambda *_: Sentence(("one", "word"), {}))


PART = {
    **dict.fromkeys(grammar.ADJECTIVES, "J"),
    **dict.fromkeys(grammar.ADVERBS, "R"),
    **dict.fromkeys(grammar.NEUTRAL_PAST, "V"),
    **dict.fromkeys(
        [noun.singular for noun in (*grammar.PEOPLE, *grammar.THINGS, *grammar.ANIMALS)] + list(grammar.PLACES), "N"
    ),
    **dict.fromkeys(("in", "near", "behind", "beside", "above", "under"), "P"),
    "the": "D",
    "and": "C",
}
PHRASE = "DJ*N"
# A noun phrase alone counts as good, too: "the burned cart" could be read as one.
GOOD = re.compile(f"{PHRASE}(C{PHRASE})*(V(CV)*R?(P{PHRASE})*)?|D[JV]*N(P{PHRASE})*")


def test_swapped_words_are_wrong_in_every_reading() -> None:
    data = built("bigram_shift")
    good = {text for text, label in zip(data.texts, data.labels, strict=True) if label == "intact"}
    for text, label in zip(data.texts, data.labels, strict=True):
        tags = "".join(PART[word] for word in WORD.findall(text.lower()))
        assert (GOOD.fullmatch(tags) is not None) == (label == "intact"), text
        assert (text in good) == (label == "intact")


def test_each_verb_has_the_subject_that_its_label_says() -> None:
    """The noun right before a relative clause's verb, and the sentence's first noun beside a place for the other."""
    number = {noun.singular: "singular" for noun in (*grammar.PEOPLE, *grammar.THINGS)}
    number |= {noun.plural: "plural" for noun in (*grammar.PEOPLE, *grammar.THINGS)}
    data = built("verb_number")
    of_text: dict[int, list[int]] = defaultdict(list)
    for item, text in enumerate(data.text_of):
        of_text[text].append(item)
    for text, items in of_text.items():
        words = WORD.findall(data.texts[text].lower())
        assert ("that" in words) == (len(items) == 2)
        assert data.labels[items[-1]] == next(number[word] for word in words if word in number)
        if len(items) == 2:
            before, verb, after = words[words.index(data.word(items[0])) - 1 :][:3]
            assert (number[before], data.word(items[0]), PART[after]) == (data.labels[items[0]], verb, "P")


def test_a_natural_order_introduces_first_and_an_inverted_one_does_not() -> None:
    data = built("coordination_inversion")
    for text, label in zip(data.texts, data.labels, strict=True):
        words = WORD.findall(text.lower())
        new, back = (
            next(i for i, word in enumerate(words) if word in question)
            for question in ({"this", "two"}, {"it", "them"})
        )
        assert (new < back) == (label == "natural"), text
        assert ("two" in words) == ("them" in words)


def test_words_that_can_be_two_fit_what_they_stand_beside() -> None:
    """Not "described to struggle", "acted wide" or "every deep concert"; and not "in the school clerks search"."""
    data = built("part_of_speech")
    for text, label, (_, end) in zip(data.text_of, data.labels, data.spans, strict=True):
        *_, before, word = WORD.findall(data.texts[text][:end].lower())
        if label == "ADJ":
            assert WORD.findall(data.texts[text][end:])[0] in part_of_speech.SUITS[word][0]
        elif label == "ADV":
            assert before in part_of_speech.SUITS[word][1]
        else:
            plural = {
                person.plural for person in grammar.PEOPLE
            }  # no place before them, which could be a part of their name
            assert label == "NOUN" or before in {"to", "never"} | plural
            assert word in part_of_speech.NOUN_OR_VERB
    for held_out in (False, True):
        side = Side(held_out)
        for word in side.words(part_of_speech.ADJECTIVE_OR_ADVERB):
            events, verbs = part_of_speech.SUITS[word]
            assert events & set(side.words(part_of_speech.EVENTS))
            assert verbs & set(side.words(part_of_speech.MOVED))
