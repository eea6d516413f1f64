"""Weights published as pickles: every number comes through, nothing in them runs, nothing is left half done."""

import argparse
import io
import json
import os
import shutil
import subprocess
import threading
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from checkpoints import Checkpoint
from huggingface_hub import constants
from loopback_hub import Hub
from patience import PATIENCE
from refused import message
from safetensors import safe_open
from safetensors.torch import load_file

from model_zoo import Engine, confined, pickles, sources, tokenizer_sandbox
from model_zoo.errors import BadCheckpoint, DiskFull, ModelZooError, NotDownloaded

pytestmark = pytest.mark.slow

TEXT = "The cat sat on the mat."
DAMAGED = "the file is damaged, or is not a pickle that torch wrote"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of its own."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub-safetensors"


@pytest.fixture
def pickled(checkpoint: Checkpoint, tmp_path: Path) -> Callable[..., Path]:
    """The tiny BERT with ``tensors`` (its own unless given) as a pickle."""

    def make(tensors: Any = None, **how: Any) -> Path:
        folder = Path(shutil.copytree(checkpoint("bert"), tmp_path / "copied"))
        weights = folder / "model.safetensors"
        torch.save(load_file(weights) if tensors is None else tensors, folder / "pytorch_model.bin", **how)
        weights.unlink()
        return folder

    return make


@pytest.fixture(params=[{}, {"_use_new_zipfile_serialization": False}])
def how(request: pytest.FixtureRequest) -> dict[str, Any]:
    """How torch writes: as it does today, read in a real process, and as before 1.6."""
    if request.param:
        request.getfixturevalue("forked")
    return request.param


def states(model: str) -> np.ndarray:
    return Engine("cpu").hidden_states(model, [TEXT])[0]


def leftovers(cache: Path) -> list[str]:
    """What lies in the cache but whole conversions."""
    return [folder.name for folder in cache.glob("*") if not (folder / "model.safetensors").is_file()]


def test_a_pickle_gives_the_numbers_of_its_tensors(
    how: dict[str, Any], pickled: Callable[..., Path], checkpoint: Checkpoint, cache: Path
) -> None:
    """It is converted once."""
    folder = pickled(**how)
    assert (states(str(folder)) == states(str(checkpoint("bert")))).all()
    source = sources.find(str(folder))
    assert source.converted
    assert source.weights[0].parent.parent == cache
    before = source.weights[0].stat().st_mtime_ns
    assert sources.find(str(folder)).weights[0].stat().st_mtime_ns == before
    info = Engine("cpu").info(str(folder))
    assert (info.converted, info.mlm, info.nsp) == (True, True, "NSP")
    assert not Engine("cpu").info(str(checkpoint("bert"))).converted
    assert leftovers(cache) == []


@pytest.mark.usefixtures("forked")
def test_parts_ties_names_of_before_and_half_precision(checkpoint: Checkpoint, tmp_path: Path) -> None:
    """A tied matrix is stored once under two names, and a view of another tensor on its own."""
    folder = Path(shutil.copytree(checkpoint("bert"), tmp_path / "copied"))
    full = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    old = OrderedDict(
        (name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"), tensor.half())
        for name, tensor in full.items()
    )
    words = old["bert.embeddings.word_embeddings.weight"]
    old |= {
        "cls.predictions.decoder.weight": words,
        "bert.embeddings.position_ids": torch.arange(64)[None],
        "lm_predictions.lm_head.weight": words[:4],
    }
    names = list(old)
    parts = {f"pytorch_model-0000{n}-of-00002.bin": names[n - 1 :: 2] for n in (1, 2)}
    tied = ["bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight", "lm_predictions.lm_head.weight"]
    for file in parts:
        parts[file] = [name for name in parts[file] if name not in tied] + (tied if "00001" in file else [])
    for file, held in parts.items():
        torch.save({name: old[name] for name in held}, folder / file)
    index = {"metadata": {}, "weight_map": {name: file for file, held in parts.items() for name in held}}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index), encoding="utf-8")

    source = sources.find(str(folder))
    assert [file.name for file in source.weights] == [f"model-0000{n}-of-00002.safetensors" for n in (1, 2)]
    with safe_open(source.weights[0], "pt") as first:
        assert json.loads(first.metadata()["aliases"]) == {tied[1]: tied[0]}
        assert torch.equal(first.get_tensor(tied[2]), words[:4])
        assert first.get_tensor(tied[0]).dtype == torch.float16
    np.testing.assert_allclose(states(str(folder)), states(str(checkpoint("bert"))), atol=0.02)
    info = Engine("cpu").info(str(folder))
    assert (info.mlm, info.nsp) == (True, "NSP")
    assert info.parameters == Engine("cpu").info(str(checkpoint("bert"))).parameters + words[:4].numel()
    (folder / "pytorch_model-00002-of-00002.bin").unlink()
    assert message(str(folder)).startswith(f"A part of the weights of “{folder}” is missing")


