"""Tuned models as models: names, folders, room on the disk and in memory, and the heads of checkpoints."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import tuning
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSequenceClassification

from model_zoo import Engine, tuned
from model_zoo.errors import BadCheckpoint, DiskFull, NotSupported, OutOfMemory, UnknownModel
from training.finetuning.data import KINDS, Kind
from training.finetuning.folder import CARD, copy, zipped
from training.finetuning.predict import Predict

TEXTS = (("the cat", None), ("the old dog and the river", None), ("a bank", None))


@pytest.fixture
def own_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tuned, "_root", lambda: tmp_path)
    return tmp_path


def test_names_tell_nothing_and_are_told_from_others() -> None:
    one, other = tuned.new_id(), tuned.new_id()
    assert one != other
    assert tuned.is_id(one)
    assert not any(map(tuned.is_id, ("tuned/../../etc/passw", "tuned/0123456789ABCDEF", "embedded/bert", f"{one}/x")))


def test_a_model_that_is_gone_is_said_to_be(engine: Engine) -> None:
    with pytest.raises(UnknownModel, match="trained in a visit that is over"):
        engine.attend(tuned.new_id(), "a cat")


def test_the_first_ones_make_room(own_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuned, "MOST_BYTES", 2500)
    names = [tuned.new_id() for _ in range(3)]
    for place, name in enumerate(names):
        folder = tuned.make_folder(name, 1000)
        (folder / "config.json").write_bytes(b"x" * 1000)
        for own in own_root.iterdir():
            own.touch()
        assert len(list(own_root.iterdir())) == min(place + 1, 2)


def test_a_full_disk_is_said(own_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _place: SimpleNamespace(free=600_000_000))
    with pytest.raises(DiskFull, match="takes 200 MB, and the disk has 100 MB left"):
        tuned.make_folder(tuned.new_id(), 200_000_000)
    assert not list(own_root.iterdir())


def test_work_takes_memory_while_it_lasts(checkpoint: Callable[[str], Path]) -> None:
    engine = Engine("cpu", model_bytes=80_000_000)
    events = engine.stream(tuning.question(str(checkpoint("bert"))))
    next(events)
    with pytest.raises(OutOfMemory, match="leave no room"), engine._memory.reserved("another", 79_000_000):
        pass
    events.close()
    with engine._memory.reserved("another", 79_000_000):
        pass


@pytest.mark.parametrize("kind", KINDS)
def test_a_tuned_model_is_a_model_like_any_other(engine: Engine, kind: Kind) -> None:
    found = tuning.outcome(engine, tuning.question("embedded/tinybert", tuning.data(kind), epochs=1))
    info = engine.info(found.id)
    assert info.tuned_for == kind
    assert info.labels == found.data.labels
    assert not info.mlm
    assert engine.attend(found.id, "The cat sat.").n_layers == 2
    assert len(engine.encoded_states(found.id, "The cat sat.").states) == 3
    told = engine.ask(Predict(found.id, tuple((item.text, item.pair) for item in found.data.test)))
    if kind in ("classification", "similarity"):
        for one, expected in zip(told, found.predictions, strict=True):
            values = [getattr(each, "score", None) or each.probabilities for each in (one, expected)]
            assert values[0] == pytest.approx(values[1], abs=1e-4)


def test_predictions_are_those_of_transformers_own_class(engine: Engine) -> None:
    found = tuning.outcome(engine, tuning.question("embedded/tinybert", epochs=1))
    model = AutoModelForSequenceClassification.from_pretrained(tuned.folder(found.id)).eval()
    together = engine.ask(Predict(found.id, TEXTS))
    with engine._memory.lease(found.id) as loaded, torch.no_grad():
        for (text, _), told in zip(TEXTS, together, strict=True):
            shares = model(**loaded.tokenizer(text, return_tensors="pt")).logits.softmax(dim=-1)[0].tolist()
            assert told.probabilities == pytest.approx(shares, abs=1e-5)
            assert told.label == model.config.id2label[shares.index(max(shares))]


def test_a_model_without_a_head_for_a_task_gives_no_labels(engine: Engine) -> None:
    with pytest.raises(NotSupported, match="no head for a task"):
        engine.ask(Predict("embedded/tinybert", TEXTS))


def test_a_saved_folder_is_loaded_back(engine: Engine, tmp_path: Path) -> None:
    found = tuning.outcome(engine, tuning.question("embedded/tinybert", epochs=1))
    target = copy(tuned.folder(found.id), tmp_path / "own" / "model")
    assert engine.ask(Predict(str(target), TEXTS)) == engine.ask(Predict(found.id, TEXTS))
    card = (target / CARD).read_text(encoding="utf-8")
    assert "embedded/tinybert" in card
    assert "| accuracy |" in card
    assert len(zipped(target, "model")) > 17_000_000
    with pytest.raises(Exception, match="not empty"):
        copy(tuned.folder(found.id), target)


def test_a_head_that_lacks_weights_does_not_count(engine: Engine, tmp_path: Path) -> None:
    found = tuning.outcome(engine, tuning.question("embedded/tinybert", epochs=1))
    target = copy(tuned.folder(found.id), tmp_path / "headless")
    weights = {name: w for name, w in load_file(target / "model.safetensors").items() if "classifier" not in name}
    save_file(weights, target / "model.safetensors", {"format": "pt"})
    assert engine.info(str(target)).tuned_for is None
    assert engine.attend(str(target), "a cat").n_heads == 4


def test_an_engine_of_listed_models_knows_tuned_ones_and_no_folders(engine: Engine, tmp_path: Path) -> None:
    found = tuning.outcome(engine, tuning.question("embedded/tinybert", epochs=1))
    hosted = Engine("cpu", listed_only=True)
    assert hosted.attend(found.id, "a cat").n_heads == 4
    target = copy(tuned.folder(found.id), tmp_path / "own")
    with pytest.raises((UnknownModel, BadCheckpoint), match="not in this app's list"):
        hosted.attend(str(target), "a cat")


@pytest.mark.parametrize("kind", KINDS)
def test_the_lstms_heads_are_not_changed_by_padding(engine: Engine, bilstm: str, kind: Kind) -> None:
    found = tuning.outcome(engine, tuning.question(bilstm, tuning.data(kind), epochs=1))
    pairs = tuple(
        (text, "the river and the bank" if kind in ("answering", "similarity") else None) for text, _ in TEXTS
    )
    together = engine.ask(Predict(found.id, pairs))
    alone = [engine.ask(Predict(found.id, (pair,)))[0] for pair in pairs]
    for one, other in zip(together, alone, strict=True):
        for name in ("probabilities", "start_scores", "score"):
            if hasattr(one, name):
                assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-5)
