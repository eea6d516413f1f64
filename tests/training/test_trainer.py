"""The trainer: what an interruption costs (nothing), what a kill costs, and every way to go wrong."""

import itertools
import lzma
import os
import resource
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from small_recipes import SMALL, small_recipe, small_trainer

from model_zoo.errors import BadCheckpoint, ModelZooError
from training import trainer as trainer_module
from training.files import write_atomically
from training.trainer import CHECKPOINT, Budget, Trainer, learning_rate, read_checkpoint

pytestmark = pytest.mark.usefixtures("one_thread", "teacher")

ROOT = Path(__file__).resolve().parents[2]


def _state(trainer: Trainer) -> dict[str, torch.Tensor]:
    """All numbers that training changes: weights, projections, and the optimizer's moments."""
    state = {f"model.{name}": tensor for name, tensor in trainer.model.state_dict().items()}
    state |= {f"objective.{name}": tensor for name, tensor in trainer.objective.state_dict().items()}
    for number, moments in trainer.optimizer.state_dict()["state"].items():
        state |= {f"optimizer.{number}.{name}": tensor for name, tensor in moments.items()}
    return state


def _interrupt_at(trainer: Trainer, step: int, monkeypatch) -> None:
    batch = trainer.batch

    def interrupted(number: int):
        if number == step:
            signal.raise_signal(signal.SIGINT)
        return batch(number)

    monkeypatch.setattr(trainer, "batch", interrupted)


@pytest.mark.parametrize("name", sorted(SMALL))
def test_resuming_equals_no_interruption_bit_for_bit(name: str, corpus: Path, tmp_path: Path, monkeypatch):
    budget = Budget(minutes=1, steps=7)
    complete = small_trainer(SMALL[name], corpus, tmp_path / "whole")
    begin = {key: tensor.clone() for key, tensor in complete.model.state_dict().items()}
    assert complete.run(budget)

    first = small_trainer(SMALL[name], corpus, tmp_path / "parts")
    _interrupt_at(first, 3, monkeypatch)
    assert not first.run(budget)
    assert first.step == 4  # the step under way is finished, not torn
    torch.manual_seed(99)  # another process would have another random state
    second = small_trainer(SMALL[name], corpus, tmp_path / "parts", resume=True)
    assert second.step == 4
    assert second.run(budget)

    assert second.step == complete.step == 7
    assert second.tokens == complete.tokens
    expected, actual = _state(complete), _state(second)
    assert expected.keys() == actual.keys()
    for key, tensor in expected.items():
        assert torch.equal(actual[key], tensor), key
    assert any(not torch.equal(begin[key], tensor) for key, tensor in complete.model.state_dict().items())


def test_training_lowers_the_loss(corpus: Path, tmp_path: Path, monkeypatch):
    trainer = small_trainer(SMALL["bert"], corpus, tmp_path / "run")
    always = trainer.batch(0)
    monkeypatch.setattr(trainer, "batch", lambda _step: always)
    losses = [trainer.train_step(1e-2)["mlm"] for _ in range(40)]
    assert losses[-1] < 0.5 * losses[0]  # one batch over and over is learnt by heart


def test_data_depend_on_seed_and_step_only(corpus: Path, tmp_path: Path):
    trainer = small_trainer(SMALL["bert"], corpus, tmp_path / "run")
    again = small_trainer(SMALL["bert"], corpus, tmp_path / "again")
    other = small_trainer(replace(SMALL["bert"], seed=1), corpus, tmp_path / "other")
    trainer.batch(0)
    assert torch.equal(trainer.batch(5).input_ids, again.batch(5).input_ids)
    assert not torch.equal(trainer.batch(5).targets, trainer.batch(6).targets)
    assert not torch.equal(trainer.batch(5).targets, other.batch(5).targets)


def test_learning_rate_and_budget_by_hand():
    recipe = small_recipe("x", architecture="bert", config={}, learning_rate=0.8, warmup_steps=4)
    assert [learning_rate(recipe, step, 0.0) for step in range(5)] == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8])
    assert learning_rate(recipe, 100, 0.75) == pytest.approx(0.2)
    assert learning_rate(recipe, 100, 1.0) == 0.0
    assert Budget(minutes=2).spent(30, 1000) == 0.25
    assert Budget(minutes=2).spent(500, 0) == 1.0
    assert Budget(minutes=2, steps=10).spent(10_000, 4) == 0.4


class Clock:
    """Time that passes only when a step takes it: ``durations`` by step, 10 seconds for the others."""

    def __init__(self, trainer: Trainer, monkeypatch, durations: dict[int, float]) -> None:
        self.now = 1000.0

        def step(_rate: float) -> dict[str, float]:
            self.now += durations.get(trainer.step, 10.0)
            trainer.step += 1
            return {"loss": 1.0}

        monkeypatch.setattr(trainer, "train_step", step)
        monkeypatch.setattr(trainer_module.time, "monotonic", lambda: self.now)


