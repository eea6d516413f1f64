"""Where models come from: bundled ones and folders, and names that nothing can have."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from checkpoints import Checkpoint
from loopback_hub import Hub, numbers_in
from refused import message
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from model_zoo import checkpoint as checkpoint_files
from model_zoo import loading, registry, sources
from model_zoo.errors import BadCheckpoint, UnknownModel
from model_zoo.types import megabytes


# Embedded and folders
@pytest.mark.usefixtures("no_hub")
def test_embedded_models_are_found_without_a_hub() -> None:
    for spec in registry.MODELS.values():
        if spec.hub_id is None:
            source = sources.find(spec.id)
            assert source.folder == sources.embedded_folder(spec.id)
            assert source.n_parameters == spec.parameters
            assert source.n_bytes == 4 * spec.parameters
            assert source.revision.startswith("sha256:")


def test_local_folder(checkpoint: Checkpoint) -> None:
    folder = checkpoint("bert")
    source = sources.find(str(folder))
    n_parameters = numbers_in(folder / "model.safetensors")
    assert (source.id, source.folder) == (str(folder), folder)
    assert (source.n_parameters, source.n_bytes) == (n_parameters, 4 * n_parameters)
    assert sources.find(str(folder), bytes_per_parameter=2).n_bytes == 2 * n_parameters


def test_folder_in_the_home_directory(checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = checkpoint("bert")
    monkeypatch.setenv("HOME", str(folder.parent))
    assert sources.find(f"~/{folder.name}").folder == folder


def test_revision_of_a_folder_follows_its_weights(copied: Path, checkpoint: Checkpoint) -> None:
    file_digest = hashlib.sha256((copied / "model.safetensors").read_bytes()).digest()
    revision = sources.find(str(copied)).revision
    assert revision == f"sha256:{hashlib.sha256(file_digest).hexdigest()[:12]}"
    assert revision == sources.find(str(checkpoint("bert"))).revision
    weights = load_file(copied / "model.safetensors")
    weights["bert.pooler.dense.bias"] += 1
    save_file(weights, copied / "model.safetensors", metadata={"format": "pt"})
    assert sources.find(str(copied)).revision != revision


def test_weights_in_shards(copied: Path) -> None:
    full = sources.find(str(copied))
    shard(copied)
    source = sources.find(str(copied))
    assert source.n_parameters == full.n_parameters
    loaded = loading.load(source, torch.device("cpu"))
    assert loaded.info.mlm
    assert loaded.info.nsp == "NSP"


def shard(folder: Path) -> list[str]:
    """Write the weights in two files with an index, as large checkpoints come; the names of the files."""
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    files = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    place = {name: files[i % 2] for i, name in enumerate(weights)}
    for file in files:
        part = {name: tensor for name, tensor in weights.items() if place[name] == file}
        save_file(part, folder / file, metadata={"format": "pt"})
    index = {"metadata": {"total_size": 0}, "weight_map": place}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    return files


def test_a_missing_or_damaged_part_of_the_weights(copied: Path, checkpoint: Checkpoint) -> None:
    """Only files of the checkpoint itself are its weights, so an index that points out of the folder is damaged."""
    files, index = shard(copied), copied / "model.safetensors.index.json"
    elsewhere = {"weight_map": {"bert.pooler.dense.bias": str(checkpoint("bert") / "model.safetensors")}}
    damaged = ["{", "[]", "{}", '{"weight_map": []}', '{"weight_map": {"a": 1}}', "\0", json.dumps(elsewhere)]
    for text in (index.read_text(encoding="utf-8"), *damaged):
        (copied / files[1]).unlink(missing_ok=True)
        index.write_text(text, encoding="utf-8")
        assert f"A part of the weights of “{copied}” is missing" in message(str(copied)), text


def test_a_folder_that_is_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    for name in (str(tmp_path), "../.."):
        assert message(name).startswith(f"The folder “{name}” holds no config.json")


@pytest.mark.parametrize("name", ["model.pt", "model.ckpt", "training_args.bin", "nothing.at.all"])
def test_files_that_are_no_weights_are_not_opened(name: str, copied: Path) -> None:
    (copied / "model.safetensors").unlink()
    (copied / name).write_bytes(b"cos\nsystem\n(S'exit 1'\ntR.")
    assert message(str(copied)).startswith(f"“{copied}” has no weights that this app reads")


@pytest.mark.parametrize("kept", [0, 4, 100, -1000, None])
def test_damaged_weights(kept: int | None, copied: Path) -> None:
    """Cut off, or no safetensors at all."""
    file = copied / "model.safetensors"
    file.write_bytes(b"\x89HDF\r\n\x1a\n" * 100 if kept is None else file.read_bytes()[:kept])
    with pytest.raises(BadCheckpoint, match=f"^The weights of “{copied}” cannot be read"):
        sources.find(str(copied))


# Names
NAMES = [
    *("", "   ", "no such model", "/no/such/folder", "./nothing-here", "../../no/such/folder", "a/b/c", "bert?x=1"),
    *("<script>alert(1)</script>", "https://huggingface.co/google-bert/bert-base-uncased", "nul\0byte", "emoji👍"),
    *("~nobody\0", "\ud800", "~\ud800/x", "~nobody-of-this-name"),
    *("a..b", "owner/two--dashes", "ends-with-dash-", "ends.git", "a" * 97),  # as the hub allows none
]


@pytest.mark.parametrize("name", NAMES)
def test_names_that_nothing_can_have(name: str, hub: Hub) -> None:
    with pytest.raises(UnknownModel, match="is neither a model of this app"):
        sources.find(name)
    assert hub.requests == []


@pytest.mark.usefixtures("no_hub")
def test_very_long_names_are_not_repeated_whole() -> None:
    assert len(message("x " * 50_000)) < 300


def test_sizes_in_words() -> None:
    sizes = [megabytes(n_bytes) for n_bytes in (440_000_000, 10_000_000, 9_940_000, 300_000, 0)]
    assert sizes == ["440 MB", "10 MB", "9.9 MB", "0.3 MB", "0.0 MB"]


def test_finding_opens_no_weights(monkeypatch: pytest.MonkeyPatch, checkpoint: Checkpoint) -> None:
    """Sizes come from the header: no tensor is read."""

    @contextmanager
    def header_only(*args: Any) -> Iterator[SimpleNamespace]:
        with safe_open(*args) as opened:
            yield SimpleNamespace(keys=opened.keys, get_slice=opened.get_slice)

    monkeypatch.setattr(checkpoint_files, "safe_open", header_only)
    assert sources.find(str(checkpoint("bert"))).n_parameters > 0
