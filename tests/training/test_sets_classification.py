"""The built-in sets of classification: sizes, balance, and splits that share neither words nor templates."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import astuple, replace
from itertools import combinations, pairwise

import numpy as np
import pytest

from analysis.probing.grammar import listed
from training.finetuning.data import SPLITS, BuiltIn, Labelled, check
from training.finetuning.sets import acceptability, inference, sentiment
from training.finetuning.sets.inference.frames import FRAMES, FRAMES_OF_ONE, POOLS
from training.finetuning.writing import Deck, written

SETS = {module.SET.name: module.SET for module in (sentiment, acceptability, inference)}
SIZES = {"sentiment": (420, 120, 120), "acceptability": (560, 80, 160), "inference": (3015, 486, 963)}

FUNCTION_WORDS = frozenset(
    listed(
        # articles, determiners, quantifiers
        "a an the this that these those each every all both some any no none one two three several many much most more "
        "less little lot few other another same such what which whose whole "
        # pronouns
        "i me my myself you your he him his himself she her herself it its itself we us our ourselves they them their "
        "themselves who whom others everyone everybody everything everywhere anyone anybody anything someone somebody "
        "something nobody nothing there here "
        # auxiliaries
        "is are was were be been being am do does did has have had having "
        "can could will would shall should may might must "
        # prepositions, conjunctions, particles
        "of to in on at by for with without from into about above after before behind near under between against "
        "out up over off through throughout past since until than as like and or but nor neither either not only if "
        "whether because although though even while when why how where whatever so yet however despite instead "
        # adverbs of degree, time and manner that say nothing on their own
        "very too just quite rather really never ever always often hardly already still once then now both again also "
        "else at first"
    )
)
OF_FRAMES = frozenset(
    listed(
        "alone asked asks asleep awake beat bed below bigger bought came cannot certain come comes down eight eleven "
        "failed false far go heard impossible least own owns possible today tried "
        "fewer five forgot four friend friends hangs home hour hours know knows late left likes live lives long "
        "longer looked looking lost manage managed met older phone read reading refused right rightly said saw say see "
        "seen sell seven shorter six smaller sold stay stayed talk taller ten true unlike wanted wants watch watching "
        "went whereas won wonders work works younger"
    )
)
"""Words that the frames of entailment are made of, shared by its splits on purpose: they say what follows from what."""

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


def _template(item: Labelled) -> tuple[str, ...]:
    """What is left of a text, or of both, without the content words: "The _ was really _ ."."""
    return tuple(
        " ".join(word if word in FUNCTION_WORDS else "_" for word in re.findall(r"[a-z-]+|[^a-z\s]", text.lower()))
        for text in _texts(item)
    )


@pytest.fixture(params=SETS, scope="module")
def built_in(request) -> BuiltIn:
    return SETS[request.param]


@pytest.fixture(scope="module")
def data(built_in):
    return built_in.build()


def test_the_sizes_and_the_labels(built_in, data):
    assert tuple(len(data.split(split)) for split in SPLITS) == SIZES[built_in.name]
    assert (data.name, data.title, data.kind) == (built_in.name, built_in.title, built_in.kind)
    assert check(data) is data
    assert {item.label for split in SPLITS for item in data.split(split)} == set(data.labels)


def test_labels_are_balanced_in_every_part(data):
    for split in SPLITS:
        counts = Counter(item.label for item in data.split(split))
        assert counts == dict.fromkeys(data.labels, len(data.split(split)) // len(data.labels))


def test_it_is_always_the_same(built_in, data):
    assert built_in.build() == data


def test_opinions_to_choose_by_are_of_the_kind_of_the_test():
    """As many templates of each kind, and as many words for each slot: a split of harder words would mislead."""

    def made_of(split):
        writing = sentiment.WRITINGS[split]
        kinds = Counter(("{anti}" in template, "{verdict}" in template) for template in writing.templates)
        topics = [[words.count(" ") for words in astuple(topic)] for topic in writing.topics]
        return kinds, topics, [[side.count(" ") for side in sides] for sides in (writing.verdicts, writing.verbs)]

    assert made_of("dev") == made_of("test")


def test_no_opinion_is_on_a_characters():
    for split in SPLITS:
        parts = {part for topic in sentiment.WRITINGS[split].topics for part in topic.parts.split()}
        plural = "|".join(part.rstrip("*") for part in parts if part.endswith("*"))
        for item in SETS["sentiment"].build().split(split):
            assert not re.search(rf"\b[Aa]n? [a-z-]+ (?:{plural})\b", item.text), item.text


def test_the_order_does_not_tell_the_label(data):
    labels = [item.label for item in data.train]
    assert sum(one == other for one, other in pairwise(labels)) < 0.6 * len(labels)


def test_no_item_is_there_twice_and_none_is_a_try(built_in, data):
    items = [_texts(item) for split in SPLITS for item in data.split(split)]
    assert len(set(items)) == len(items)
    tries = {text for pair in built_in.tries for text in pair if text}
    assert not tries & {text for item in items for text in item}
    assert len(built_in.tries) == 4
    assert all((second is None) == (data.train[0].pair is None) for _, second in built_in.tries)


def test_parts_share_no_content_word(data):
    on_purpose = {_stem(word) for word in OF_FRAMES} if data.name == "inference" else set()
    for one, other in combinations(SPLITS, 2):
        assert _content(data.split(one)) & _content(data.split(other)) <= on_purpose, (one, other)


def test_what_fills_the_slots_of_entailment_is_in_no_other_part():
    data = SETS["inference"].build()
    for split, pools in POOLS.items():
        fillers = {_stem(word) for pool in pools.values() for word in _words(pool)}
        for other in SPLITS:
            assert split == other or not fillers & _content(data.split(other)), (split, other)


def test_parts_share_no_template(data):
    templates = {split: {_template(item) for item in data.split(split)} for split in SPLITS}
    for one, other in combinations(SPLITS, 2):
        assert templates[one] & templates[other] == set(), (one, other)


def test_splits_of_entailment_share_no_premise_without_its_fillers():
    data = SETS["inference"].build()
    frames = {split: {_template(item)[0] for item in data.split(split)} for split in SPLITS}
    for one, other in combinations(SPLITS, 2):
        assert frames[one] & frames[other] == set(), (one, other)
    assert all({item.cluster for item in data.split(split)}.isdisjoint(_clusters(data, split)) for split in SPLITS)
    assert {split: len({item.cluster for item in data.split(split)}) for split in SPLITS} == {
        split: len(FRAMES[split]) + len(FRAMES_OF_ONE[split]) for split in SPLITS
    }


def _clusters(data, split) -> set[str]:
    """Those of the other splits."""
    return {item.cluster for other in SPLITS if other != split for item in data.split(other)}


def test_sentences_are_well_written(data):
    for split in SPLITS:
        for item in data.split(split):
            for text in _texts(item):
                assert re.fullmatch(r"[A-Z][A-Za-z',;:?! .-]*[.?!]", text), text
                assert not re.search(r"  | [,;.?!]|[{}\[\]|*]", text), text
                if data.name != "acceptability":
                    assert not re.search(r"\b[Aa] [aeio]|\b[Aa]n [^aeiouh]|\b(\w+) \1\b", text), text


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


@pytest.mark.parametrize(
    "feature",
    [
        lambda item: _words(item.text)[0],
        lambda item: _words(item.text)[-1],
        lambda item: len(_words(item.text)),
        lambda item: len(item.text) // 5,
        lambda item: "not" in _words(item.text),
        lambda item: item.pair is not None and _words(item.pair)[0],
        lambda item: item.pair is not None and len(_words(item.pair)),
        lambda item: item.pair is not None and not {"not", "never", "nothing", "no"}.isdisjoint(_words(item.pair)),
    ],
    ids=["first word", "last word", "words", "letters", "not", "pair's first word", "pair's words", "pair denies"],
)
def test_simple_features_do_not_tell_the_label(data, feature):
    assert _majority_by(feature, data) < 1 / len(data.labels) + 0.12


def _bag_of_words(data, read, **of) -> float:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    reader = make_pipeline(TfidfVectorizer(**{"ngram_range": (1, 2)} | of), LogisticRegression(C=10, max_iter=2000))
    reader.fit([read(item) for item in data.train], [item.label for item in data.train])
    return float(reader.score([read(item) for item in data.test], [item.label for item in data.test]))


def test_a_bag_of_words_does_not_do(data):
    assert _bag_of_words(data, lambda item: " ".join(_texts(item))) < 1 / len(data.labels) + 0.12


def test_the_card_of_entailment_counts_right():
    data = SETS["inference"].build()
    sizes = [len(data.split(split)) for split in SPLITS]
    for said in (
        f"**{sum(sizes):,} pairs**",
        f"from {sum(map(len, (*FRAMES.values(), *FRAMES_OF_ONE.values())))} frames",
        f"{sizes[0]:,} to train on, {sizes[1]} for\ndevelopment, {sizes[2]} for the test",
    ):
        assert said in SETS["inference"].card


def test_acceptability_comes_in_minimal_pairs():
    data = SETS["acceptability"].build()
    assert data.measure == "mcc"
    for split in SPLITS:
        sides = {label: [] for label in data.labels}
        for item in data.split(split):
            sides[item.label].append(["a" if word == "an" else word for word in _words(item.text)])
        # Each unacceptable one is at most one word longer, shorter or different, or has two words exchanged.
        for bad in sides["unacceptable"]:
            assert any(_near(bad, good) for good in sides["acceptable"]), bad
        # No kind of mistake makes sentences longer on the whole.
        bad_length, good_length = (sum(map(len, sides[label])) for label in data.labels)
        assert bad_length == good_length


def test_no_unacceptable_sentence_has_a_good_reading():
    """As "The guard brought in the garden" has, "The farmers fell them" and "The writer will saw the box"."""
    for split in SPLITS:
        words = acceptability.WORDS[split]
        # Trees are felled, and governments disappear people.
        assert not {"fell", "disappeared", "vanished"} & set(words.without_object.split())
        # Two lift, hold and touch without saying what; and "in" goes with the verb.
        assert not {"brought", "carried", "lifted", "held", "touched", "took"} & set(words.with_object.split())
        # To saw, to found; and one sees or notices somebody do something.
        assert not {"see", "find", "watch", "notice", "hear"} & set(words.verbs.split())
        texts = [item.text for item in SETS["acceptability"].build().split(split)]
        assert not [text for text in texts if re.search(r"\b(made|saw|heard) the \w+ to\b|\b[Aa]t the\b", text)]
        # Without its article it follows no noun that it could go with ("near the school hunter").
        assert not [
            text for text in texts if re.match(rf"Near the ({words.places.replace(' ', '|')}) (?!he |him )\w", text)
        ]


def _near(one: list[str], other: list[str]) -> bool:
    """Whether a word added, left out or changed, or two neighbours exchanged, make one the other."""
    if abs(len(one) - len(other)) > 1:
        return False
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    one, other = one[start:], other[start:]
    rests = [(one[1:], other[1:]), (one[1:], other), (one, other[1:])]
    return any(a == b for a, b in rests) or (one[:2] == other[1::-1] and one[2:] == other[2:])


@pytest.mark.parametrize("side", [0, 1], ids=["premise", "hypothesis"])
def test_every_sentence_has_each_label_equally_often(side):
    data = SETS["inference"].build()
    for split in SPLITS:
        labels = defaultdict(Counter)
        for item in data.split(split):
            labels[_texts(item)[side]][item.label] += 1
        for sentence, counts in labels.items():
            assert counts == dict.fromkeys(data.labels, counts["neutral"]), sentence


@pytest.mark.slow
@pytest.mark.parametrize(
    "read",
    [lambda item: item.text, lambda item: item.pair, lambda item: f"{item.text} {item.pair}"],
    ids=["premise alone", "hypothesis alone", "both"],
)
@pytest.mark.parametrize("of", [{}, {"analyzer": "char_wb", "ngram_range": (1, 5)}], ids=["words", "characters"])
def test_n_grams_get_nothing_from_entailment(read, of):
    assert _bag_of_words(SETS["inference"].build(), read, **of) == pytest.approx(1 / 3, abs=0.03)


def test_shared_and_new_words_get_little_from_entailment():
    from sklearn.ensemble import RandomForestClassifier

    data = SETS["inference"].build()
    forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0)
    forest.fit([_overlap(item) for item in data.train], [item.label for item in data.train])
    right = forest.score([_overlap(item) for item in data.test], [item.label for item in data.test])
    (said,) = re.findall(r"counts of shared words get (\d+)%", SETS["inference"].card)
    assert right == pytest.approx(int(said) / 100, abs=0.02)
    assert right < 0.48


def test_entailment_to_choose_by_is_of_the_kind_of_the_test():
    """Two thirds of the pairs are about one person; half as many frames, on most of what the test's are on."""
    for frames in (FRAMES, FRAMES_OF_ONE):
        assert 2 * len(frames["dev"]) >= len(frames["test"])
        phenomena = [{frame.phenomenon for frame in frames[split]} for split in ("dev", "test")]
        assert len(phenomena[0] & phenomena[1]) >= 2 / 3 * len(phenomena[1])
    shares = [len(FRAMES_OF_ONE[split]) / (len(FRAMES[split]) + len(FRAMES_OF_ONE[split])) for split in SPLITS]
    assert shares[1] == pytest.approx(shares[2], abs=0.02)


