"""The built-in sets as their files hold them: sizes, balance, splits that share neither words nor templates, and how
little is right for somebody who cannot read.
"""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from training.finetuning.data import KINDS, SPLITS, Data, Labelled, Tagged, check
from training.finetuning.scores import MEASURES, measures_of
from training.finetuning.sets import SETS, acceptability

SIZES = {
    "acceptability": (560, 80, 160),
    "entities": (280, 80, 80),
    "inference": (3015, 486, 963),
    "questions": (1596, 280, 420),
    "sentiment": (420, 120, 120),
    "similarity": (210, 60, 60),
}

WORD_LISTS = tomllib.loads(Path(__file__).with_name("words_of_sets.toml").read_text("utf-8"))
FUNCTION_WORDS = frozenset(" ".join(WORD_LISTS["function_words"].values()).split())
OF_FRAMES = frozenset(WORD_LISTS["frames"]["entailment"].split())
"""Words that the frames of entailment are made of, shared by its splits on purpose."""
ENDINGS = ("ingly", "edly", "ing", "ed", "es", "s", "ly", "er", "able", "ful", "less", "ment", "e", "y", "d", "i")


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z-]+", text.lower().replace("'s", " "))


def _stem(word: str) -> str:
    """The word without its endings, roughly: amazing and amazed, lesson and lessons, heavy and heavier are one."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return _stem(word.removesuffix(ending))
    return word


def _content(items: Iterable[Labelled]) -> set[str]:
    """The stems of all words that are not function words."""
    return {
        _stem(word) for item in items for text in _texts(item) for word in _words(text) if word not in FUNCTION_WORDS
    }


def _texts(item: Labelled) -> tuple[str, ...]:
    return (item.text,) if item.pair is None else (item.text, item.pair)


def _template(text: str) -> str:
    """What is left of a text without the content words: "The _ was really _ ."."""
    return " ".join(word if word in FUNCTION_WORDS else "_" for word in re.findall(r"[a-z-]+|[^a-z\s]", text.lower()))


@pytest.fixture(scope="module")
def built() -> dict[str, Data]:
    return {name: SETS[name].build() for name in SETS}


@pytest.fixture(params=["sentiment", "acceptability", "inference"], scope="module")
def data(request, built) -> Data:
    return built[request.param]


def apart(sets: list[set]) -> bool:
    """Whether nothing is in two of them."""
    return sum(map(len, sets)) == len(set.union(*sets))


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_whole(name: str) -> None:
    built_in = SETS[name]
    data = check(built_in.build())
    assert data == built_in.build()
    assert (data.name, data.title, data.kind) == (built_in.name, built_in.title, built_in.kind)
    assert (built_in.name, built_in.kind in KINDS, data.measure in MEASURES) == (name, True, True)
    assert measures_of(data)[0] == data.measure
    assert built_in.question.endswith("?")
    assert len(built_in.card) > 40
    splits = [data.split(split) for split in SPLITS]
    assert tuple(map(len, splits)) == SIZES.get(name, tuple(map(len, splits)))
    texts = [{(item.text, item.pair) for item in items} for items in splits]
    assert apart(texts)
    assert list(map(len, texts)) == list(map(len, splits))
    assert apart([{item.cluster for item in items if item.cluster} for items in splits])  # no template is in two splits
    tries = set(built_in.tries)
    assert len(tries) == 4
    assert not {text for pair in tries for text in pair if text} & {text for pair in set.union(*texts) for text in pair}
    assert all((pair is None) == (data.train[0].pair is None) for _, pair in built_in.tries)
    for items in splits:
        labels = Counter(item.label for item in items if isinstance(item, Labelled))
        assert not labels or set(labels) == set(data.labels)
        assert {tag for item in items if isinstance(item, Tagged) for tag in item.tags} <= set(data.labels)


def test_labels_are_balanced_and_in_no_order_and_sentences_are_well_written(data):
    for split in SPLITS:
        counts = Counter(item.label for item in data.split(split))
        assert counts == dict.fromkeys(data.labels, len(data.split(split)) // len(data.labels))
        for text in (text for item in data.split(split) for text in _texts(item)):
            assert re.fullmatch(r"[A-Z][A-Za-z',;:?! .-]*[.?!]", text), text
            assert not re.search(r"  | [,;.?!]|[{}\[\]|*]", text), text
            if data.name != "acceptability":
                assert not re.search(r"\b[Aa] [aeio]|\b[Aa]n [^aeiouh]|\b(\w+) \1\b", text), text
    labels = [item.label for item in data.train]
    assert sum(before == after for before, after in pairwise(labels)) < 0.6 * len(labels)


def test_parts_share_no_content_word_and_no_template(data):
    on_purpose = {_stem(word) for word in OF_FRAMES} if data.name == "inference" else set()
    content = {split: _content(data.split(split)) for split in SPLITS}
    templates = {split: {_template(item.text) for item in data.split(split)} for split in SPLITS}
    for split, other in combinations(SPLITS, 2):
        assert content[split] & content[other] <= on_purpose, (split, other)
        assert not templates[split] & templates[other], (split, other)


def _majority_by(feature, data) -> float:
    """Test accuracy of the label most often met with an item's feature in training; that of chance where unmet."""
    met = defaultdict(Counter)
    for item in data.train:
        met[feature(item)][item.label] += 1
    right = 0.0
    for item in data.test:
        counts = met.get(feature(item))
        if counts is None:
            right += 1 / len(data.labels)
        else:
            best = [label for label, count in counts.items() if count == max(counts.values())]
            right += (item.label in best) / len(best)
    return right / len(data.test)


