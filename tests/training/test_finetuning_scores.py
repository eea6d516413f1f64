"""Scores: against scikit-learn, scipy and seqeval on random answers, and against values known by hand."""

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import tuning
from scipy import stats
from seqeval.metrics import f1_score as entity_f1
from sklearn import metrics

from training.finetuning import scores
from training.finetuning.data import KINDS, Item, Kind, Labelled, PassageQuestion, Scored, Tagged
from training.finetuning.results import Answered, AnswerSpan, Classified, Prediction, Rated, TaggedWords


def classified(label: str) -> Classified:
    return Classified(label, (1.0,))


def answered(text: str) -> Answered:
    return Answered((AnswerSpan(0, len(text), text, 1.0),), 0.0) if text else Answered((), 0.0)


@pytest.mark.parametrize("n_labels", [2, 4])
def test_labels_are_scored_as_by_sklearn(n_labels: int) -> None:
    rng = np.random.default_rng(n_labels)
    gold, predicted = rng.integers(n_labels, size=(2, 60)).astype(str)
    items = [Labelled("a", None, label) for label in gold]
    answers = [classified(label) for label in predicted]
    assert scores.value("accuracy", items, answers) == pytest.approx(metrics.accuracy_score(gold, predicted))
    assert scores.value("macro_f1", items, answers) == pytest.approx(metrics.f1_score(gold, predicted, average="macro"))
    assert scores.value("mcc", items, answers) == pytest.approx(metrics.matthews_corrcoef(gold, predicted))
    labels = sorted({*gold, *predicted})
    np.testing.assert_array_equal(
        scores.confusion(items, answers, labels), metrics.confusion_matrix(gold, predicted, labels=labels)
    )


def test_one_answer_for_all_tells_nothing_and_all_right_is_not_certain() -> None:
    items = [Labelled("a", None, label) for label in "abab"]
    assert scores.value("mcc", items, [classified("a")] * 4) == 0
    rated = [Scored("a", "b", float(score)) for score in range(4)]
    assert scores.value("spearman", rated, [Rated(1.0)] * 4) == 0
    data = tuning.data(test=24)
    accuracy, macro_f1, mcc = scores.evaluate(data, [classified(item.label) for item in data.test])
    assert (accuracy.low, accuracy.high) == pytest.approx((0.862, 1), abs=1e-3)
    assert macro_f1.low == accuracy.low
    assert mcc.low == pytest.approx(2 * accuracy.low - 1)


def test_entities_are_scored_as_by_seqeval() -> None:
    rng = np.random.default_rng(0)
    tags = ["O", "O", "B-PLACE", "I-PLACE", "B-NAME", "I-NAME"]
    gold = [[str(tag) for tag in rng.choice(tags, size=8)] for _ in range(40)]
    predicted = [[tag if rng.random() < 0.7 else str(rng.choice(tags)) for tag in row] for row in gold]
    items = [Tagged(("w",) * 8, tuple(row)) for row in gold]
    answers = [TaggedWords(("w",) * 8, tuple(row), (1.0,) * 8) for row in predicted]
    assert scores.value("entity_f1", items, answers) == pytest.approx(entity_f1(gold, predicted))
    flat = [[tag for row in rows for tag in row] for rows in (gold, predicted)]
    assert scores.value("word_accuracy", items, answers) == pytest.approx(metrics.accuracy_score(*flat))


def test_correlations_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    gold, predicted = rng.integers(6, size=50) / 1.0, rng.normal(size=50)
    items, answers = [Scored("a", "b", score) for score in gold], [Rated(score) for score in predicted]
    assert scores.value("spearman", items, answers) == pytest.approx(stats.spearmanr(gold, predicted).statistic)
    assert scores.value("pearson", items, answers) == pytest.approx(stats.pearsonr(gold, predicted).statistic)


def squad_2(predicted: str, golds: Sequence[str]) -> tuple[float, float]:
    """F1 and exact match of an answer by the rules of SQuAD 2.0's own program, evaluate-v2.0.py, written anew."""

    def words(answer: str) -> list[str]:
        bare = "".join(letter for letter in answer.lower() if letter not in string.punctuation)
        return [word for word in re.split(r"\s+|\b(?:a|an|the)\b", bare) if word]

    def f1(gold: list[str], guess: list[str]) -> float:
        if not gold or not guess:
            return float(gold == guess)
        rest, same = list(gold), 0
        for word in guess:
            if word in rest:
                rest.remove(word)
                same += 1
        return 2 * (same / len(guess)) * (same / len(gold)) / (same / len(guess) + same / len(gold)) if same else 0.0

    accepted = [words(gold) for gold in golds if words(gold)] or [[]]
    guess = words(predicted)
    return max(f1(gold, guess) for gold in accepted), max(float(gold == guess) for gold in accepted)