def _places(data):
    """For each item the places in the premise of what its three hypotheses ask about, by hypothesis; that of what is
    not mentioned is the premise's length.
    """
    asked = defaultdict(set)
    for split in SPLITS:
        for item in data.split(split):
            asked[item.text].add(item.pair)

    def places(item: Labelled) -> dict[str | None, int]:
        in_all = set.intersection(*(set(_words(hypothesis)) for hypothesis in asked[item.text]))
        premise = _words(item.text)
        order = {word: place for place, word in reversed([*enumerate(premise)])}
        return {
            pair: min((order.get(word, len(premise)) for word in set(_words(pair)) - in_all), default=0)
            for pair in asked[item.text]
        }

    return places


def _place(data):
    """Whether it is the first, second or third of the premise, and whether the hypothesis denies."""
    places = _places(data)

    def place(item: Labelled) -> tuple[int, bool]:
        found = places(item)
        denies = not {"not", "never", "none", "fewer", "cannot"}.isdisjoint(_words(item.pair))
        return sorted(found.values()).index(found[item.pair]), denies

    return place


def test_the_place_of_who_is_asked_about_tells_nothing():
    """In the frames of three people."""
    data = SETS["inference"].build()

    def of_three(split):
        names = {f"{split} {number}: {frame.phenomenon}" for number, frame in enumerate(FRAMES[split], 1)}
        return tuple(item for item in data.split(split) if item.cluster in names)

    of_three_alone = replace(data, **{split: of_three(split) for split in SPLITS})
    assert len(of_three_alone.test) == 9 * len(FRAMES["test"])
    assert _majority_by(_place(data), of_three_alone) < 1 / 3 + 0.07


