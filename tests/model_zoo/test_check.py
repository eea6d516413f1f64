"""``python -m model_zoo.check``: one line a model says whether it gives transformers' numbers, and what failed."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from checkpoints import FAMILIES, Checkpoint
from loopback_hub import COMMIT, Hub
from safetensors.torch import load_file

from model_zoo import check, registry
from model_zoo.by_transformers import Plain

Line = dict[str, Any]
Command = Callable[..., tuple[int, list[Line]]]

KEYS = "model revision opens converted attention states fill_mask next_token next_sentence seconds failed"


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], no_hub: None) -> Command:  # noqa: ARG001
    """Runs it; its exit status and its lines."""

    def run(*arguments: str) -> tuple[int, list[Line]]:
        status = check.main(arguments)
        printed = capsys.readouterr().out.splitlines()
        return status, [
            json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is no JSON")) for line in printed
        ]

    return run


@pytest.mark.parametrize("name", ["bert", "bert_headless", "albert", "gpt2", "bart", "fnet", "longformer"])
def test_a_sound_checkpoint_has_no_failure(name: str, checkpoint: Checkpoint, command: Command) -> None:
    """Every family, tests/model_zoo/test_every_model.py holds to the same bounds."""
    family = FAMILIES[name]
    status, (line,) = command(str(checkpoint(name)))
    assert list(line) == KEYS.split()
    assert line["failed"] is None
    assert (status, line["model"], line["opens"], line["converted"]) == (0, str(checkpoint(name)), True, False)
    assert line["states"] <= check.STATES_TOLERANCE
    for field, has in (("attention", family.attention), ("fill_mask", family.mlm), ("next_sentence", bool(family.nsp))):
        assert (line[field] is not None) == has
        assert not has or line[field] < 1e-3
    assert line["seconds"] > 0


@pytest.mark.slow
def test_many_are_told_one_after_the_other_and_one_that_fails_stops_none(copied: Path, command: Command) -> None:
    (copied / "model.safetensors").write_bytes(b"broken")
    status, lines = command(
        "nobody/nothing", str(copied), "embedded/tinybert", "untrained:embedded/bert", "embedded/bilstm"
    )
    assert status == 1
    unknown, broken, sound, untrained, lstm = lines
    assert not unknown["opens"]
    assert "nobody/nothing is not on this machine" in unknown["failed"]
    assert not broken["opens"]
    assert "cannot be read" in broken["failed"]
    assert (unknown["revision"], broken["attention"]) == (None, None)
    assert sound["failed"] is None
    assert None not in (sound["attention"], sound["fill_mask"], sound["next_sentence"])
    assert "has no weights to compare" in untrained["failed"]
    assert (lstm["failed"], lstm["attention"], lstm["next_sentence"]) == (None, None, None)
    assert lstm["fill_mask"] is not None
    assert command("embedded/tinybert", "embedded/tinybert")[0] == 0


def test_a_model_on_the_hub_is_downloaded(hub: Hub, checkpoint: Checkpoint, capsys: pytest.CaptureFixture[str]) -> None:
    hub.models["someone/tiny"] = checkpoint("bert")
    assert check.main(["someone/tiny"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert (line["revision"], line["failed"]) == (COMMIT, None)


@pytest.mark.usefixtures("forked")
def test_pickles_are_compared_as_converted(copied: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = copied / "model.safetensors"
    torch.save(load_file(weights), copied / "pytorch_model.bin")
    weights.unlink()
    monkeypatch.setattr(torch, "load", lambda *_args, **_options: pytest.fail("a pickle was opened"))
    status, (line,) = command(str(copied))
    assert (status, line["failed"], line["converted"]) == (0, None, True)
    assert line["fill_mask"] is not None


def test_a_config_that_does_not_say_its_network_is_read_as_the_engine_does(copied: Path, command: Command) -> None:
    config = json.loads((copied / "config.json").read_text())
    del config["model_type"]
    (copied / "config.json").write_text(json.dumps(config))
    status, (line,) = command(str(copied))
    assert (status, line["failed"]) == (0, None)


@pytest.mark.parametrize(
    ("of", "changed", "message"),
    [
        (
            "filled",
            lambda answers: [[(token, 0.5) for token, _ in mask] for mask in answers],
            "Filled masks: the differ",
        ),
        ("filled", lambda answers: answers[:1], "be compared: The engine fills 2 masks, transformers 1."),
        ("sentence_logits", lambda logits: logits + 1, "Sentence scores: the difference from transformers is 1, more"),
        ("sentence_logits", lambda logits: logits * float("nan"), "Sentence scores: the difference from"),
        ("encoded", lambda answers: [(maps[:1], states) for maps, states in answers], "of 3 layers, transformers of 1"),
        ("encoded", lambda answers: [(maps, states[1:]) for maps, states in answers], "hidden states are of shape"),
        ("encoded", lambda answers: [(maps, states + 1) for maps, states in answers], "Hidden states: the difference"),
    ],
)
def test_what_differs_is_told_and_the_rest_compared_all_the_same(
    of: str, changed: Callable[[Any], Any], message: str, command: Command, checkpoint: Checkpoint,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    true = getattr(Plain, of)
    monkeypatch.setattr(Plain, of, lambda self, *requested: changed(true(self, *requested)))
    status, (line,) = command(str(checkpoint("bert")))
    assert status == 1
    assert line["opens"]
    assert message in line["failed"]
    assert line["failed"].count("ompared") + line["failed"].count("difference") == 1
    others = {"filled": "states", "sentence_logits": "fill_mask", "encoded": "next_sentence"}
    assert line[others[of]] is not None


def test_what_transformers_stumbles_over_is_told(
    command: Command, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(*_: object) -> None:
        raise KeyError("weight\nand more")

    monkeypatch.setattr(Plain, "sentence_logits", stumble)
    _, (line,) = command(str(checkpoint("bert")))
    assert line["failed"].startswith("Sentence scores cannot be compared: KeyError: ")
    assert line["next_sentence"] is None


@pytest.mark.slow
def test_listed_is_every_model_of_the_registry(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = registry.MODELS["embedded/tinybert"]
    monkeypatch.setattr(
        registry, "MODELS", {tiny.id: replace(tiny, layers=3), "embedded/bilstm": registry.MODELS["embedded/bilstm"]}
    )
    status, (wrong, right) = command("--listed")
    assert (status, wrong["model"], right["model"]) == (1, "embedded/tinybert", "embedded/bilstm")
    assert wrong["failed"] == "The list of models says layers: 3, the checkpoint 2."
    assert wrong["attention"] is not None
    assert right["failed"] is None


def test_without_a_model_it_says_what_to_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        check.main([])
    assert ended.value.code == 2
    assert "name a model, or --listed" in capsys.readouterr().err