@pytest.mark.parametrize(
    ("predicted", "gold", "f1", "exact"),
    [
        ("The old bridge.", ("old bridge",), 1, 1),
        ("the old stone bridge", ("old bridge",), 0.8, 0),
        ("old old bridge", ("old bridge old mill",), 6 / 7, 0),
        ("river", ("bridge", "the river"), 1, 1),
        ("boat", ("bridge",), 0, 0),
        ("", (), 1, 1),
        ("boat", (), 0, 0),
        ("the", (), 1, 1),
        ("", ("bridge",), 0, 0),
        ("", ("the", "bridge"), 0, 0),  # the first is no answer, and there is another
        ("bridge", ("the", "bridge"), 1, 1),
        ("", ("The ...",), 1, 1),
        ("the", ("A",), 1, 1),
        ("boat", ("...",), 0, 0),
        ("theatre", ("the atre",), 0, 0),
        ("U.S.", ("US",), 1, 1),
    ],
)
def test_answers_are_compared_as_in_squad_2(predicted: str, gold: tuple[str, ...], f1: float, exact: float) -> None:
    items = [PassageQuestion("q", "p", tuple((0, text) for text in gold))]
    assert squad_2(predicted, gold) == pytest.approx((f1, exact))
    assert scores.value("span_f1", items, [answered(predicted)]) == pytest.approx(f1)
    assert scores.value("exact_match", items, [answered(predicted)]) == exact


def test_intervals_hold_the_score_and_shrink_with_more_items() -> None:
    """Of the most there are more clusters than can be left out one by one."""
    widths = []
    for n in (40, 640, 1500):
        data = tuning.data(test=n)
        answers = [classified(item.label if place % 4 else "early") for place, item in enumerate(data.test)]
        accuracy, macro_f1, mcc = scores.evaluate(data, answers)
        assert [accuracy.measure, macro_f1.measure, mcc.measure] == ["accuracy", "macro_f1", "mcc"]
        assert accuracy.low < accuracy.value < accuracy.high
        assert accuracy.baseline == pytest.approx(0.5)
        assert mcc.baseline == 0
        widths.append(accuracy.high - accuracy.low)
        p = accuracy.value
        assert widths[-1] == pytest.approx(2 * 1.96 * np.sqrt(p * (1 - p) / n), rel=0.15)
    assert widths[1] < widths[0] / 3


def drawn(kind: Kind, rng: np.random.Generator, n: int, part: int) -> tuple[list[Item], list[Prediction]]:
    """Items in ``n`` groups, of which some are harder than others, and how they are answered."""
    items: list[Item] = []
    predicted: list[Prediction] = []
    for group in range(n):
        harder = rng.normal(0, 1) if part > 1 else 0.0
        for number in range(part):
            cluster = f"group {group}" if part > 1 else ""
            right = bool(rng.random() < 1 / (1 + np.exp(harder - 1.7)))
            if kind == "classification":
                label = "ab"[(group + number) % 2]
                items.append(Labelled("a", None, label, cluster))
                predicted.append(classified(label if right else "ba"[(group + number) % 2]))
            elif kind == "tagging":
                items.append(Tagged(("w",) * 3, ("O", "B-A", "I-A"), cluster))
                predicted.append(TaggedWords(("w",) * 3, ("O", "B-A", "I-A" if right else "O"), (1.0,) * 3))
            elif kind == "answering":
                items.append(PassageQuestion("q", "p", ((0, "old bridge"),), cluster))
                predicted.append(answered("old bridge" if right else ("bridge", "river", "")[number % 3]))
            else:
                score = float((group + number) % 6)
                items.append(Scored("a", "b", score, cluster))
                predicted.append(Rated(score + harder + rng.normal()))
    return items, predicted


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "part"), [(60, 1), (20, 6)])
def test_intervals_hold_what_is_true(kind: Kind, n: int, part: int) -> None:
    """At the sizes of the built-in sets, with the groups that one template makes and without."""
    rng, repeats = np.random.default_rng(7), 120
    plain = tuning.data(kind, labels=("a", "b")) if kind == "classification" else tuning.data(kind)
    many = drawn(kind, rng, 1000, part)
    held: Counter[str] = Counter()
    for _ in range(repeats):
        items, predicted = drawn(kind, rng, n, part)
        for score in scores.evaluate(replace(plain, test=tuple(items)), predicted):
            held[score.measure] += score.low <= scores.value(score.measure, *many) <= score.high
    assert min(held.values()) / repeats >= 0.89


