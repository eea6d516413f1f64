"""Whole studies on a made-up encoder whose layers know what they were given, and the docstring's example."""

import doctest
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from zlib import crc32

import builders
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from analysis import probing
from analysis.intervals import wilson
from analysis.probing import TASKS, Dataset, Settings, TaskResult, probe
from analysis.probing.classifier import STRENGTHS, Probe, fit
from analysis.probing.data import DEV, TEST, TRAIN
from analysis.probing.features import Plan
from analysis.probing.judging import Fitted, choose_one_c
from analysis.probing.mdl import block_ends
from model_zoo import Engine
from model_zoo.errors import InvalidInput, OutOfMemory
from model_zoo.types import HiddenStates

pytestmark = pytest.mark.slow

WIDTH = 16


class Knowing:
    """An encoder of four layers of noise; from layer ``since`` on every token carries its text's label."""

    def __init__(self, labels: dict[str, int], since: int = 2, limit: int = 10**6) -> None:
        self.labels, self.since, self.limit = labels, since, limit
        self.seen: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Iterator[tuple[int, HiddenStates]]:
        assert [len(text) for text in texts] == sorted(len(text) for text in texts)
        for index in reversed(range(len(texts))):  # any order is allowed
            text = texts[index]
            self.seen.append(text)
            offsets, start = [], 0
            for word in text.split(" ")[: self.limit]:
                # Words of more than four letters are two pieces.
                cut = min(4, len(word))
                offsets += [(start, start + cut)] + ([(start + cut, start + len(word))] if len(word) > cut else [])
                start += len(word) + 1
            encoding = builders.encoding(["x"] * len(offsets), text=text, offsets=((0, 0), *offsets, (0, 0)))
            rng = np.random.default_rng(crc32(text.encode()))
            states = rng.normal(size=(4, len(encoding), WIDTH)).astype(np.float32)
            states[self.since :, 1:-1, 3] += 60 * self.labels.get(text, 0)
            yield index, HiddenStates(encoding, states)


def balanced(n: int = 200, name: str = "own") -> tuple[Dataset, dict[str, int]]:
    texts = tuple(f"word{i} and another" for i in range(n))
    labels = tuple("ab"[i % 2] for i in range(n))
    split = np.array([TEST] * 4 + [DEV] * 2 + [TRAIN] * 4)[np.arange(n) % 10]
    data = Dataset(name=name, level="sentence", texts=texts, split=split, text_of=np.arange(n), labels=labels)
    return data, {text: i % 2 for i, text in enumerate(texts)}


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_a_label_known_from_layer_two_on_gives_its_step_there(pooling: str) -> None:
    data, labels = balanced()
    study = probe(Knowing(labels), data, pooling=pooling)
    accuracy = [layer.accuracy for layer in study.layers]
    assert accuracy[2:] == [1.0, 1.0]
    assert all(0.3 < a < 0.7 for a in accuracy[:2])
    assert study.majority == 0.5
    assert (study.n_train, study.n_development, study.n_test) == (80, 40, 80)
    assert study.longest == 7  # [CLS] word|100 and anot|her [SEP]
    assert study.best.layer == 2
    assert study.layers[2].wrong == ()
    assert study.not_beaten == ()
    depth, gravity = study.expected_layer, study.centre_of_gravity
    assert depth.value == pytest.approx(2, abs=0.35)
    assert depth.low < 2 < depth.high
    above = np.maximum(np.array(accuracy) - 0.5, 0)
    assert gravity.value == pytest.approx(np.arange(4) @ above / above.sum())
    # 80 of 80 right need not be all that there are.
    assert (study.layers[2].low, study.layers[2].high) == wilson(1.0, 80)
    # Layers that know are set apart from those that do not.
    assert study.as_good == (2, 3)
    assert study.p[0][2] == study.p[2][0] < 0.001
    assert study.p[2][3] == 1
    table = study.to_frame()
    assert table["best_layer"].tolist() == [2] * 4
    assert table["p_best"].tolist() == list(study.p[2])
    assert study.layers[3].selectivity == pytest.approx(1 - study.layers[3].control_accuracy)
    assert probe(Knowing(labels), data, pooling="cls").layers[3].accuracy < 0.7  # [CLS] was given nothing


def test_wrong_examples_are_wrong_and_the_surest_first() -> None:
    data, labels = balanced()
    wrong = probe(Knowing(labels, since=4), data, wrong=5).layers[0].wrong
    assert len(wrong) == 5
    assert [example.probability for example in wrong] == sorted((e.probability for e in wrong), reverse=True)
    assert all(e.label != e.predicted and "ab"[labels[e.text]] == e.label for e in wrong)


