"""The race by command: a line a training, what stands in the log is not trained again, and tables over seeds."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tuning
from checkpoints import Checkpoint

from benchmarks import finetune
from model_zoo import Engine
from training.finetuning import seeds
from training.finetuning.data import KINDS, Data, Kind
from training.finetuning.scores import evaluate
from training.finetuning.seeds import SeedScores, describe_seeds, fingerprint, scores_by_model, seed_scores, write
from training.finetuning.settings import Settings


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file of its own for what is measured."""
    file = tmp_path / "seeds.json"
    file.write_text("{}")
    monkeypatch.setattr(seeds, "FILE", file)
    seeds._measured.cache_clear()
    yield file
    seeds._measured.cache_clear()


def by_hand(data: Data, candidate: dict[str, Any]) -> dict[str, Any]:
    """A training that takes no time: always the first label, or every second time."""
    messages = ["early" if place % (2 + candidate["seed"]) else "late" for place in range(len(data.test))]
    return candidate | {
        "score": "accuracy", "value": 0.5 + candidate["seed"] / 10, "epoch": 4.0, "dev": 0.7, "always_alike": 0.5,
        "trivial": 0.6, "trivial_is": "n-grams", "ms_a_text": 1.5, "weights_mb": 18.0, "rate": 1e-4, "seconds": 3.0,
        "said": messages,
    }  # fmt: skip


def test_what_stands_in_the_log_is_not_trained_again(tmp_path: Path) -> None:
    data, log, trained = tuning.data(), tmp_path / "race.jsonl", []

    def train(data: Data, candidate: dict[str, Any]) -> dict[str, Any]:
        trained.append((candidate["model"], candidate["seed"]))
        if len(trained) == 3:
            raise KeyboardInterrupt
        return by_hand(data, candidate)

    with pytest.raises(KeyboardInterrupt):
        finetune.race(data, finetune.candidates(data, ["a", "b"], 2, few=False), train, log)
    assert trained == [("a", 0), ("b", 0), ("a", 1)]  # every model before the next seed
    runs = finetune.race(data, finetune.candidates(data, ["a", "b"], 2, few=False), train, log)
    assert trained[3:] == [("a", 1), ("b", 1)]
    assert [(run["model"], run["seed"]) for run in runs] == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    assert [json.loads(line) for line in log.read_text().splitlines()] == runs
    other = tuning.data(test=8)  # the set has changed since
    finetune.race(other, finetune.candidates(other, ["a"], 1, few=False), train, log)
    assert trained[-1] == ("a", 0)


def test_tables_are_means_over_seeds_with_the_baselines_below() -> None:
    data = tuning.data(test=40)
    runs = [by_hand(data, candidate) for candidate in finetune.candidates(data, ["embedded/bert"], 3, few=False)]
    table = finetune.markdown(data, runs).splitlines()
    messages = [[finetune._read(part, item) for part, item in zip(run["said"], data.test, strict=True)] for run in runs]
    score = evaluate(data, *messages)[0]
    assert table[2] == (
        f"| `embedded/bert` | 12 | {100 * score.value:.0f} ({100 * score.low:.0f}–{100 * score.high:.0f}) | "
        "3: 50 to 70 | 18 |"
    )
    assert finetune.together(data, runs) == SeedScores(
        (0.5, 0.6, 0.7), round(score.value, 4), round(score.low, 4), round(score.high, 4), 0.6, "n-grams"
    )
    assert table[3:] == ["| majority baseline |  | 50 |  |  |", "| n-grams |  | 60 |  |  |"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_holds_all_that_scores_need(engine: Engine, checkpoint: Checkpoint, kind: Kind) -> None:
    data = tuning.data(kind, train=4, dev=4, test=6)
    (candidate,) = finetune.candidates(data, [str(checkpoint("bert"))], 1, few=False)
    run = json.loads(json.dumps(finetune.trained(engine, data, candidate)))
    messages = [finetune._read(part, item) for part, item in zip(run["said"], data.test, strict=True)]
    assert evaluate(data, messages)[0].value == pytest.approx(run["value"])
    assert run["trivial_is"]
    assert run["trivial"] is not None


def test_few_examples_are_asked_for_where_there_are_more() -> None:
    data = tuning.data(train=finetune.FEW + 1)
    models = [
        (candidate["model"], candidate["examples"]) for candidate in finetune.candidates(data, ["a"], 1, few=True)
    ]
    assert models == [
        ("a", 201), ("embedded/bert", 200), ("untrained:embedded/bert", 200), ("embedded/bilstm", 200),
    ]  # fmt: skip


def test_what_seeds_came_to_is_known_of_the_same_set_and_settings(measured: Path) -> None:
    data = tuning.data()
    actual = SeedScores((0.8, 0.9), 0.85, 0.7, 0.92, 0.6, "n-grams")
    write(data, {"embedded/bert": actual})
    write(tuning.data("tagging"), {"embedded/bert": replace(actual, values=(0.5,))})
    assert seed_scores(data, "embedded/bert", Settings(seed=3)) == scores_by_model(data)["embedded/bert"] == actual
    assert describe_seeds(data, "embedded/bert", Settings()) == (
        "Another seed may differ: 2 seeds of this model with these settings reached 80.0% to 90.0% (Accuracy), their "
        "mean is 85.0% (95% interval over seeds and items: 70.0% to 92.0%)."
    )
    assert seed_scores(data, "embedded/tinybert", Settings()) is None
    assert seed_scores(data, "embedded/bert", Settings(epochs=2)) is None
    assert describe_seeds(data, "embedded/bert", Settings(patience=2)) == ""
    assert not scores_by_model(tuning.data(test=7))
    assert list(json.loads(measured.read_text())) == ["small classification", "small tagging"]
    assert fingerprint(data) == fingerprint(tuning.data())


def test_the_file_has_sets_that_there_are() -> None:
    from training.finetuning.sets import SETS

    assert set(json.loads(seeds.FILE.read_text(encoding="utf-8"))) <= set(SETS)
