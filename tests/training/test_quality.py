"""The quality of a model as the app tells it: every family, the figures of the evaluator, stopping."""

import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import checkpoints
import pytest
import torch

from model_zoo import Engine
from model_zoo.types import Quality
from training import evaluate, evaluation_sets
from training.evaluation_sets import EvaluationSet, written_set
from training.finetuning.predict import _dropping
from training.measure_quality import MeasureQuality, measure_quality
from training.tallies import BATCH_ROWS


@pytest.mark.parametrize("name", checkpoints.FAMILIES)
def test_every_family_is_judged(name: str, engine, checkpoint):
    family = checkpoints.FAMILIES[name]
    with engine._memory.lease(str(checkpoint(name))) as loaded:
        *_, quality = measure_quality(loaded, written_set().sample(5))
    assert quality.n_done == quality.n_total == 5 * (family.mlm + (family.nsp == "NSP"))
    assert (quality.mlm_accuracy is None) == (quality.mlm_loss is None) == (not family.mlm)
    assert (quality.no_mlm is None) == family.mlm
    assert (quality.nsp_accuracy is not None) == (quality.no_nsp is None) == (family.nsp == "NSP")
    if family.nsp == "SOP":
        assert "a different question" in quality.no_nsp


def test_the_lstm_is_judged(engine, bilstm: str):
    with engine._memory.lease(bilstm) as loaded:
        *_, quality = measure_quality(loaded, written_set().sample(5))
    assert quality.n_masked > 0
    assert 0 <= quality.mlm_accuracy <= 1
    assert "cannot say whether one sentence follows another" in quality.no_nsp


@pytest.mark.slow
def test_quality_is_what_the_evaluator_prints(engine, checkpoint, capsys):
    folder = str(checkpoint("bert"))
    events = list(engine.stream(MeasureQuality(folder)))
    assert [entry.n_done for entry in events] == sorted(entry.n_done for entry in events)
    assert events[0] == Quality(n_total=600)
    last = events[-1]
    assert (last.n_done, last.n_total, last.n_pairs) == (600, 600, 300)
    assert evaluate.main([folder, "--device", "cpu"]) == 0
    printed = json.loads(capsys.readouterr().out)
    for name in ("mlm_loss", "mlm_accuracy", "replaced_accuracy", "kept_accuracy", "nsp_accuracy"):
        assert printed[name] == round(getattr(last, name), 4)
    assert 0.7 < last.n_masked / (last.n_masked + last.n_replaced + last.n_kept) < 0.9


def test_quality_can_be_stopped_and_is_remembered_when_whole(checkpoint, monkeypatch):
    texts = tuple(f"The cat sat on mat {n}." for n in range(3 * BATCH_ROWS))
    complete = EvaluationSet(texts, (), tuple(range(len(texts))), ())
    monkeypatch.setattr(evaluation_sets, "written_set", lambda: complete)
    engine = Engine("cpu")
    question = MeasureQuality(str(checkpoint("bert_mlm_only")))
    running = engine.stream(question)
    assert [next(running).n_done for _ in range(2)] == [0, BATCH_ROWS]
    running.close()
    assert not any(held.in_use for held in engine.held())
    n_done = [event.n_done for event in engine.stream(question)]
    assert n_done == [BATCH_ROWS * n for n in range(4)]
    assert [event.n_done for event in engine.stream(question)] == n_done[-1:]
    engine.close()


def loaded(*layers: torch.nn.Module) -> Any:
    return SimpleNamespace(model=torch.nn.Sequential(*layers).eval())


def passed(entry: Any) -> torch.Tensor:
    return cast("torch.Tensor", entry.model(torch.ones(100, 100)))


def test_numbers_are_dropped_or_scaled_up_so_that_their_mean_stays() -> None:
    network = loaded(torch.nn.Dropout(0.0))
    with _dropping(network, 0):
        output = passed(network)
    assert output.unique().tolist() == pytest.approx([0, 1 / 0.9])
    assert output.mean().item() == pytest.approx(1, abs=0.03)
    assert output.eq(0).float().mean().item() == pytest.approx(0.1, abs=0.015)
    torch.testing.assert_close(passed(network), torch.ones(100, 100))


def test_a_seed_draws_the_same_and_leaves_torchs_own_alone() -> None:
    network = loaded(torch.nn.Dropout(0.1), torch.nn.Linear(100, 2))
    before = torch.get_rng_state()
    draws = []
    for seed in (1, 1, 2):
        with _dropping(network, seed):
            draws.append(passed(network))
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
    assert torch.equal(before, torch.get_rng_state())


def test_neither_another_thread_nor_a_model_without_dropout_sees_any_of_it() -> None:
    network = loaded(torch.nn.Dropout(0.5))
    with _dropping(network, 0), ThreadPoolExecutor(1) as other:
        assert torch.equal(other.submit(passed, network).result(), torch.ones(100, 100))
    network = loaded(torch.nn.Identity())
    with _dropping(network, 0):
        assert torch.equal(passed(network), torch.ones(100, 100))
