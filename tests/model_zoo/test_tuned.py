"""Tuned models as models: names, folders, room on the disk and in memory, and the heads of checkpoints."""

import errno
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import tuning
from checkpoints import Checkpoint
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSequenceClassification

from model_zoo import Engine, machine, tuned
from model_zoo.errors import BadCheckpoint, DiskFull, ModelZooError, NotSupported, OutOfMemory, UnknownModel
from model_zoo.process_folder import ProcessFolder
from training.finetuning.data import KINDS, Kind
from training.finetuning.folder import CARD, copy, zipped
from training.finetuning.predict import Predict
from training.finetuning.results import Stepped, Tuned

ROOT = Path(__file__).parents[2]
Trained = Callable[..., Tuned]
TEXTS = (("the cat", None), ("the old dog and the river", None), ("a bank", None))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where tuned models lie: a folder that no other test has written to."""
    monkeypatch.setattr(tuned, "OWN", ProcessFolder(tuned.OWN.prefix))
    monkeypatch.setattr(tuned, "_most", None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tuned.OWN.path


@pytest.fixture(scope="module")
def trained(engine: Engine) -> Trained:
    """``trained(kind)`` is the bundled TinyBERT after an epoch on a small set of the kind, once for this file."""
    return cache(
        lambda kind="classification": tuning.outcome(
            engine, tuning.question("embedded/tinybert", tuning.data(kind), epochs=1)
        )
    )


def put(n_bytes: int, name: str = "") -> str:
    """A tuned model of this size, made after all others."""
    name = name or tuned.new_id()
    with tuned.writing(name, n_bytes) as folder:
        (folder / "config.json").write_bytes(b"x" * n_bytes)
    _as_the_last(folder)
    return name


def _as_the_last(place: Path) -> None:
    latest = max(entry.stat().st_mtime_ns for entry in place.parent.iterdir())
    os.utime(place, ns=(latest + 1_000_000, latest + 1_000_000))


@pytest.fixture
def shared(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder among temporary files whose name anybody can foretell."""
    monkeypatch.setattr(tuned, "_shared", None)
    return root.parent / "shared"


def test_a_folder_to_share_among_temporary_files_is_for_one_user(shared: Path) -> None:
    tuned.share(shared)
    assert stat.S_IMODE(shared.stat().st_mode) == 0o700
    tuned.share(shared)  # as the next process does
    shared.rmdir()
    put(10)
    assert stat.S_IMODE(shared.stat().st_mode) == 0o700