FEATURES = {
    "first word": lambda item: _words(item.text)[0],
    "last word": lambda item: _words(item.text)[-1],
    "words": lambda item: len(_words(item.text)),
    "letters": lambda item: len(item.text) // 5,
    "not": lambda item: "not" in _words(item.text),
    "pair's first word": lambda item: item.pair is not None and _words(item.pair)[0],
    "pair's words": lambda item: item.pair is not None and len(_words(item.pair)),
    "pair denies": lambda item: item.pair and not {"not", "never", "nothing", "no"}.isdisjoint(_words(item.pair)),
}


def test_simple_features_and_bags_of_words_do_not_tell_the_label(data):
    for name, feature in FEATURES.items():
        assert _majority_by(feature, data) < 1 / len(data.labels) + 0.12, name
    assert _bag_of_words(data, lambda item: " ".join(_texts(item))) < 1 / len(data.labels) + 0.12


def _bag_of_words(data, read, **of) -> float:
    reader = make_pipeline(TfidfVectorizer(**{"ngram_range": (1, 2)} | of), LogisticRegression(C=10, max_iter=2000))
    reader.fit([read(item) for item in data.train], [item.label for item in data.train])
    return float(reader.score([read(item) for item in data.test], [item.label for item in data.test]))


def test_acceptability_comes_in_minimal_pairs(built):
    data = built["acceptability"]
    assert data.measure == "mcc"
    assert {pair.phenomenon for split in SPLITS for pair in acceptability.pairs(split)} == set(acceptability.KINDS)
    for split in SPLITS:
        pairs = acceptability.pairs(split)
        assert 2 * len(pairs) == len(data.split(split))
        good, bad = ([[{"an": "a"}.get(word, word) for word in _words(text)] for text in texts]
                     for texts in zip(*((pair.good, pair.bad) for pair in pairs), strict=True))  # fmt: skip
        # Each unacceptable one is at most one word longer, shorter or different, or has two words exchanged.
        assert all(map(_near, bad, good))
        assert sum(map(len, bad)) == sum(map(len, good))  # no kind of mistake makes sentences longer on the whole
        texts = [item.text for item in data.split(split)]
        assert not [text for text in texts if re.search(r"\b(made|saw|heard) the \w+ to\b|\b[Aa]t the\b", text)]


def _near(bad: list[str], good: list[str]) -> bool:
    """Whether a word added, left out or changed, or two neighbours exchanged, make bad the good."""
    if abs(len(bad) - len(good)) > 1:
        return False
    start = next((i for i, (a, b) in enumerate(zip(bad, good, strict=False)) if a != b), min(len(bad), len(good)))
    bad, good = bad[start:], good[start:]
    rests = [(bad[1:], good[1:]), (bad[1:], good), (bad, good[1:])]
    return any(a == b for a, b in rests) or (bad[:2] == good[1::-1] and bad[2:] == good[2:])


def test_every_sentence_of_entailment_has_each_label_equally_often(built):
    data = built["inference"]
    for split in SPLITS:
        labels = defaultdict(Counter)
        for item in data.split(split):
            for side, text in enumerate(_texts(item)):
                labels[side, text][item.label] += 1
        for sentence, counts in labels.items():
            assert counts == dict.fromkeys(data.labels, counts["neutral"]), sentence