class Runs:
    """A pickle that writes a file when it is opened."""

    def __init__(self, proof: Path) -> None:
        self.proof = proof

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.proof}",)


def opened(folder: Path) -> str:
    """What is said of a folder, without its name."""
    return message(str(folder)).replace(str(folder), "it")


def test_code_in_a_pickle_never_runs(
    how: dict[str, Any], pickled: Callable[..., Path], tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof = tmp_path / "it ran"
    folder = pickled({"weight": torch.ones(2), "more": Runs(proof)}, **how)
    assert "(pytorch_model.bin) were not opened: the pickle holds more than tensors" in opened(folder)
    assert not proof.exists()
    assert leftovers(cache) == []
    # Refused for good: no process is started again.
    monkeypatch.setattr(confined, "run", lambda *_arguments, **_options: pytest.fail("it was opened again"))
    assert "it asks for posix.system" in opened(folder)


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize(
    ("held", "message"),
    [
        (lambda: torch.nn.Linear(2, 2), "more than tensors (it asks for torch.nn.modules.linear.Linear)"),
        (lambda: {"args": argparse.Namespace(lr=1)}, "more than tensors (it asks for argparse.Namespace)"),
        (lambda: {"weight": torch.ones(2), "epoch": 3}, "other than a table of tensors"),
        (lambda: torch.ones(2), "other than a table of tensors"),
        (dict, "other than a table of tensors"),
        (lambda: {"weight": torch.ones(2, 2).to_sparse()}, "sparse or quantized"),
        # One number, repeated over 4 TB by its strides: written out it would fill memory and disk.
        (lambda: {"weight": torch.ones(1).expand(2**40)}, "takes more memory than such a file needs"),
    ],
)
def test_what_is_no_table_of_tensors_is_refused(
    held: Callable[[], Any], message: str, pickled: Callable[..., Path], cache: Path
) -> None:
    assert message in opened(pickled(held()))
    assert leftovers(cache) == []


def files_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}