@pytest.mark.parametrize("part", [1, 5])
def test_few_items_of_which_nearly_all_are_right_have_intervals_that_hold_what_is_true(part: int) -> None:
    """24 items, or 24 groups of items that are easy or hard together, and a true accuracy of 95%. The percentiles of a
    bootstrap hold it in 71% of such samples, since all are right in 29%.
    """
    rng, repeats, held = np.random.default_rng(3), 120, 0
    plain = tuning.data(labels=("a", "b"))
    for _ in range(repeats):
        easy = rng.beta(0.95 * 3, 0.05 * 3, size=24) if part > 1 else np.full(24, 0.95)
        right = (rng.random((24, part)) < easy[:, None]).ravel()
        items = tuple(Labelled("a", None, "ab"[place % 2], f"group {place // part}") for place in range(24 * part))
        predicted = [classified(item.label if good else "c") for item, good in zip(items, right, strict=True)]
        score = scores.evaluate(replace(plain, test=items), predicted)[0]
        held += score.low <= 0.95 <= score.high
    assert held / repeats >= 0.9


def test_items_of_one_cluster_count_together() -> None:
    """Six times the same item says no more than once."""
    items, predicted = drawn("classification", np.random.default_rng(0), 20, 1)
    plain = tuning.data(labels=("a", "b"))
    once = scores.evaluate(replace(plain, test=tuple(items)), predicted)[0]
    six = tuple(replace(item, cluster=str(place)) for place, item in enumerate(items) for _ in range(6))
    again = scores.evaluate(replace(plain, test=six), [part for part in predicted for _ in range(6)])[0]
    assert (again.low, again.high) == pytest.approx((once.low, once.high))
    apart = scores.evaluate(replace(plain, test=tuple(items) * 6), predicted * 6)[0]
    assert apart.high - apart.low < (once.high - once.low) / 2


def test_seeds_are_a_mean_and_widen_the_interval() -> None:
    data = tuning.data(test=60)
    seeds = [
        [classified(item.label if place % every else "early") for place, item in enumerate(data.test)]
        for every in (2, 4, 8)
    ]
    alone = [scores.evaluate(data, seed)[0] for seed in seeds]
    together = scores.evaluate(data, *seeds)[0]
    assert together.value == pytest.approx(np.mean([score.value for score in alone]))
    assert together.high - together.low > alone[1].high - alone[1].low
    same = scores.evaluate(data, seeds[0], seeds[0])[0]
    assert (same.low, same.high) == pytest.approx((alone[0].low, alone[0].high))


def test_measures_of_the_data_come_first_and_something_trivial_stands_beside() -> None:
    data = tuning.data(measure="mcc")
    predicted = [classified(item.label) for item in data.test]
    assert [score.measure for score in scores.evaluate(data, predicted)] == ["mcc", "accuracy", "macro_f1"]
    data = tuning.data()
    assert scores.evaluate(data, predicted)[0].strongest_baseline is None
    assert scores.evaluate(data, predicted, beside=[classified("early")] * len(predicted))[0].strongest_baseline == 0.5
    with pytest.raises(ValueError, match="1 prediction for 6 items"):
        scores.value("accuracy", data.test, [classified("early")])


def test_baselines_answer_always_alike() -> None:
    tagging = tuning.data("tagging")
    predicted = [TaggedWords(item.words, item.tags, (1.0,) * len(item.words)) for item in tagging.test]
    entity, words = scores.evaluate(tagging, predicted)
    assert (entity.value, entity.baseline) == (1, 0)
    outside = sum(tag == "O" for item in tagging.test for tag in item.tags)
    assert words.baseline == pytest.approx(outside / sum(len(item.tags) for item in tagging.test))
    answering = tuning.data("answering")
    f1, exact = scores.evaluate(answering, [answered("")] * len(answering.test))
    share = sum(not item.answers for item in answering.test) / len(answering.test)
    assert f1.value == f1.baseline == exact.baseline == pytest.approx(share)
    similarity = tuning.data("similarity")
    spearman, pearson = scores.evaluate(similarity, [Rated(item.score) for item in similarity.test])
    assert spearman.value == pytest.approx(1)
    assert spearman.baseline is None
    assert pearson.baseline is None
