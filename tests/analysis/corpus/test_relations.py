"""Heads chosen on one half and judged on the other, against what is known by hand, by simulation and from scipy."""

import numpy as np
import pytest
from corpora import sentence
from scipy import stats

from analysis.corpus import relations
from analysis.corpus.moments import Moments
from analysis.corpus.relation_names import ends, looks, short
from analysis.corpus.relations import ALL, Cases, Relation, RelationQuery, bootstrap, shares_right
from analysis.corpus.sentences import NO_HEAD, ROOT, is_judged

OBJ, SUBJ = Relation("obj", "up"), Relation("nsubj", "down")


DOG = sentence(
    "The big red dog saw it .", [3, 3, 3, 4, -1, 4, 4], ["det", "amod", "amod", "nsubj", "root", "obj", "punct"]
)


def cases(right: np.ndarray, offsets: np.ndarray, n_sentences: int, relation: Relation = OBJ) -> Cases:
    """Cases of one relation: (cases, heads) that are right; (cases,) the offset of the partner; as many a sentence."""
    n = len(right)
    questions = [RelationQuery(relation, 20, (20 + int(offset),)) for offset in offsets]
    number = np.arange(n) % n_sentences
    return Cases.build(questions, right.astype(bool), number, np.full(n, 11))


def test_cases_are_asked_from_both_ends_and_several_dependents_are_one() -> None:
    questions = list(relations.relation_queries(DOG, np.ones(7, dtype=bool)))
    assert sum(entry.relation.direction == "up" for entry in questions) == 5  # neither the root nor punctuation
    assert RelationQuery(Relation("amod", "up"), 1, (3,)) in questions
    assert RelationQuery(Relation("amod", "up"), 2, (3,)) in questions
    down = Relation("amod", "down")
    assert [entry for entry in questions if entry.relation == down] == [RelationQuery(down, 3, (1, 2))]
    assert {entry.relation.deprel for entry in questions} == {"det", "amod", "nsubj", "obj"}
    # Words without a token or a known head are in no case.
    placed = np.array([True, True, False, True, True, False, True])
    questions = list(relations.relation_queries(DOG, placed))
    assert {(entry.query, *entry.partners) for entry in questions} == {(0, 3), (3, 0), (1, 3), (3, 1), (3, 4), (4, 3)}
    unknown = sentence("a b c", [NO_HEAD, ROOT, 1], ["dep", "root", "obj"])
    assert [entry.query for entry in relations.relation_queries(unknown, np.ones(3, dtype=bool))] == [2, 1]
    # Offsets count where one of the partners is.
    entry = RelationQuery(Relation("amod", "down"), 3, (1, 2))
    assert {offset for place, offset in enumerate(relations.OFFSETS) if entry.offsets >> place & 1} == {-2, -1}
    assert entry.nearest == 2
    assert RelationQuery(OBJ, 0, (30,)).offsets == 0
    assert len(relations.OFFSETS) == 20
    assert 0 not in relations.OFFSETS


def test_packing_keeps_which_heads_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    right = rng.random((40, 13)) < 0.3
    actual = cases(right, rng.integers(-10, 0, 40), 8)
    np.testing.assert_array_equal(actual.heads_right(), right)
    monkeypatch.setattr(relations, "_AT_ONCE", 7)
    some = rng.random((3, 40)) < 0.5
    np.testing.assert_array_equal(actual.n_right(some), [right[part].sum(axis=0) for part in some])
    assert actual.offsets_right().sum(axis=1).tolist() == [1] * 40
    np.testing.assert_allclose(actual.chance, 0.1)
    # Joined cases keep their relations under other names.
    rng = np.random.default_rng(1)
    parts = [
        cases(rng.random((20, 5)) < 0.5, rng.integers(1, 5, 20), 10, relation)
        for relation in (OBJ, SUBJ, Relation("amod", "up"))
    ]
    complete = Cases.joined(parts)
    again = Cases.joined([Cases.joined(parts[:1]), Cases.joined(parts[:0:-1])])
    for part, relation in zip(parts, (OBJ, SUBJ, Relation("amod", "up")), strict=True):
        for actual in (complete.select(relation), again.select(relation)):
            assert len(actual) == 20
            assert sorted(map(tuple, actual.heads_right().tolist())) == sorted(map(tuple, part.heads_right().tolist()))
    assert len(complete.select(ALL)) == 40
    assert len(complete.select(Relation("iobj", "up"))) == 0


