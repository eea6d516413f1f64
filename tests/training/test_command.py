"""The command that trains: what it does, what it says, and what it refuses."""

import signal
from pathlib import Path

import pytest
import torch
from small_recipes import SMALL

from training import command, models
from training.models import ARCHITECTURES
from training.recipes import RECIPES
from training.trainer import Trainer, read_checkpoint

pytestmark = pytest.mark.usefixtures("one_thread", "teacher")


@pytest.fixture
def shell(corpus: Path, tmp_path: Path, monkeypatch, capsys):
    """The command with small recipes: returns exit status, output, errors."""
    for name, recipe in SMALL.items():
        monkeypatch.setitem(RECIPES, name, recipe)
    run = tmp_path / "runs" / "a"

    def call(*arguments: object) -> tuple[int, str, str]:
        status = command.main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    call.run, call.corpus = run, corpus
    return call


def test_the_command_trains_resumes_and_exports(shell, tmp_path: Path):
    arguments = ("bert", "--corpus", shell.corpus, "--device", "cpu")
    status, out, _ = shell(*arguments, "--out", shell.run, "--steps", 2)
    assert status == 0
    assert "bert: step 0, held out loss" in out
    assert "of pairs right" in out
    assert "model: step 2" in out
    status, out, _ = shell(*arguments, "--resume", shell.run, "--steps", 3)
    assert status == 0
    assert "model: step 3" in out
    status, out, _ = shell("bert", "--resume", shell.run, "--export", tmp_path / "exported")
    assert status == 0
    model = models.load_complete(ARCHITECTURES["bert"].model, tmp_path / "exported")
    trained = read_checkpoint(shell.run)["model"]["bert.embeddings.word_embeddings.weight"]
    assert model.dtype == torch.float32
    error = (model.get_input_embeddings().weight - trained).norm() / trained.norm()
    assert error < 0.03
    assert "is_local" not in (tmp_path / "exported" / "tokenizer_config.json").read_text()
    names = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    assert {file.name for file in (tmp_path / "exported").iterdir()} == names


def test_a_model_can_be_continued_with_a_new_warm_up(shell, tmp_path: Path):
    assert shell("bert", "--corpus", shell.corpus, "--out", shell.run, "--steps", 2)[0] == 0
    second = tmp_path / "runs" / "b"
    model = shell.run / "model"
    assert shell("bert", "--corpus", shell.corpus, "--out", second, "--start", model, "--steps", 1)[0] == 0
    start = models.load_complete(ARCHITECTURES["bert"].model, model).state_dict()
    after = read_checkpoint(second)["model"]
    assert all((after[name] - tensor).abs().max() < 0.01 for name, tensor in start.items())
    status, _, errors = shell("tinybert", "--corpus", shell.corpus, "--out", tmp_path / "c", "--start", model)
    assert status == 2
    assert "has hidden_size = 16, the recipe tinybert 8" in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bert"], "Training needs a corpus"),
        (["bert", "--corpus", "{missing}"], "There is no corpus file"),
        (["bert", "--corpus", "{corpus}", "--resume", "{missing}"], "There is no checkpoint in"),
        (["bert", "--corpus", "{corpus}", "--resume", "{missing}", "--start", "x"], "Give one of the two"),
        (["bert", "--corpus", "{corpus}", "--minutes", "-1"], "must be positive"),
        (["bert", "--corpus", "{corpus}", "--steps", "0"], "must be positive"),
        (["bert", "--export", "{missing}"], "Name its folder with --resume"),
        (["bert", "--export", "{missing}", "--resume", "{missing}"], "There is no checkpoint in"),
        (["bert", "--corpus", "{corpus}", "--out", "{missing}", "--start", "{missing}"], "There is no tokenizer in"),
    ],
)
def test_bad_arguments_get_a_message(shell, tmp_path: Path, arguments: list[str], message: str):
    places = {"missing": str(tmp_path / "missing"), "corpus": str(shell.corpus)}
    status, _, errors = shell(*(argument.format(**places) for argument in arguments))
    assert status == 2
    assert message in errors
    assert "Traceback" not in errors


def test_a_run_is_not_overwritten(shell):
    arguments = ("bilstm", "--corpus", shell.corpus, "--out", shell.run, "--steps", 1)
    assert shell(*arguments)[0] == 0
    status, _, errors = shell(*arguments)
    assert status == 2
    assert "already holds a run" in errors
    status, _, errors = shell("bert", "--resume", shell.run, "--export", shell.run / "x")
    assert status == 2
    assert "is of the recipe bilstm, not bert" in errors


def test_ctrl_c_saves_and_says_how_to_go_on(shell, monkeypatch):
    batch = Trainer.batch

    def interrupted(trainer: Trainer, step: int):
        if step == 1:
            signal.raise_signal(signal.SIGINT)
        return batch(trainer, step)

    monkeypatch.setattr(Trainer, "batch", interrupted)
    status, _, errors = shell("bert", "--corpus", shell.corpus, "--out", shell.run, "--steps", 50)
    assert status == 130
    assert f"Stopped at step 2; saved. Continue with --resume {shell.run}" in errors
    assert read_checkpoint(shell.run)["step"] == 2
