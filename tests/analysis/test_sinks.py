"""The rule about special tokens: heads made by hand get the name they should, and random ones none."""

from dataclasses import replace

import builders
import numpy as np
import pytest
from sink_runs import SENTENCE, looks_at, run_of

from analysis.sinks import FALSE_ALARMS, broadcasts, does_nothing, frame, much_attention, strongest, verdict
from benchmarks.sinks import RANDOM, STRETCHED, as_markdown, of_networks, row, runs, sentences
from model_zoo import Engine
from model_zoo.registry import UNTRAINED
from model_zoo.sinks import measure_run
from model_zoo.types import Encoding, Sinks

N = len(SENTENCE)
SEP = 1  # of the two special tokens
STREAM = np.full((N, 4), 5.0)  # vectors of length 10


def measured(share: float, sep: float, words: float = 1.0, encoding: Encoding = SENTENCE, place: int = N - 1) -> Sinks:
    """A head that gives so much to [SEP], whose value has the length ``sep``; those of the words have the length
    ``words`` and stand at right angles to each other and to it.
    """
    n = len(encoding)
    values = words * np.eye(n)
    values[place] *= sep / words
    stream = np.full((n, n), 10 / np.sqrt(n))
    return measure_run(run_of(looks_at(place, share, n), values[None], stream, encoding))


def test_much_attention_to_a_value_of_nothing_does_nothing() -> None:
    for length in (0.0, 0.2):
        actual = measured(0.9, length)
        assert verdict(actual, 0, 0, SEP) == "does nothing"
        assert verdict(actual, 0, 0, 0) == "neither"  # [CLS] gets little
        assert strongest(actual, 0, 0) == SEP
    actual = measured(0.9, 5.0)
    assert verdict(actual, 0, 0, SEP) == "broadcasts"
    assert actual.added[0, 0, SEP] == pytest.approx(0.45)
    assert actual.common[0, 0] > 0.99
    assert actual.rank[0, 0] == pytest.approx(1, abs=0.01)
    # Three tokens of a short text: 60% is not much above the third that each gets without any preference.
    short = builders.encoding(["hello"])
    assert not much_attention(measured(0.6, 0.0, encoding=short, place=2)).any()
    assert much_attention(measured(0.7, 0.0, encoding=short, place=2)).tolist() == [[[False, True]]]
    assert not much_attention(measured(0.5, 0.0)).any()
    assert much_attention(measured(0.6, 0.0)).tolist() == [[[False, True]]]
    # A head that a layer lacks has no name and no row.
    actual = measured(0.9, 0.0)
    lacking = {
        name: np.concatenate([getattr(actual, name), np.full_like(getattr(actual, name), np.nan)], axis=1)
        for name in ("share", "value", "added", "ordinary_value", "update", "common", "rank")
    }
    wider = replace(actual, **lacking)
    assert does_nothing(wider).tolist() == [[[False, True], [False, False]]]
    assert not broadcasts(wider).any()
    assert len(frame(wider)) == len(frame(actual)) == 2


def test_what_only_looks_like_it_is_neither() -> None:
    for reason, changed in {
        "little attention": measured(0.4, 0.0),
        "short, but no shorter than the values of words": measured(0.9, 0.3, words=0.3),
        "neither next to nothing nor much": measured(0.9, 0.4, words=1.0),
        "one word cannot show that all get the same": measured(0.9, 5.0, encoding=builders.encoding(["hi"]), place=2),
    }.items():
        assert verdict(changed, 0, 0, SEP) == "neither", reason


def test_one_vector_for_some_tokens_is_no_broadcast() -> None:
    weights = 0.993 * np.eye(N)[None] + 0.001
    weights[0, 1:4] = looks_at(N - 1, 0.994)[0, 1:4]  # three of five words look at [SEP], two at themselves
    values = 5.0 * np.eye(N)[None]
    actual = measure_run(run_of(weights, values, np.full((N, N), 10 / np.sqrt(N))))
    assert much_attention(actual)[0, 0, SEP]
    assert actual.added[0, 0, SEP] == pytest.approx(0.3, abs=0.01)
    assert verdict(actual, 0, 0, SEP) == "neither"
    # What all words have in common is no broadcast of a special token.
    values = np.zeros((1, N, 4))
    values[0, :, 0] = 20  # the same for all tokens but [SEP], whose value is short beside it and at right angles
    values[0, -1] = (0, 1, 0, 0)
    actual = measure_run(run_of(looks_at(N - 1, 0.6), values, STREAM))
    assert actual.added[0, 0, SEP] == pytest.approx(0.06)
    assert actual.common[0, 0] > 0.99
    assert verdict(actual, 0, 0, SEP) == "neither"


def test_the_table_has_a_row_a_head_and_token(engine: Engine) -> None:
    sinks = engine.sinks("embedded/bert", "The cat sat on the mat because it was tired.")
    table = frame(sinks)
    assert list(table["token"][:2]) == ["[CLS]", "[SEP]"]
    assert len(table) == 6 * 12 * 2
    for entry in table.sample(10, random_state=0).itertuples():
        token = sinks.places.index(entry.place)
        assert entry.rule == verdict(sinks, entry.layer, entry.head, token)
        place = entry.layer, entry.head, token
        assert (entry.share, entry.added) == (sinks.share[place], sinks.added[place])
    assert set(table["rule"]) == {"does nothing", "broadcasts", "neither"}
    measured = [engine.sinks("embedded/tinybert", text) for text in sentences(10)]
    actual = row("tiny", [measured])
    named = sum(int((does_nothing(entry) | broadcasts(entry)).sum()) for entry in measured)
    assert (actual.heads, actual.cases, actual.counts["either name"]) == (8, 10 * 8 * 2, named)
    share, low, high = actual.shares["either name"]
    assert 0 < named == round(share * actual.cases)
    assert low < share < high
    assert as_markdown([actual]).endswith(f"{named}: {100 * share:.1f} ({100 * low:.1f}–{100 * high:.1f}) |")


@pytest.mark.slow
@pytest.mark.parametrize("model", ["embedded/bert", "embedded/tinybert", "embedded/modernbert"])
def test_random_weights_raise_no_more_alarms_than_is_said(model: str) -> None:
    """Networks of other seeds, also with scores that vary as much as the trained model's."""
    engine, texts = Engine("cpu"), sentences(4)
    with engine._memory.lease(model) as loaded:
        trained = runs(loaded, texts)
    with engine._memory.lease(UNTRAINED + model) as loaded:
        actual = list(of_networks(loaded, trained, 2))
    assert [kind for kind, _ in actual] == [RANDOM, STRETCHED] * 2
    shares = [np.stack([entry.share for entry in measured]) for _, measured in actual]
    assert not np.allclose(shares[0], shares[2])  # another seed, another network
    assert all(np.std(wide) > 2 * np.std(plain) for plain, wide in zip(shares[0::2], shares[1::2], strict=True))
    for _, measured in actual:
        assert np.mean([does_nothing(entry) | broadcasts(entry) for entry in measured]) <= FALSE_ALARMS