def zipped(files: dict[str, bytes], how: int = zipfile.ZIP_STORED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", how) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def bomb(data: bytes) -> bytes:
    """A gigabyte of zeros in a megabyte."""
    return zipped(files_of(data) | {"archive/data/0": bytes(2**28)}, zipfile.ZIP_DEFLATED)


def lies(data: bytes) -> bytes:
    """A tensor that says that it has a thousand times as many numbers as are there."""
    files = files_of(data)
    name = next(name for name in files if name.endswith("data.pkl"))
    shape = b"K\x07K\x05\x86"
    assert shape in files[name]
    files[name] = files[name].replace(shape, b"J\x00\x00\x00\x70K\x05\x86")
    return zipped(files)


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (bomb, "an archive of compressed files"),
        (lies, DAMAGED),
        (lambda data: zipped({"archive/data.pkl": data}), DAMAGED),
        (lambda data: data[: len(data) // 2], DAMAGED),
        (lambda _data: b"", DAMAGED),
        (lambda _data: b"version https://git-lfs.github.com/spec/v1\n", DAMAGED),
    ],
)
def test_harmful_files(harm: Callable[[bytes], bytes], message: str, pickled: Callable[..., Path], cache: Path) -> None:
    folder = pickled({"weight": torch.ones(7, 5)})
    file = folder / "pytorch_model.bin"
    file.write_bytes(harm(file.read_bytes()))
    assert message in opened(folder)
    assert leftovers(cache) == []


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize(
    ("failure", "error", "message"),
    [
        ("time", BadCheckpoint, "takes longer than"),
        ("memory", BadCheckpoint, "takes more memory than"),
        ("disk", DiskFull, "have to be converted"),
        ("start", BadCheckpoint, "no process could be started"),
        ("error", BadCheckpoint, DAMAGED),
    ],
)
def test_a_conversion_that_is_ended_in_the_middle(
    failure: Any, error: type[ModelZooError], message: str, pickled: Callable[..., Path], cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Half of it is on the disk: nothing stays, and unless the file is to blame the next try works."""
    folder = pickled()

    def half(_child: str, target: str, *_files: str, **_limits: Any) -> confined.Outcome:
        (Path(target) / "model.safetensors").write_bytes(b"half")
        return confined.Outcome(failure)

    with monkeypatch.context() as patch:
        patch.setattr(confined, "run", half)
        with pytest.raises(error, match=message):
            sources.find(str(folder))
    assert list(cache.iterdir()) == []
    pickles._refused.clear()
    assert states(str(folder)).shape[0] == 4


def test_a_disk_that_is_full_before(pickled: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = pickled()
    monkeypatch.setattr(shutil, "disk_usage", lambda _place: SimpleNamespace(free=1000))
    size = (folder / "pytorch_model.bin").stat().st_size
    with pytest.raises(DiskFull, match=f"takes {size / 1e6:.1f} MB on the disk, and there are 0.0 MB left"):
        sources.find(str(folder))


@pytest.mark.usefixtures("forked")
def test_a_disk_that_fills_up(pickled: Callable[..., Path], cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of a file's size stands for it: the system refuses to write on."""
    folder = pickled()
    monkeypatch.setattr(pickles, "_FILE_SHARE", 0)
    monkeypatch.setattr(pickles, "_FILE", 1000)
    with pytest.raises(DiskFull, match=r"Free some space, or choose another model\."):
        sources.find(str(folder))
    assert list(cache.iterdir()) == []


@pytest.mark.usefixtures("forked")
def test_what_killed_processes_left_is_swept(pickled: Callable[..., Path], cache: Path) -> None:
    old, new = cache / "half-old", cache / "half-new"
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "model.safetensors").write_bytes(b"half")
    os.utime(old, (0, 0))
    sources.find(str(pickled()))
    assert (old.exists(), new.exists()) == (False, True)


def test_a_cache_that_cannot_be_written_to(pickled: Callable[..., Path], cache: Path) -> None:
    cache.write_text("a file in its place", encoding="utf-8")
    assert "cannot be written to" in message(str(pickled()))


@pytest.mark.usefixtures("forked")
def test_a_class_has_it_converted_once(pickled: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, started, run = str(pickled()), [], confined.run
    barrier = threading.Barrier(8)

    def counted(*arguments: Any, **options: Any) -> confined.Outcome:
        started.append(arguments)
        return run(*arguments, **options)

    def find(_visitor: int) -> sources.Source:
        barrier.wait()
        return sources.find(folder)

    monkeypatch.setattr(confined, "run", counted)
    with ThreadPoolExecutor(8) as pool:
        by_thread = list(pool.map(find, range(8)))
    assert len(set(by_thread)) == len(started) == 1


def test_the_process_sees_no_secrets_and_starts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    child = tmp_path / "look.py"
    child.write_text(
        "import os, subprocess, socket\nprint(sorted(os.environ))\n"
        "for do in (lambda: subprocess.run(['true']), lambda: os.system('true'), lambda: socket.socket()):\n"
        "    try:\n        do()\n        print('done')\n"
        "    except PermissionError as error:\n        print(error)\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(confined, "_HERE", tmp_path)
    shutil.copy(Path(confined.__file__).with_name("start.py"), tmp_path)
    ended = confined.run("look", package="safetensors", seconds=PATIENCE, n_bytes=2**28)
    assert ended.failure is None
    assert "HF_TOKEN" not in ended.message
    assert "done" not in ended.message
    assert ended.message.count("is not allowed in this process") == 3


@pytest.mark.parametrize(
    ("script", "failure"),
    [
        ("while True: pass", "time"),
        ("x = bytearray(2**30)", "memory"),
        ("open('/dev/null'); open(__file__ + 'x', 'wb').write(bytes(2**20))", "disk"),
        ("raise ValueError('no')", "error"),
    ],
)
def test_limits_of_the_process(script: str, failure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "child.py").write_text(script, encoding="utf-8")
    shutil.copy(Path(confined.__file__).with_name("start.py"), tmp_path)
    monkeypatch.setattr(confined, "_HERE", tmp_path)
    seconds = 1 if failure == "time" else PATIENCE
    assert confined.run("child", package="safetensors", seconds=seconds, n_bytes=2**28).failure == failure


def test_a_process_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: Any, **_options: Any) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    ended = confined.run("try_tokenizer", package="tokenizers", seconds=1, n_bytes=2**28)
    assert (ended.failure, ended.message) == ("start", "[Errno 11] Resource temporarily unavailable")
    with pytest.raises(BadCheckpoint, match=r"could not be tried: no process can be started \(\[Errno"):
        tokenizer_sandbox.refuse_dangerous(b"never seen", "someone/tiny")


# Whose pickles are converted
def test_pickles_that_are_not_to_be_converted(pickled: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(pickled())
    monkeypatch.setattr(confined, "run", lambda *_arguments, **_options: pytest.fail("it was opened"))
    for allowed, refused in (("never", "set to read safetensors alone"), ("listed", "those of the models in its list")):
        with pytest.raises(BadCheckpoint, match=refused):
            Engine("cpu", pickles=allowed).info(folder)  # type: ignore[arg-type]
    monkeypatch.setattr(pickles, "version", lambda _name: "2.9.1+cpu")
    assert "from torch 2.10 on, and this is 2.9.1+cpu" in message(folder)


@pytest.mark.usefixtures("forked")
def test_a_listed_model_s_pickles_are_converted(pickled: Callable[..., Path], hub: Hub) -> None:
    listed = "nlpaueb/legal-bert-base-uncased"
    hub.models[listed] = hub.models["someone/tiny"] = pickled()
    assert Engine("cpu", pickles="listed").info(listed).converted
    with pytest.raises(BadCheckpoint, match="converts those of the models in its list"):
        Engine("cpu", pickles="listed").info("someone/tiny")
    assert not any("someone/tiny/resolve" in request for request in hub.requests)


# On the hub
@pytest.mark.usefixtures("forked")
def test_both_files_are_counted(hub: Hub, pickled: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = pickled()
    hub.models["someone/tiny"] = folder
    monkeypatch.setattr(sources, "free_disk", lambda: 10**10)
    engine = Engine("cpu", ask_before_download=True)
    pickle = (folder / "pytorch_model.bin").stat().st_size
    source = sources.find("someone/tiny")
    assert source.disk_bytes == source.download_bytes + pickle
    with pytest.raises(NotDownloaded, match=rf"together take {source.disk_bytes / 1e6:.1f} MB \(free disk: 10\.0 GB"):
        engine.info("someone/tiny")
    engine.download("someone/tiny").wait()
    assert engine.info("someone/tiny").converted
    assert sources.downloaded_bytes() >= source.disk_bytes * 0.9
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert Engine("cpu").info("someone/tiny").mlm
    small = replace(source, pickled_bytes=10**10)
    with pytest.raises(DiskFull):
        sources.refuse_without_disk(small)


@pytest.mark.usefixtures("forked")
def test_a_pickle_with_code_on_the_hub(hub: Hub, pickled: Callable[..., Path], tmp_path: Path) -> None:
    """It is told after the download, and again whenever the model is asked for, without another download."""
    hub.models["someone/tiny"] = pickled({"more": Runs(tmp_path / "it ran")})
    engine = Engine("cpu")
    for _ in range(2):
        ask = engine.info if engine.has("someone/tiny") else lambda model: engine.download(model).wait()
        with pytest.raises(BadCheckpoint, match=r"more than tensors \(it asks for posix\.system"):
            ask("someone/tiny")
    assert sum("GET" in request and "pytorch_model.bin" in request for request in hub.requests) == 1
    assert not (tmp_path / "it ran").exists()