@pytest.mark.slow
@pytest.mark.parametrize("of", [{}, {"analyzer": "char_wb", "ngram_range": (1, 5)}], ids=["words", "characters"])
def test_n_grams_get_nothing_from_entailment(built, of):
    """Of both texts; one alone has each label equally often (the test above), so that it gets a third."""
    right = _bag_of_words(built["inference"], lambda item: f"{item.text} {item.pair}", **of)
    assert right == pytest.approx(1 / 3, abs=0.03)


def test_shared_and_new_words_get_little_from_entailment(built):
    data = built["inference"]
    forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0)
    forest.fit([_overlap(item) for item in data.train], [item.label for item in data.train])
    right = forest.score([_overlap(item) for item in data.test], [item.label for item in data.test])
    (stated,) = re.findall(r"counts of shared words get (\d+)%", SETS["inference"].card)
    assert right == pytest.approx(int(stated) / 100, abs=0.02)
    assert right < 0.48


def _clusters_of_three(data: Data, split: str) -> set[str]:
    """The frames of entailment that are about three people or things: they make one group of nine pairs."""
    return {cluster for cluster, n in Counter(item.cluster for item in data.split(split)).items() if n == 9}


def test_entailment_to_choose_by_is_of_the_kind_of_the_test(built):
    """Two thirds of the pairs are about one person; half as many frames, on most of what the test's are on."""
    data = built["inference"]
    clusters = {split: {item.cluster for item in data.split(split)} for split in ("dev", "test")}
    shares = [len(_clusters_of_three(data, split)) / len(of_split) for split, of_split in clusters.items()]
    assert shares[0] == pytest.approx(shares[1], abs=0.02)
    dev, test = ({cluster.split(": ")[1] for cluster in of_split} for of_split in clusters.values())
    assert len(dev & test) >= 2 / 3 * len(test)


def _places(data):
    """For each item the places in the premise of what its three hypotheses ask about, by hypothesis; that of what is
    not mentioned is the premise's length.
    """
    question = defaultdict(set)
    for split in SPLITS:
        for item in data.split(split):
            question[item.text].add(item.pair)

    def places(item: Labelled) -> dict[str | None, int]:
        in_all = set.intersection(*(set(_words(hypothesis)) for hypothesis in question[item.text]))
        premise = _words(item.text)
        order = {word: place for place, word in reversed([*enumerate(premise)])}
        return {
            pair: min((order.get(word, len(premise)) for word in set(_words(pair)) - in_all), default=0)
            for pair in question[item.text]
        }

    return places


def _place(data):
    """Whether it is the first, second or third of the premise, and whether the hypothesis denies."""
    places = _places(data)

    def place(item: Labelled) -> tuple[int, bool]:
        at = places(item)
        denies = not {"not", "never", "none", "fewer", "cannot"}.isdisjoint(_words(item.pair))
        return sorted(at.values()).index(at[item.pair]), denies

    return place


def test_the_card_says_what_is_given_away_and_how_large_the_set_is(built):
    """To somebody who knows what is asked about: whether the premise mentions it, and its place there."""
    data, card = built["inference"], " ".join(SETS["inference"].card.split())
    places = _places(data)
    mentioned = _majority_by(lambda item: places(item)[item.pair] < len(_words(item.text)), data)
    place = _majority_by(_place(data), data)
    assert f"mentions it gets {mentioned:.0%} right" in card
    assert f"one that also uses its place gets {place:.0%}" in card
    assert max(mentioned, place) < 0.46
    of_three = {split: _clusters_of_three(data, split) for split in SPLITS}
    kept = {split: tuple(item for item in data.split(split) if item.cluster in of_three[split]) for split in SPLITS}
    assert _majority_by(_place(data), replace(data, **kept)) < 1 / 3 + 0.07
    frames = {item.cluster for split in SPLITS for item in data.split(split)}
    train, dev, test = SIZES["inference"]
    assert f"**{train + dev + test:,} pairs**" in card
    assert f"from {len(frames)} frames: {train:,} to train on, {dev} for development, {test} for the test" in card


def _overlap(item: Labelled) -> list[float]:
    """Lengths, words and pairs of words shared and new, and how many words of each text deny."""
    premise, hypothesis = map(_words, _texts(item))
    first, second = set(premise), set(hypothesis)
    new_pairs = set(pairwise(hypothesis)) - set(pairwise(premise))
    shared = len(first & second)
    denials = [len({"not", "never", "no", "none", "neither", "cannot"} & words) for words in (first, second)]
    return [len(premise), len(hypothesis), shared, len(second - first), len(new_pairs), shared / len(second), *denials]


