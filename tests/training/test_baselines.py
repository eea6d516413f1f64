"""Baseline ways to answer: each finds what a task gives away, and the strongest is chosen on the development split."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import tuning

from training.finetuning import baselines, scores
from training.finetuning.baselines import Baseline, candidates, strongest
from training.finetuning.data import KINDS, Data, Item, Kind, Labelled, PassageQuestion, Scored, Tagged
from training.finetuning.results import Answered, Classified

LABELS = ("no", "yes")


def of(kind: Kind, items: Sequence[Item], **others: object) -> Data:
    """Half of the items to train on, a quarter for each other split."""
    n = len(items)
    splits = {
        "train": tuple(items[: n // 2]),
        "dev": tuple(items[n // 2 : 3 * n // 4]),
        "test": tuple(items[3 * n // 4 :]),
    }
    return replace(tuning.data(kind), **splits, **others)


def reached(data: Data, ways: Sequence[Baseline], name: str) -> float:
    """The best that ways of this name come to on the test split."""
    return max(scores.value(data.measure, data.test, way.test) for way in ways if way.name == name)


def pairs(tells: str, ending: bool = False) -> Data:
    """Pairs of random words, of which the first or the second has one more that tells the label; or of made-up words,
    none of which comes twice, where an ``ending`` tells it.
    """
    rng = np.random.default_rng(0)
    items = []
    for number in range(160):
        if ending:
            words = [f"{word}{''.join(rng.choice(list('bcdfgklm'), 5))}" for word in rng.choice(tuning.WORDS, 2)]
        else:
            words = [" ".join(rng.choice(tuning.WORDS, size=4)) for _ in range(2)]
        tail = ("ed", "ing") if ending else (" not", " very")
        words[tells == "second"] += tail[number % 2]
        items.append(Labelled(*words, LABELS[number % 2]))
    return of("classification", items, labels=LABELS)


@pytest.mark.slow
@pytest.mark.parametrize(("tells", "hides"), [("first", "second"), ("second", "first")])
def test_ngrams_find_the_text_that_gives_the_label_away(tells: str, hides: str) -> None:
    data = pairs(tells)
    ways = list(candidates(data))
    assert reached(data, ways, f"n-grams of the {tells} text") == 1
    assert reached(data, ways, "n-grams of both texts") > 0.9
    assert reached(data, ways, f"n-grams of the {hides} text") < 0.75
    best_baseline = strongest(data, ways)
    assert best_baseline.name == f"n-grams of the {tells} text"
    assert [part.label for part in best_baseline.test] == [item.label for item in data.test]

    data = pairs(tells, ending=True)
    ways = list(candidates(data))
    best_baseline = strongest(data, ways)
    assert best_baseline.name.endswith(f"n-grams of the {tells} text")
    assert scores.value("accuracy", data.test, best_baseline.test) > 0.9
    assert reached(data, ways, f"character n-grams of the {tells} text") == 1
    assert reached(data, ways, f"character n-grams of the {hides} text") < 0.75


def test_lengths_and_words_in_common_are_enough_where_they_differ() -> None:
    rng = np.random.default_rng(0)
    items = []
    for number in range(120):
        words = [str(word) for word in rng.choice(tuning.WORDS, size=5, replace=False)]
        other = list(reversed(words)) if number % 2 else [str(word) for word in rng.choice(tuning.WORDS, size=5)]
        items.append(Labelled(" ".join(words), " ".join(other), LABELS[number % 2]))
    data = of("classification", items, labels=LABELS)
    assert reached(data, list(candidates(data)), "lengths and words in common") > 0.9
    scored = [Scored(item.text, item.pair or "", 5.0 * (item.label == "yes")) for item in items]
    data = of("similarity", scored)
    assert reached(data, list(candidates(data)), "the share of words in common") > 0.8


def test_words_are_tagged_by_their_neighbours() -> None:
    rng = np.random.default_rng(0)
    items = []
    for _ in range(80):
        name, *words = (str(word) for word in rng.choice(tuning.WORDS, size=4))
        items.append(Tagged(("mr", name, *words), ("O", "B-THING", "O", "O", "O")))
    data = of("tagging", items)
    assert reached(data, list(candidates(data)), "each word with its neighbours") == 1


def test_a_name_beside_the_words_of_the_question_is_an_answer() -> None:
    passage = "The bridge was built by Anna Weber. The mill belongs to Otto."
    answered = [
        PassageQuestion("Who built the bridge?", passage, ((passage.index("Anna"), "Anna Weber"),)),
        PassageQuestion("To whom does the mill belong?", passage, ((passage.index("Otto"), "Otto"),)),
        PassageQuestion("How long do whales sleep at night?", passage, ()),
    ]
    data = of("answering", answered * 8)
    best_baseline = strongest(data, list(candidates(data)))
    assert best_baseline.name == "the name or number in the sentence with most words of the question"
    assert scores.value("span_f1", data.test, best_baseline.test) == 1
    message = next(part for part in best_baseline.test if isinstance(part, Answered) and part.spans)
    assert passage[message.spans[0].start : message.spans[0].end] == message.text


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_some_for_the_smallest_data(kind: Kind) -> None:
    data = tuning.data(kind, train=2, dev=1, test=1)
    baselines = list(candidates(data))
    assert baselines
    assert all((len(part.dev), len(part.test)) == (1, 1) for part in baselines)
    assert strongest(data, baselines) in baselines


def test_the_strongest_is_chosen_on_the_development_part() -> None:
    data = tuning.data()
    right, wrong = (
        [Classified(label if sure else {"early": "late", "late": "early"}[label], ()) for label in labels]
        for sure, labels in (
            (True, [item.label for item in data.dev if isinstance(item, Labelled)]),
            (False, [item.label for item in data.test if isinstance(item, Labelled)]),
        )
    )
    lucky = Baseline("lucky in the test", tuple(wrong), tuple(right))
    better = Baseline("better", tuple(right), tuple(wrong))
    assert strongest(data, [lucky, better, replace(better, name="equal")]) is better


def test_cosines_of_a_model_are_one_of_them() -> None:
    data = tuning.data("similarity")
    gold = {
        split: [item.score / 5 for item in data.split(split) if isinstance(item, Scored)] for split in ("dev", "test")
    }
    best_baseline = strongest(data, list(candidates(data, gold)))
    assert best_baseline.name == "the cosine of the model’s vectors before tuning"
    assert scores.value("spearman", data.test, best_baseline.test) == pytest.approx(1)


def test_of_much_data_a_part_is_learnt_from(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pairs("first")
    monkeypatch.setattr(baselines, "MOST_TRAINED_ON", 2)
    assert reached(data, list(candidates(data)), "n-grams of the second text") <= 0.75
    monkeypatch.setattr(baselines, "MOST_TRAINED_ON", 80)
    assert reached(data, list(candidates(data)), "n-grams of the first text") == 1