def test_a_pause_does_not_use_up_the_budget(corpus: Path, tmp_path: Path, monkeypatch):
    trainer = small_trainer(SMALL["bert"], corpus, tmp_path / "run")
    Clock(trainer, monkeypatch, {1: 3600.0})
    assert trainer.run(Budget(minutes=1.5))
    assert trainer.step == 7  # 10 + 30 for the paused one + 5 x 10
    assert trainer.active_seconds == 90.0


def test_a_checkpoint_is_at_most_five_minutes_old(corpus: Path, tmp_path: Path, monkeypatch):
    trainer = small_trainer(SMALL["bert"], corpus, tmp_path / "run")
    clock = Clock(trainer, monkeypatch, {})
    saved_at = []
    monkeypatch.setattr(trainer, "save", lambda: saved_at.append(clock.now))
    trainer.run(Budget(minutes=20))
    gaps = [later - earlier for earlier, later in itertools.pairwise(saved_at)]
    assert len(gaps) >= 4
    assert max(gaps) <= 300


def test_held_out_figures_are_printed_on_the_way(corpus: Path, tmp_path: Path, monkeypatch, capsys):
    trainer = small_trainer(SMALL["bert"], corpus, tmp_path / "run")
    Clock(trainer, monkeypatch, {})
    trainer.run(Budget(minutes=25), held_out=lambda _model: "loss 1.234")
    printed = capsys.readouterr()
    assert printed.out.count("held out loss 1.234") == 3  # after 10, after 20 minutes, and at the end
    assert "tokens/s" in printed.err


SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from training import command, trainer
from training.batches import Shape
from training.recipes import Recipe
trainer.CHECKPOINT_SECONDS = 0.0
recipe = {recipe!r}
places = Path({corpus!r}), Path({folder!r}), command.torch.device("cpu")
made = command.make_trainer(recipe, *places, None, False)[0]
save = made.save
def report():
    save()
    print(made.step, flush=True)
made.save = report
made.run(trainer.Budget(minutes=1000))
"""


@pytest.mark.slow
def test_a_kill_leaves_a_checkpoint_to_go_on_from(corpus: Path, tmp_path: Path):
    recipe = SMALL["bert"]
    script = SCRIPT.format(root=str(ROOT), recipe=recipe, corpus=str(corpus), folder=str(tmp_path / "run"))
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        reported = 0
        for line in process.stdout:
            reported = int(line)
            if reported >= 3:
                break
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert reported >= 3
    resumed = small_trainer(recipe, corpus, tmp_path / "run", resume=True)
    assert resumed.step >= reported
    steps = resumed.step + 2
    assert resumed.run(Budget(minutes=1, steps=steps))
    assert resumed.step == steps


def test_a_full_disk_leaves_the_last_checkpoint(corpus: Path, tmp_path: Path):
    trainer = small_trainer(SMALL["bert"], corpus, tmp_path / "run")
    trainer.save()
    trainer.train_step(1e-3)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(ModelZooError, match=r"could not be written .*Free some disk space.*intact"):
            trainer.save()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert read_checkpoint(tmp_path / "run")["step"] == 0
    assert sorted(os.listdir(tmp_path / "run")) == [CHECKPOINT, "tokenizer"]


def test_divergence_is_noticed_before_the_weights_are_spoilt(corpus: Path, tmp_path: Path, monkeypatch):
    trainer = small_trainer(SMALL["bert"], corpus, tmp_path / "run")
    before = {name: tensor.clone() for name, tensor in trainer.model.state_dict().items()}
    forward = trainer.objective.forward
    monkeypatch.setattr(
        trainer.objective,
        "forward",
        lambda model, batch, step: {name: loss * float("nan") for name, loss in forward(model, batch, step).items()},
    )
    with pytest.raises(ModelZooError, match=r"step 0 is not finite.*lower learning rate"):
        trainer.run(Budget(minutes=1, steps=2))
    assert all(torch.equal(before[name], tensor) for name, tensor in trainer.model.state_dict().items())
    assert read_checkpoint(tmp_path / "run")["step"] == 0


def test_a_checkpoint_of_another_recipe_or_corpus_or_a_damaged_one(corpus: Path, tmp_path: Path):
    small_trainer(SMALL["bert"], corpus, tmp_path / "run").save()
    changed = replace(SMALL["bert"], mask_rate=0.5, learning_rate=1.0)
    with pytest.raises(BadCheckpoint, match=r"recipe \(bert\): learning_rate, mask_rate differ"):
        small_trainer(changed, corpus, tmp_path / "run", resume=True)
    longer = replace(SMALL["bert"], minutes=9999)
    assert small_trainer(longer, corpus, tmp_path / "run", resume=True).step == 0
    other = tmp_path / "other.jsonl.xz"
    more = b'{"source": "a", "ordered": true, "sentences": ["x"]}'
    other.write_bytes(lzma.compress(lzma.decompress(corpus.read_bytes()) + b"\n" + more))
    with pytest.raises(BadCheckpoint, match="another corpus file"):
        small_trainer(SMALL["bert"], other, tmp_path / "run", resume=True)
    write_atomically(tmp_path / "run" / CHECKPOINT, lambda handle: handle.write(b"not a checkpoint"))
    with pytest.raises(BadCheckpoint, match="cannot be read"):
        read_checkpoint(tmp_path / "run")