def _names(item: Tagged) -> list[tuple[str, ...]]:
    names, name = [], []
    for word, tag in zip((*item.words, ""), (*item.tags, "O"), strict=True):
        if tag[0] != "I" and name:
            names.append(tuple(name))
            name = []
        if tag != "O":
            name.append(word)
    return names


def test_tags_are_well_formed_and_no_name_is_in_two_parts(built) -> None:
    splits = [built["entities"].split(split) for split in SPLITS]
    for items in splits:
        for item in items:
            assert all(tag[0] != "I" or before[2:] == tag[2:] for before, tag in pairwise(("O", *item.tags))), item
            assert len(set(_names(item))) == sum(tag[0] == "B" for tag in item.tags), item  # nobody meets himself
        assert sum(set(item.tags) == {"O"} for item in items) / len(items) == pytest.approx(0.1)
        types = Counter(tag[2:] for item in items for tag in item.tags if tag[0] == "B")
        assert min(types.values()) > 0.2 * sum(types.values())
    assert apart([{name for item in items for name in _names(item)} for items in splits])
    # Some names are words elsewhere in their part.
    for items, both in zip(splits[1:], ("mobile cork young hope faith", "bath reading nice king fox"), strict=True):
        words = [word for item in items for word in zip(item.words, item.tags, strict=True)]
        outside = {word.lower() for word, tag in words if tag == "O"}
        assert set(both.split()) <= outside & {word.lower() for word, tag in words if tag != "O"}


def test_every_answer_stands_where_it_is_said_to(built) -> None:
    splits = [built["questions"].split(split) for split in SPLITS]
    for items in splits:
        for item in items:
            assert all(item.pair[start : start + len(text)] == text for start, text in item.answers)
            assert 4 <= len(re.findall(r"[.] |[.]$", item.pair)) <= 5
        passages = Counter(item.pair for item in items)
        assert Counter(item.pair for item in items if item.answers) == dict.fromkeys(passages, 5)
        assert Counter(item.pair for item in items if not item.answers) == dict.fromkeys(passages, 2)
    assert [len({item.pair for item in items}) for items in splits] == [228, 40, 60]
    assert [len({item.cluster for item in items}) for items in splits] == [38, 10, 20]
    assert apart([{item.text for item in items} for items in splits])
    assert apart([{text.lower() for item in items for _, text in item.answers} for items in splits])


@pytest.mark.slow
def test_a_question_alone_does_not_tell_whether_it_has_an_answer(built) -> None:
    """In no split, learned from the training split or from the split itself: n-grams know by heart what they learned
    from, and nothing on passages that are new to them.
    """
    splits = [built["questions"].split(split) for split in SPLITS]
    train = splits[0]
    for n in (1, 3):
        vectorizer = CountVectorizer(ngram_range=(1, n), token_pattern=r"\w+")
        rule = make_pipeline(vectorizer, LogisticRegression(max_iter=1000))
        for items in splits:
            questions = [item.text for item in items]
            answered = np.array([bool(item.answers) for item in items])
            passages = [item.pair for item in items]
            folds = {"groups": passages, "cv": GroupKFold(5), "method": "predict_proba"}
            predicted = cross_val_predict(rule, questions, answered, **folds)[:, 1]
            assert roc_auc_score(answered, predicted) == pytest.approx(0.5, abs=0.08)
            if items is not train:
                rule.fit([item.text for item in train], [bool(item.answers) for item in train])
                assert rule.score(questions, answered) < np.mean(answered) + 0.02
    for items in splits:
        starts = Counter(item.text.split()[0] for item in items)
        for first in (first for first, n in starts.items() if n >= 30):
            of_start = [not item.answers for item in items if item.text.startswith(f"{first} ")]
            assert 0.13 < np.mean(of_start) < 0.43, first


def test_words_in_common_do_not_give_the_score_away(built) -> None:
    card = " ".join(SETS["similarity"].card.split())
    for split, use in (("train", "training split"), ("dev", "development split"), ("test", "test")):
        items = built["similarity"].split(split)
        gold = np.array([item.score for item in items])
        assert set(Counter(gold).values()) == {len(items) // 6}
        words = [[set(re.findall(r"\w+", text.lower())) for text in _texts(item)] for item in items]
        overlaps = np.array([len(first & second) / len(first | second) for first, second in words])
        correlation = spearmanr(overlaps, gold).statistic
        assert correlation < 0.5
        assert f"{correlation:.2f} in the {use}" in card
        mean = {score: overlaps[gold == score].mean() for score in set(gold)}
        assert mean[5] < mean[2] < mean[3] < mean[4]