def test_the_card_says_what_is_given_away():
    """To those who are told what is asked about: whether the premise mentions it, and its place there."""
    data, card = SETS["inference"].build(), SETS["inference"].card
    places = _places(data)
    mentioned = _majority_by(lambda item: places(item)[item.pair] < len(_words(item.text)), data)
    place = _majority_by(_place(data), data)
    assert f"mentions it gets {mentioned:.0%} right" in " ".join(card.split())
    assert f"one that also uses its place gets {place:.0%}" in " ".join(card.split())
    assert max(mentioned, place) < 0.46


@pytest.mark.parametrize("split", SPLITS)
def test_frames_that_tell_of_one_are_balanced(split):
    for frame in FRAMES_OF_ONE[split]:
        orders = [[slot for slot in re.findall("[{]([xyz])[}]", premise) if slot != "z"] for premise in frame.premises]
        assert orders == [["x", "y"], ["y", "x"]], frame
        assert sum("{z}" in premise for premise in frame.premises) == 1, frame


def _overlap(item: Labelled) -> list[float]:
    """Lengths, words and pairs of words shared and new, and how many words of each text deny."""
    premise, hypothesis = map(_words, _texts(item))
    first, second = set(premise), set(hypothesis)
    new_pairs = set(pairwise(hypothesis)) - set(pairwise(premise))
    shared = len(first & second)
    denials = [len({"not", "never", "no", "none", "neither", "cannot"} & words) for words in (first, second)]
    return [len(premise), len(hypothesis), shared, len(second - first), len(new_pairs), shared / len(second), *denials]


@pytest.mark.parametrize(
    ("template", "thing", "text"),
    [
        ("it was a {thing}", "awful inn", "It was an awful inn."),
        ("an {thing} is a fact?", "useful book", "A useful book is a fact?"),
        ("what a {thing}! it is an end", "honest hour", "What an honest hour! It is an end."),
        ("when it {thing} , they left", "", "When it, they left."),
    ],
)
def test_templates_are_filled(template, thing, text):
    assert written(template, {"thing": thing}) == text


def test_a_deck_deals_all_before_any_comes_again():
    deck = Deck(np.random.default_rng(0), "abc")
    drawn = [deck.draw() for _ in range(12)]
    assert all(sorted(drawn[start : start + 3]) == ["a", "b", "c"] for start in range(0, 12, 3))
    for _ in range(20):
        first = deck.draw()
        assert deck.draw(first) != first
    assert Deck(np.random.default_rng(0), "ab").draw("a") == "b"