@pytest.mark.parametrize("how", ["link", "dangling link", "file", "open to others", "another user's"])
def test_what_others_may_have_put_there_is_refused(shared: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    match how:
        case "link":
            (shared.parent / "elsewhere").mkdir(mode=0o700)
            shared.symlink_to(shared.parent / "elsewhere")
        case "dangling link":
            shared.symlink_to(shared.parent / "elsewhere")
        case "file":
            shared.touch(0o600)
        case "open to others":
            shared.mkdir()
            shared.chmod(0o770)
        case "another user's":
            shared.mkdir(mode=0o700)
            monkeypatch.setattr(os, "getuid", lambda: shared.stat().st_uid + 1)
    with pytest.raises(ModelZooError, match="no folder of this user alone"):
        tuned.share(shared)
    with pytest.raises(ModelZooError, match="no folder of this user alone"):
        put(10)
    assert not list(shared.parent.glob("elsewhere/*"))


def test_a_folder_elsewhere_may_be_shared_with_others(shared: Path) -> None:
    (shared.parent / "volume").mkdir()
    (shared.parent / "volume/tuned").mkdir()
    (shared.parent / "volume/tuned").chmod(0o770)
    tuned.share(shared.parent / "volume/tuned")
    put(10)


def names(root: Path) -> set[str]:
    return {tuned.PREFIX + folder.name for folder in root.iterdir()}


def test_names_tell_nothing_and_are_told_from_others() -> None:
    first, other = tuned.new_id(), tuned.new_id()
    assert first != other
    assert tuned.is_id(first)
    assert not any(map(tuned.is_id, ("tuned/../../etc/passw", "tuned/0123456789ABCDEF", "embedded/bert", f"{first}/x")))


def test_a_model_that_is_gone_is_said_to_be(engine: Engine) -> None:
    with pytest.raises(UnknownModel, match="trained in a visit that is over"):
        engine.attend(tuned.new_id(), "a cat")


def test_a_model_that_is_forgotten_leaves_memory(checkpoint: Checkpoint) -> None:
    engine, model = Engine("cpu"), tuned.new_id()
    with tuned.writing(model, 1_000_000) as folder:
        shutil.copytree(checkpoint("bert"), folder, dirs_exist_ok=True)
    engine.info(model)
    assert len(engine.held()) == 1
    engine.forget_tuned([model])
    assert list(engine.held()) == []


def test_the_first_ones_make_room_and_the_last_can_be_saved(root: Path) -> None:
    tuned.begin(3_200_000)
    first, second = put(10**6), put(10**6)
    assert names(root) == {first, second}
    third = put(10**6)
    assert names(root) == {second, third}
    for model in (second, third):
        with tuned.archive(model, zip_of):
            pass
    assert {second, third} < names(root)


def test_nothing_goes_for_what_finds_no_room_anyway(root: Path) -> None:
    tuned.begin(3_200_000)
    there = {put(10**6), put(10**6)}
    with pytest.raises(DiskFull, match=r"takes 3\.3 MB, and 3\.2 MB of the 3\.2 MB that all tuned models may take"):
        put(1_600_000)
    assert names(root) == there


@pytest.mark.parametrize(
    ("in_memory", "message"),
    [(False, "the disk has 100 MB left"), (True, "the memory, where its files would lie, has")],
)
def test_a_full_disk_is_said(in_memory: bool, message: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuned, "is_memory_backed", lambda _place: in_memory)
    monkeypatch.setattr(tuned, "memory_limit", lambda: 10_000_000_000)
    monkeypatch.setattr(tuned, "memory_left", lambda: 600_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _place: SimpleNamespace(free=600_000_000 + 2**40 * in_memory))
    with pytest.raises(DiskFull, match=f"The tuned model, with an archive to save it, takes 200 MB, and {message}"):
        put(100_000_000)
    assert not names(root)


def test_on_a_full_disk_the_first_ones_make_room(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, second = put(10**6), put(10**6)
    monkeypatch.setattr(shutil, "disk_usage", lambda _place: SimpleNamespace(free=500_000_000))
    third = put(400_000)
    assert names(root) == {second, third}


def test_no_model_goes_for_what_a_stopped_training_has_learnt(root: Path) -> None:
    tuned.begin(3_200_000)
    there = {put(10**6), put(10**6)}
    with pytest.raises(DiskFull, match=r"takes 1\.5 MB, and 1\.2 MB"), tuned.writing_state(tuned.new_id(), 1_500_000):
        pass
    with tuned.writing_state(stopped := tuned.new_id(), 10**6) as state:
        (state / "state").write_bytes(b"x" * 10**6)
    _as_the_last(state)
    assert names(root) == {*there, f"{stopped}.stopped"}
    third = put(10**6)
    assert names(root) == {third, f"{stopped}.stopped"}
    fourth = put(10**6)
    assert names(root) == {third, fourth}


def test_the_bound_follows_the_memory_where_files_lie_in_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tuned.default_limit() == 4_000_000_000
    monkeypatch.setattr(tuned, "is_memory_backed", lambda _place: True)
    monkeypatch.setattr(tuned, "memory_limit", lambda: 1_500_000_000)
    assert tuned.default_limit() == 300_000_000
    monkeypatch.setattr(tuned, "memory_limit", lambda: 2**40)
    assert tuned.default_limit() == 4_000_000_000
    assert tuned.memory_taken() == 0
    put(1000)
    assert tuned.memory_taken() == 1000
    assert root.is_dir()


def test_files_in_memory_count_for_the_process(monkeypatch: pytest.MonkeyPatch, checkpoint: Checkpoint) -> None:
    small = Engine("cpu", process_bytes=2 * machine.resident() + 2**30)
    small.attend(str(checkpoint("bert")), "the cat")
    small.attend(str(checkpoint("bert")), "the dog")
    assert small.state().n_remembered == 2
    monkeypatch.setattr(tuned, "memory_taken", lambda: 2**50)
    small.attend(str(checkpoint("bert")), "a bank")
    assert small.state().n_remembered == 0


def test_half_a_model_does_not_stay(root: Path) -> None:
    message = r"The tuned model, with an archive to save it, takes 0\.1 MB, which could not be written \(No space left"
    with pytest.raises(DiskFull, match=message), tuned.writing(tuned.new_id(), 10):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert not names(root)


def test_a_folder_that_was_cleaned_away_is_made_again(root: Path) -> None:
    gone = put(1000)
    shutil.rmtree(root)
    with pytest.raises(UnknownModel, match="trained in a visit that is over"):
        tuned.folder(gone)
    tuned.forget(gone)
    assert not root.exists()
    again = put(1000)
    assert tuned.folder(again).is_dir()


def test_a_training_goes_on_where_the_folder_was_cleaned_away(engine: Engine, root: Path) -> None:
    question = tuning.question("embedded/tinybert", epochs=1)
    events = engine.stream(question)
    while not isinstance(next(events), Stepped):
        pass
    events.close()
    assert tuned.state_folder(question.id).is_dir()
    shutil.rmtree(root)
    assert tuning.outcome(engine, question).id == question.id
    assert tuned.folder(question.id).is_dir()


# Another process that has a tuned model: says so, waits for a line, and ends as it is told.
HAS_A_MODEL = """
import sys
from model_zoo import tuned
with tuned.writing(tuned.new_id(), 1) as folder:
    (folder / "config.json").touch()
print(tuned.OWN.path, flush=True)
sys.stdin.readline()
"""


@contextmanager
def another(place: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that has a tuned model, and the folder it keeps it in."""
    process = subprocess.Popen(
        [sys.executable, "-c", HAS_A_MODEL],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(place)},
    )
    with process:
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def test_what_a_killed_process_left_is_swept_and_what_a_living_one_has_is_not(tmp_path: Path, root: Path) -> None:
    with another(tmp_path) as (killed, left), another(tmp_path) as (_, kept):
        mine = put(1000)
        foreign = tmp_path / "look-inside-bert-cluster-0"
        foreign.mkdir()
        tuned.begin(10**9)
        assert left.is_dir()
        killed.kill()
        killed.wait()
        tuned.begin(10**9)
        assert not left.exists()
        assert list(kept.iterdir())
        assert foreign.is_dir()
        assert tuned.folder(mine).is_dir()
    assert root.is_dir()


def test_a_process_that_ends_leaves_nothing(tmp_path: Path) -> None:
    with another(tmp_path) as (process, left):
        assert left.parent == tmp_path
        process.communicate("end\n")
        assert process.returncode == 0
        assert not list(tmp_path.iterdir())


def test_nothing_is_kept_once_the_app_ends(root: Path) -> None:
    put(1000)
    tuned.OWN.close()
    assert not root.exists()
    with pytest.raises(ModelZooError, match="is shutting down"):
        put(1000)
    assert not root.exists()


def zip_of(folder: Path, file: Path) -> None:
    zipped(folder, file, "mine")


def test_an_archive_is_written_once_and_goes_with_its_model(root: Path) -> None:
    written = []

    def write(folder: Path, file: Path) -> None:
        written.append(file)
        zip_of(folder, file)

    name = put(1000)
    for _ in range(2):
        with tuned.archive(name, write) as file, zipfile.ZipFile(file) as archive:
            assert archive.read("mine/config.json") == b"x" * 1000
    assert len(written) == 1
    assert {entry.suffix for entry in root.iterdir()} == {"", ".zip"}
    tuned.forget(name)
    assert not list(root.iterdir())
    with pytest.raises(UnknownModel), tuned.archive(name, write):
        pass


def test_archives_go_first_but_not_while_they_are_read(root: Path) -> None:
    tuned.begin(3_200_000)
    there = {first := put(10**6), last := put(500_000)}
    with tuned.archive(last, zip_of) as file:
        with pytest.raises(DiskFull, match=r"2\.7 MB of the 3\.2 MB"):
            put(1_400_000)
        assert names(root) == {*there, tuned.PREFIX + file.name}
    third = put(800_000)
    assert names(root) == {*there, third}
    message = r"The archive of the model takes 1\.1 MB, and 0\.1 MB"
    with tuned.archive(third, zip_of), pytest.raises(DiskFull, match=message), tuned.archive(first, zip_of):
        pass
    assert {*there, third} < names(root)


def test_an_archive_that_cannot_be_written_leaves_nothing(root: Path) -> None:
    def full(_folder: Path, file: Path) -> None:
        file.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    name = put(1000)
    with pytest.raises(DiskFull, match="could not be written"), tuned.archive(name, full):
        pass
    assert names(root) == {name}

    def left(_folder: Path, _file: Path) -> None:
        tuned.forget(name)
        raise FileNotFoundError

    with pytest.raises(UnknownModel), tuned.archive(name, left):
        pass
    assert not names(root)


def test_many_who_save_at_once_write_one_after_the_other(root: Path) -> None:
    at_work, most = [0], [0]

    def write(folder: Path, file: Path) -> None:
        at_work[0] += 1
        most[0] = max(most[0], at_work[0])
        zip_of(folder, file)
        at_work[0] -= 1

    def save(name: str) -> bytes:
        with tuned.archive(name, write) as file:
            return file.read_bytes()

    models = [put(200_000) for _ in range(4)] * 2
    with ThreadPoolExecutor(8) as pool:
        saved = list(pool.map(save, models))
    assert most == [1]
    assert all(len(archive) > 200_000 for archive in saved)
    assert not tuned._being_read
    assert root.is_dir()


def test_work_takes_memory_while_it_lasts(checkpoint: Checkpoint) -> None:
    engine = Engine("cpu", model_bytes=80_000_000)
    events = engine.stream(tuning.question(str(checkpoint("bert"))))
    next(events)
    with pytest.raises(OutOfMemory, match="leave no room"), engine._memory.reserved("another", 79_000_000):
        pass
    events.close()
    with engine._memory.reserved("another", 79_000_000):
        pass


@pytest.mark.parametrize("kind", KINDS)
def test_a_tuned_model_is_a_model_like_any_other(engine: Engine, trained: Trained, kind: Kind) -> None:
    tuned_model = trained(kind)
    info = engine.info(tuned_model.id)
    assert info.tuned_for == kind
    assert info.labels == tuned_model.data.labels
    assert not info.mlm
    assert engine.attend(tuned_model.id, "The cat sat.").n_layers == 2
    assert len(engine.encoded_states(tuned_model.id, "The cat sat.").states) == 3
    predictions = engine.ask(Predict(tuned_model.id, tuple((item.text, item.pair) for item in tuned_model.data.test)))
    if kind in ("classification", "similarity"):
        for predicted, expected in zip(predictions, tuned_model.predictions, strict=True):
            values = [
                getattr(prediction, "score", None) or prediction.probabilities for prediction in (predicted, expected)
            ]
            assert values[0] == pytest.approx(values[1], abs=1e-4)


def test_predictions_are_those_of_transformers_own_class(engine: Engine, trained: Trained) -> None:
    tuned_model = trained()
    model = AutoModelForSequenceClassification.from_pretrained(tuned.folder(tuned_model.id)).eval()
    together = engine.ask(Predict(tuned_model.id, TEXTS))
    with engine._memory.lease(tuned_model.id) as loaded, torch.no_grad():
        for (text, _), prediction in zip(TEXTS, together, strict=True):
            shares = model(**loaded.tokenizer(text, return_tensors="pt")).logits.softmax(dim=-1)[0].tolist()
            assert prediction.probabilities == pytest.approx(shares, abs=1e-5)
            assert prediction.label == model.config.id2label[shares.index(max(shares))]


def test_a_model_without_a_head_for_a_task_gives_no_labels(engine: Engine) -> None:
    with pytest.raises(NotSupported, match="no task head"):
        engine.ask(Predict("embedded/tinybert", TEXTS))


def test_a_saved_folder_is_loaded_back(engine: Engine, trained: Trained, tmp_path: Path) -> None:
    tuned_model = trained()
    target = copy(tuned.folder(tuned_model.id), tmp_path / "own" / "model")
    assert engine.ask(Predict(str(target), TEXTS)) == engine.ask(Predict(tuned_model.id, TEXTS))
    card = (target / CARD).read_text(encoding="utf-8")
    baseline, score = f"{tuned_model.score().strongest_baseline:.3f}", f"(Accuracy {tuned_model.best.score:.1%})"
    for expected in ("embedded/tinybert", "| accuracy |", f" | {baseline} |", tuned_model.strongest_baseline, score):
        assert expected in card
    zipped(target, tmp_path / "model.zip", "model")
    assert (tmp_path / "model.zip").stat().st_size > 17_000_000
    with pytest.raises(Exception, match="not empty"):
        copy(tuned.folder(tuned_model.id), target)


def test_a_head_that_lacks_weights_does_not_count(engine: Engine, trained: Trained, tmp_path: Path) -> None:
    tuned_model = trained()
    target = copy(tuned.folder(tuned_model.id), tmp_path / "headless")
    weights = {name: w for name, w in load_file(target / "model.safetensors").items() if "classifier" not in name}
    save_file(weights, target / "model.safetensors", {"format": "pt"})
    assert engine.info(str(target)).tuned_for is None
    assert engine.attend(str(target), "a cat").n_heads == 4


def test_an_engine_of_listed_models_knows_tuned_ones_and_no_folders(trained: Trained, tmp_path: Path) -> None:
    tuned_model = trained()
    hosted = Engine("cpu", any_model=False)
    assert hosted.attend(tuned_model.id, "a cat").n_heads == 4
    target = copy(tuned.folder(tuned_model.id), tmp_path / "own")
    with pytest.raises((UnknownModel, BadCheckpoint), match="not in this app's list"):
        hosted.attend(str(target), "a cat")


@pytest.mark.parametrize("kind", KINDS)
def test_the_lstms_heads_are_not_changed_by_padding(engine: Engine, bilstm: str, kind: Kind) -> None:
    tuned_model = tuning.outcome(engine, tuning.question(bilstm, tuning.data(kind), epochs=1))
    pairs = tuple(
        (text, "the river and the bank" if kind in ("answering", "similarity") else None) for text, _ in TEXTS
    )
    together = engine.ask(Predict(tuned_model.id, pairs))
    alone = [engine.ask(Predict(tuned_model.id, (pair,)))[0] for pair in pairs]
    for prediction, other in zip(together, alone, strict=True):
        for name in ("probabilities", "start_scores", "score"):
            if hasattr(prediction, name):
                assert getattr(prediction, name) == pytest.approx(getattr(other, name), abs=1e-5)