@pytest.mark.parametrize("pieces", ["first", "mean"])
def test_words_are_found_by_their_characters(pieces: str) -> None:
    texts = tuple(f"uncle{i} sees{i} dogs" for i in range(100))
    data = Dataset(
        name="own", level="token", texts=texts, split=np.array([TEST, DEV, TRAIN, TRAIN])[np.arange(100) % 4],
        text_of=np.repeat(np.arange(100), 2), labels=("N", "V") * 100,
        spans=np.array([[[0, t.index(" ")], [t.index(" ") + 1, t.rindex(" ")]] for t in texts]).reshape(-1, 2),
    )  # fmt: skip

    def encode(wanted: Sequence[str]) -> Iterator[tuple[int, HiddenStates]]:
        for index, hidden in Knowing({})(wanted):
            # Only the first piece of the second word carries anything.
            place = hidden.encoding.offsets.index((wanted[index].index(" ") + 1, wanted[index].index(" ") + 5))
            states = hidden.states.copy()
            states[:, place, 5] += 60
            yield index, HiddenStates(hidden.encoding, states)

    study = probe(encode, data, pieces=pieces)
    assert [layer.accuracy for layer in study.layers] == [1.0] * 4
    assert "word only" not in [judge.name for judge in study.baselines]  # no word of the test split is in training
    # The same words with labels that stay two where the second words are cut off.
    cut_off = Knowing({}, limit=1)
    data = replace(data, labels=tuple("ab"[i // 2 % 2] for i in range(len(data))))
    assert probe(cut_off, data, pieces=pieces).skipped == 100
    with pytest.raises(ValueError, match="other items"):
        probe(Knowing({}), data, pieces=pieces, untrained=True, untrained_encode=cut_off)


def test_each_sentence_is_encoded_once_for_all_tasks_that_share_it() -> None:
    shared = ["subject_number", "verb_number", "subject_animacy", "tense", "negation", "bigram_shift"]
    encode = Knowing({})
    settings = Settings(sentences=60, control=False)
    events = list(probing.run(encode, [TASKS[name] for name in shared], settings))
    assert len(encode.seen) == len(set(encode.seen)) == 180
    results = {event.task: event for event in events if isinstance(event, TaskResult)}
    assert set(results) == set(shared)
    for name in shared:
        mine = [
            e for e in events if isinstance(e, (probing.TaskMap, probing.LayerResult, TaskResult)) and e.task == name
        ]
        assert [type(e) for e in mine] == [probing.TaskMap, *[probing.LayerResult] * 4, TaskResult]
    progress = [e for e in events if isinstance(e, probing.Progress) and e.stage == "encoding"]
    assert {(e.total, max(p.done for p in progress if p.tasks == e.tasks)) for e in progress} == {(60, 60)}
    table = probing.frame(list(results.values()))
    assert len(table) == 24
    assert set(table["seed"]) == {0}


def test_many_vectors_go_through_files_and_give_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    data, labels = balanced(400)
    in_memory = probe(Knowing(labels), data, sentences=400)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("analysis.probing.features.RAM_BYTES", 0)
    from_files = probe(Knowing(labels), data, sentences=400)
    assert from_files == in_memory
    running = probing.run(Knowing(labels), [data], Settings(sentences=400))
    while not isinstance(next(running), probing.LayerResult):
        pass
    assert list(tmp_path.iterdir())
    running.close()
    assert not list(tmp_path.iterdir())


def test_a_bad_task_and_a_lost_model_leave_the_rest_alone() -> None:
    good, labels = balanced()
    bad, _ = balanced(4, name="tiny")
    knowing = Knowing(labels)

    def lost(texts: Sequence[str]) -> Iterator[tuple[int, HiddenStates]]:
        if not texts[0].startswith("word"):
            raise OutOfMemory("The model was unloaded. Choose it again.")
        yield from knowing(texts)

    events = list(probing.run(lost, [bad, good, TASKS["tense"]], Settings(sentences=200)))
    assert [event.task for event in events if isinstance(event, TaskResult)] == ["own"]
    failed = {event.task: event.reason for event in events if isinstance(event, probing.Failed)}
    assert "at least 20" in failed["tiny"]
    assert failed["tense"] == "The model was unloaded. Choose it again."
    with pytest.raises(InvalidInput, match="at least 20"):
        probe(knowing, bad)


class Rounding(Knowing):
    """Vectors differ a little with the batch that a text is run in, as a real model's do."""

    def __call__(self, texts: Sequence[str]) -> Iterator[tuple[int, HiddenStates]]:
        noise = np.float32(len(texts) + len(texts[-1])) / 50
        for index, hidden in super().__call__(texts):
            yield index, HiddenStates(hidden.encoding, hidden.states * (1 + noise * hidden.states))


class Noise(Knowing):
    """An encoder of seven layers that knows nothing, another one for each seed."""

    def __init__(self, seed: int) -> None:
        super().__init__({})
        self.seed = seed

    def __call__(self, texts: Sequence[str]) -> Iterator[tuple[int, HiddenStates]]:
        rng = np.random.default_rng(self.seed)
        for index, hidden in super().__call__(texts):
            shape = (7, *hidden.states.shape[1:])
            yield index, HiddenStates(hidden.encoding, rng.normal(size=shape).astype(np.float32))


def on_noise(seed: int) -> TaskResult:
    """A study where nothing is to be found."""
    data, _ = balanced(120)
    labels = tuple(np.random.default_rng(seed).permutation(data.labels).tolist())
    settings = {"control": False, "bootstrap_draws": 10, "wrong": 0, "map_items": 2}
    return probe(Noise(seed), replace(data, labels=labels), **settings)


def test_a_task_has_the_same_numbers_alone_and_beside_others() -> None:
    # subject_number and verb_number have the same sentences; the token task has other and more vectors of them.
    names = ["subject_number", "verb_number", "tense", "word_content"]
    settings = Settings(sentences=200, control=False)

    def results(wanted: list[str]) -> dict[str, TaskResult]:
        events = probing.run(Rounding({}), [TASKS[name] for name in wanted], settings)
        return {event.task: event for event in events if isinstance(event, TaskResult)}

    together = results(names)
    assert all(results([name]) == {name: together[name]} for name in names)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_probes_converge_as_scikit_learns_do_on_every_task(name: str, engine: Engine) -> None:
    """With a tolerance ten times as large, accuracies were several points too low."""
    data = TASKS[name].build(200, 0)
    labels = np.unique(data.labels, return_inverse=True)[1]
    plan = Plan([data])
    filling = plan.fill(partial(engine.iter_hidden_states, "embedded/tinybert"), "mean", "mean")
    try:
        while True:
            next(filling)
    except StopIteration as end:
        store, _ = end.value
    rows = {part: np.flatnonzero(data.item_split == part) for part in (TRAIN, TEST)}
    with store:
        x = np.concatenate(list(store.layer(2).blocks(plan.rows_of[0]))).astype(np.float64)
        for fit_bytes in (10**9, 0):
            learn, judge = (plan.rows_of[0][rows[part]] for part in (TRAIN, TEST))
            probe_ = fit(store.layer(2), learn, labels[rows[TRAIN]], len(set(labels)), fit_bytes=fit_bytes)
            log_p = probe_.log_probabilities(store.layer(2), judge)
            theirs = make_pipeline(StandardScaler(), LogisticRegression(max_iter=10_000))
            theirs.fit(x[rows[TRAIN]], labels[rows[TRAIN]])
            np.testing.assert_allclose(np.exp(log_p), theirs.predict_proba(x[rows[TEST]]), atol=0.02)


def test_noise_has_no_expected_layer_and_the_best_layer_is_not_the_luckiest() -> None:
    actual = [on_noise(seed) for seed in range(40)]
    predicted = sum(entry.expected_layer is not None or entry.centre_of_gravity is not None for entry in actual)
    assert predicted <= 4
    assert sum(len(entry.as_good) < len(entry.layers) for entry in actual) <= 5
    luckiest = np.mean([max(layer.accuracy for layer in entry.layers) for entry in actual])
    assert luckiest > 0.57
    assert abs(np.mean([entry.best.accuracy for entry in actual]) - 0.5) < 0.03


def test_depth_is_told_only_beyond_all_baselines_and_random_weights() -> None:
    data, labels = balanced()
    predicted = replace(data, texts=tuple(f"{text} {'yes' if labels[text] else 'no'}" for text in data.texts))
    in_words = probe(Knowing({text: i % 2 for i, text in enumerate(predicted.texts)}), predicted, control=False)
    assert in_words.not_beaten == ("bag of words", "word bigrams")
    assert in_words.best.accuracy == 1
    assert (in_words.expected_layer, in_words.centre_of_gravity) == (None, None)
    settings = {"untrained": True, "control": False}
    known_by_chance = probe(Knowing(labels), data, untrained_encode=Knowing(labels, since=3), **settings)
    assert known_by_chance.not_beaten == ("random weights",)
    assert (known_by_chance.random_weights.accuracy, known_by_chance.random_weights.p) == (1, 1)
    assert (known_by_chance.expected_layer, known_by_chance.centre_of_gravity) == (None, None)
    beaten = probe(Knowing(labels), data, untrained_encode=Knowing({}), **settings)
    assert beaten.random_weights.p < 0.001
    assert beaten.not_beaten == ()
    assert beaten.expected_layer == probe(Knowing(labels), data, control=False).expected_layer is not None
    from_the_start = probe(Knowing(labels, since=0), data, control=False)
    assert from_the_start.not_beaten == ("embeddings",)


def test_all_layers_of_a_task_have_one_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def fitted(c: float, right: int, log_p: float = -1.0) -> Fitted:
        none = np.array([], dtype=np.float32)
        return Fitted(c, np.arange(10) < right, log_p, none > 0, none.astype(np.int64), none)

    # Each layer has a C that does better than 0.1 there, and none does better on both.
    first, second = (9, 8, 5), (5, 8, 9)
    chosen = choose_one_c([list(map(fitted, (0.01, 0.1, 1), rights)) for rights in (first, second)])
    assert [probe_.c for probe_ in chosen] == [0.1, 0.1]
    equal = choose_one_c([[fitted(0.01, 8, -0.6), fitted(0.1, 8, -0.4), fitted(1, 8, -0.5)]])
    assert [probe_.c for probe_ in equal] == [0.1]

    used: list[float] = []

    def watched(*arguments: object, c: float, **more: object) -> Probe:
        used.append(c)
        return fit(*arguments, c=c, **more)

    monkeypatch.setattr("analysis.probing.judging.fit", watched)
    monkeypatch.setattr("analysis.probing.mdl.fit", watched)
    data, labels = balanced()
    study = probe(Knowing(labels), data, mdl=True)
    tried, judged = used[: 3 * 4], used[3 * 4 :]
    assert tried == list(STRENGTHS) * 4
    assert len(judged) == 4 * (1 + len(block_ends(study.n_train)) - 1)  # the control task, and all blocks but the first
    assert set(judged) == {study.c}
    assert set(study.to_frame()["c"]) == {study.c}


def test_more_seeds_make_a_band_and_random_weights_a_baseline() -> None:
    data, labels = balanced()
    knows, never = Knowing(labels, since=3), Knowing(labels, since=4)
    study = probe(knows, data, seeds=3, untrained=True, untrained_encode=never, control=False)
    assert np.shape(study.accuracies) == (3, 4)
    assert study.accuracies[0] == tuple(layer.accuracy for layer in study.layers)
    assert len(set(study.accuracies)) == 3  # another split each
    assert [row[3] for row in study.accuracies] == [1.0] * 3
    assert all(layer.untrained_accuracy < 0.7 for layer in study.layers)
    table = study.to_frame()
    assert table["highest_of_seeds"].tolist() == np.max(study.accuracies, axis=0).tolist()
    assert table["untrained_accuracy"].max() < 0.7
    fixed = probe(Knowing(labels), replace(data, own_split=True), seeds=2, control=False)
    assert fixed.accuracies[0] == fixed.accuracies[1]
    built = probe(Knowing({}), TASKS["tense"], sentences=60, seeds=2, control=False)
    assert built.accuracies[0] != built.accuracies[1]
    with pytest.raises(ValueError, match="random weights"):
        probe(Knowing(labels), data, untrained=True)
    # Rounds tell which they are.
    settings = Settings(seeds=2, untrained=True, control=False)
    events = list(probing.run(Knowing(labels), [data], settings, untrained=Knowing({})))
    rounds = list(dict.fromkeys(event.of for event in events if isinstance(event, probing.Progress)))
    assert rounds == ["random weights", "", "seed 1"]
    assert isinstance(events[-1], TaskResult)


def test_a_run_is_repeated_by_its_seed() -> None:
    data, labels = balanced()
    once, again = (probe(Knowing(labels), data, sentences=100, mdl=True, seed=7) for _ in range(2))
    assert once == again != probe(Knowing(labels), data, sentences=100, mdl=True, seed=8)
    assert once.layers[3].bits < 0.8 * once.layers[0].bits


def test_a_network_as_a_probe_goes_through_a_whole_study() -> None:
    data, labels = balanced()
    study, again = (probe(Knowing(labels), data, kind="mlp", mdl=True) for _ in range(2))
    assert study == again
    assert all(layer.accuracy > 0.9 for layer in study.layers[2:])
    assert all(layer.accuracy < 0.7 for layer in study.layers[:2])
    assert study.layers[3].bits < 0.9 * study.layers[0].bits


def test_impossible_settings_are_refused() -> None:
    wrong = {"pooling": "sum", "pieces": "last", "sentences": 0, "seed": -1, "seeds": 0, "kind": "tree"}
    for name, value in wrong.items():
        with pytest.raises(InvalidInput):
            Settings(**{name: value})


def test_the_example_of_the_docstring_runs() -> None:
    pytest.importorskip("torch", reason="the example runs the bundled model")
    example = next(t for t in doctest.DocTestFinder().find(probe, "probe", globs={}) if t.examples)
    printed: list[str] = []
    outcome = doctest.DocTestRunner().run(example, out=printed.append)
    assert outcome.failed == 0, "".join(printed)
    assert outcome.attempted >= 5