def test_the_head_is_chosen_on_one_half_and_judged_on_the_other() -> None:
    """Head 0 is always right where heads are chosen and never where they are judged; head 1 half of the time."""
    n = 400
    judged = is_judged(np.arange(n) % 200)
    right = np.stack([~judged, np.arange(n) // 2 % 2 == 0], axis=1)
    finding = relations.findings(cases(right, np.full(n, 3), 200)).get(OBJ)
    assert finding.head == 0
    assert finding.choosing[0] == 1.0
    assert finding.accuracy.share == 0.0
    assert 0 < finding.accuracy.high < 0.05  # Wilson's for 100 sentences, not an interval of no width
    assert (finding.offset, finding.by_offset.share) == (3, 1.0)
    assert finding.p == 1.0


def test_the_half_of_a_unit_is_by_its_number_and_the_seed_alone() -> None:
    many = np.stack([is_judged(range(4000), seed) for seed in range(10)])
    assert (many.reshape(10, -1, 10).sum(axis=2) == 5).all()
    assert abs((many[:, 1:] == many[:, :-1]).mean() - 0.45) < 0.02  # 4 of 9 in a block of ten, and half between two
    assert (abs(np.corrcoef(many) - np.eye(10)) < 0.06).all()
    np.testing.assert_array_equal(is_judged([7, 3999, 7, 0], seed=3), many[3, [7, 3999, 7, 0]])
    assert is_judged([]).tolist() == []


def test_the_spread_is_over_halves_drawn_anew() -> None:
    """Against a loop over units; two heads are about as good as each other, and units have cases of one kind."""
    rng = np.random.default_rng(8)
    right = np.repeat(rng.random((60, 5)) < np.array([0.5, 0.5, 0.3, 0.3, 0.1]), 4, axis=0)
    of = np.arange(240) // 4
    finding = relations.findings(cases_of(of.tolist(), right)).get(OBJ)
    reached = []
    for seed in range(relations.N_SPLITS):
        halves = [
            [row for row, unit in zip(right, of, strict=True) if is_judged([unit], seed)[0] == half] for half in (0, 1)
        ]
        best = int(np.argmax(np.mean(halves[0], axis=0)))
        reached.append((best, np.mean(halves[1], axis=0)[best]))
    shares = [share for _, share in reached]
    assert (finding.head, finding.accuracy.share) == reached[0]
    assert (finding.spread.lowest, finding.spread.highest) == pytest.approx((min(shares), max(shares)))
    assert (finding.spread.n_same, finding.spread.n) == (sum(best == reached[0][0] for best, _ in reached), 10)
    assert 0 < finding.spread.n_same < 10
    assert finding.spread.highest - finding.spread.lowest > 0.1


@pytest.mark.parametrize("n", [relations.FEWEST - 1, relations.FEWEST])
def test_too_few_cases_are_told_and_not_judged(n: int) -> None:
    judged = is_judged(range(99))
    units = [*np.flatnonzero(judged)[:n], *np.flatnonzero(~judged)[:n]]
    finding = relations.findings(cases_of(units, np.ones((2 * n, 2), dtype=bool)))
    assert bool(finding.relations) == (n == relations.FEWEST)
    assert finding.too_few == (() if n == relations.FEWEST else ((ALL, 2 * n), (OBJ, 2 * n)))
    assert relations.findings(cases_of([], np.zeros((0, 4), dtype=bool))).relations == ()


@pytest.mark.slow
def test_random_heads_find_nothing_beyond_the_offset_in_95_of_100_seeds() -> None:
    """Seventy-two heads that look anywhere, six relations of whose partners the offset says something: after Holm's
    correction at most five seeds of a hundred have a head that is better than the offset.
    """
    false_alarms = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        parts = []
        for name in "abcdef":
            offsets = np.where(rng.random(120) < 0.3, 1, rng.integers(-9, 10, 120))
            parts.append(
                cases(rng.random((120, 72)) < 0.1, np.where(offsets == 0, 2, offsets), 60, Relation(name, "up"))
            )
        false_alarms += any(entry.p <= 0.05 for entry in relations.findings(Cases.joined(parts)).relations)
    assert false_alarms <= 5


def test_a_head_that_is_better_than_the_offset_is_found_to_be() -> None:
    rng = np.random.default_rng(2)
    right = rng.random((300, 10)) < np.array([0.8, *[0.1] * 9])
    finding = relations.findings(cases(right, rng.choice([1, 2, 3], 300), 150)).get(OBJ)
    assert finding.head == 0
    assert finding.p < 0.001
    assert finding.by_offset.high < finding.accuracy.low


@pytest.mark.slow
def test_the_bootstrap_covers_the_truth_in_95_of_100_simulations() -> None:
    """Sentences have one to five cases, which go right and wrong together."""
    covered = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 6, 120)
        sentence_ = np.repeat(np.arange(120), sizes)
        right = np.repeat(rng.beta(3, 2, 120), sizes) > rng.random(len(sentence_))
        (share,) = bootstrap([(right, sentence_)], draws=600)
        covered += share.low <= 0.6 <= share.high
    assert 0.92 <= covered / 400 <= 0.98


def test_the_bootstrap_is_that_of_scipy() -> None:
    rng = np.random.default_rng(3)
    sentence_ = np.repeat(np.arange(80), rng.integers(1, 4, 80))
    right = rng.random(len(sentence_)) < 0.7
    sums = np.array([[right[sentence_ == entry].sum(), (sentence_ == entry).sum()] for entry in range(80)])
    expected = stats.bootstrap(
        (sums[:, 0], sums[:, 1]),
        lambda hits, sizes, axis: hits.sum(axis=axis) / sizes.sum(axis=axis),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=5000,
        random_state=np.random.default_rng(4),
    ).confidence_interval
    (actual,) = bootstrap([(right, sentence_)])
    assert actual.share == right.mean()
    assert (actual.low, actual.high) == pytest.approx((expected.low, expected.high), abs=0.02)
    assert bootstrap([]) == []
    assert relations.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert relations.holm([0.5, 0.6]) == [1.0, 1.0]
    assert relations.holm([]) == []


def test_ensembles_are_all_small_sets_of_the_best_heads() -> None:
    rng = np.random.default_rng(7)
    right = rng.random((200, 10)) < np.linspace(0.1, 0.9, 10)
    finding = relations.findings(cases(right, np.ones(200), 100)).get(OBJ)
    groups = relations.ensembles(finding)
    assert len(groups) == len(set(groups)) == 6 + 15 + 20 + 15
    assert (9,) in groups
    assert {head for group in groups for head in group} == set(np.argsort(-finding.choosing)[:6].tolist())
    best = relations.best_ensemble(
        OBJ, groups, cases(rng.random((200, 56)) < np.array([*[0.2] * 55, 1]), np.ones(200), 100)
    )
    assert best.heads == groups[55]
    assert best.accuracy.share > 0.95
    assert relations.MOST_IN_ENSEMBLE == 4


def cases_of(sentences: list[int], right: np.ndarray) -> Cases:
    """A case for each entry, in the sentence of that number."""
    n = len(sentences)
    questions = [RelationQuery(OBJ, 1, (0,))] * n
    return Cases.build(questions, right, np.array(sentences, dtype=np.int64), np.full(n, 9))


def test_the_shares_are_those_of_the_cases() -> None:
    right = np.array([[1, 0, 1], [1, 0, 0], [1, 1, 0], [1, 0, 0]], dtype=bool)
    values, lows, highs = shares_right(cases_of([5, 5, 7, 9], right))
    assert values.tolist() == [1.0, 0.25, 0.25]
    assert (lows <= values).all()
    assert (values <= highs).all()
    assert lows[0] < 1  # four of four do not prove it
    values, lows, highs = shares_right(cases_of([], np.zeros((0, 3), dtype=bool)))
    assert np.isnan([values, lows, highs]).all()


def test_the_intervals_are_those_of_a_bootstrap_over_sentences() -> None:
    rng = np.random.default_rng(0)
    sentences = np.repeat(np.arange(150), 3)
    kind = rng.uniform(0.1, 0.9, size=150)[sentences, None]  # words of a sentence are alike
    right = rng.uniform(size=(450, 4)) < kind
    _, lows, highs = shares_right(cases_of(sentences.tolist(), right))
    for head, drawn in enumerate(bootstrap([(column, sentences) for column in right.T])):
        assert abs(lows[head] - drawn.low) < 0.015
        assert abs(highs[head] - drawn.high) < 0.015


def test_a_direction_says_which_end_looks() -> None:
    assert ends(Relation("obj", "down")) == ("verb", "object")
    assert ends(Relation("obj", "up")) == ("object", "verb")
    assert short(Relation("obj", "down")) == "obj: verb → object"
    assert looks(Relation("obj", "up")) == "looks from an object at its verb"
    assert looks(Relation("nsubj", "down")) == "looks from a verb at its subject"
    assert ends(ALL) == ("word", "head")
    assert ends(Relation("own", "up")) == ("dependent", "head")
    assert ends(Relation("own", "down")) == ("head", "dependent")
    assert short(ALL) == "all: word → head"


def drawn(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Sums over the queries of each sentence, and how many: some sentences have none."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 12, (n, 1)).astype(float)
    share = np.clip(rng.normal(0.4, 0.15, (n, 1)), 0, 1)
    return share * counts, counts


def test_sums_of_parts_are_those_of_the_whole() -> None:
    sums, counts = drawn(0)
    moments = Moments.from_sums(sums, counts)
    for n_parts in (1, 3, 17):
        parts = [Moments.from_sums(sums[place::n_parts], counts[place::n_parts]) for place in range(n_parts)]
        added = parts[-1]
        for part in parts[:-1]:
            added = part + added
        for name in ("s", "ss", "sn", "n", "nn", "texts"):
            np.testing.assert_allclose(getattr(added, name), getattr(moments, name), rtol=1e-12)
    # Sentences of a frame are one unit however they are cut into parts.
    sums, counts = drawn(4)
    frames = np.random.default_rng(5).integers(0, 9, len(sums))
    moments = Moments.from_sums(
        *(np.array([element[frames == entry].sum(axis=0) for entry in range(9)]) for element in (sums, counts))
    )
    for n_parts in (1, 4, 30):
        parts = [
            Moments.from_sums(sums[at::n_parts], counts[at::n_parts], frames[at::n_parts]) for at in range(n_parts)
        ]
        added = parts[0]
        for part in parts[1:]:
            added = added + part
        assert not added.closed().frames
        for name in ("means", "variances"):
            np.testing.assert_allclose(getattr(added, name), getattr(moments, name), rtol=1e-12)
        np.testing.assert_allclose(added.intervals(shares=True), moments.intervals(shares=True))


def test_with_one_query_a_sentence_it_is_the_interval_of_a_mean() -> None:
    values = np.random.default_rng(2).normal(3, 1, (50, 1))
    moments = Moments.from_sums(values, np.ones((50, 1)))
    low, high = moments.intervals(shares=False)
    expected = stats.t.interval(0.95, 49, values.mean(), stats.sem(values[:, 0]))
    assert (low[0], high[0]) == pytest.approx(expected)
    # What was never counted is NaN, and what is always so is not certain.
    nothing = Moments.from_sums(np.zeros((5, 1)), np.zeros((5, 1)))
    assert np.isnan(nothing.means).all()
    assert np.isnan(nothing.intervals(shares=True)).all()
    always = Moments.from_sums(np.full((20, 1), 3.0), np.full((20, 1), 3.0))
    low, high = always.intervals(shares=True)
    assert 0.8 < low[0] < 0.9
    assert high[0] == 1.0
    moments = Moments.from_sums(np.array([[2.0]]), np.array([[4.0]]))
    assert (moments.intervals(shares=True)[0][0], moments.intervals(shares=True)[1][0]) == (0.0, 1.0)
    # The variance is near that of the jackknife.
    sums, counts = drawn(1, 200)
    there = counts[:, 0] > 0
    s, n = sums[there, 0], counts[there, 0]
    left_out = (s.sum() - s) / (n.sum() - n)
    jackknife = (len(s) - 1) / len(s) * ((left_out - left_out.mean()) ** 2).sum()
    assert Moments.from_sums(sums, counts).variances[0] == pytest.approx(jackknife, rel=0.03)


@pytest.mark.slow
def test_intervals_cover_the_truth_in_95_of_100_simulations() -> None:
    """The truth is that of all queries: long sentences weigh more, and here they have larger shares."""
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 12, 100_000).astype(float)
    shares = np.clip(0.02 * counts + rng.normal(0.3, 0.1, len(counts)), 0, 1)
    truth = (shares * counts).sum() / counts.sum()
    covered = 0
    for _ in range(600):
        some = rng.integers(len(counts), size=80)
        low, high = Moments.from_sums((shares * counts)[some, None], counts[some, None]).intervals(shares=True)
        covered += low[0] <= truth <= high[0]
    assert 0.925 <= covered / 600 <= 0.975
