"""Models of the hub, on a small local one that answers as the real one does: found, refused, fetched, interrupted."""

import errno
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from huggingface_hub import constants
from loopback_hub import COMMIT, Hub, numbers_in
from refused import message
from safetensors.torch import load_file

from model_zoo import loading, sources
from model_zoo.errors import DiskFull, HubUnreachable, UnknownModel

WEIGHTS = f"/someone/tiny/resolve/{COMMIT}/model.safetensors"


# The hub
UNREACHABLE = "^someone/tiny is not on this machine, and the hub"


@pytest.mark.usefixtures("no_hub")
def test_hub_that_cannot_be_reached() -> None:
    with pytest.raises(HubUnreachable, match=UNREACHABLE):
        sources.find("someone/tiny")
    assert not sources.hub_reachable()


def test_hub_switched_off(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(HubUnreachable, match=UNREACHABLE):
        sources.find("someone/tiny")
    assert not sources.hub_reachable()
    assert hub.requests == []


HTML = {"Content-Type": "text/html"}
# A missing model is 401 to somebody who has not logged in; networks that ask for a login answer every address with a
# page of their own; a gated model's page may be closed.
ANSWERS = [
    (404, {"X-Error-Code": "RepoNotFound"}, b"{}", UnknownModel, "knows no public model someone/tiny"),
    (401, {"X-Error-Code": "RepoNotFound"}, b"{}", UnknownModel, "knows no public model someone/tiny"),
    (403, {"X-Error-Code": "GatedRepo"}, b"{}", HubUnreachable, "^someone/tiny is gated"),
    (403, {}, b"{}", HubUnreachable, UNREACHABLE),
    (200, HTML, b"<html>Log in to the Wi-Fi</html>", HubUnreachable, UNREACHABLE),
    (200, HTML, b"", HubUnreachable, UNREACHABLE),
]


@pytest.mark.parametrize(("status", "headers", "body", "error", "message"), ANSWERS)
def test_answers_of_a_hub(
    status: int, headers: dict[str, str], body: bytes, error: type[Exception], message: str, hub: Hub
) -> None:
    hub.answers["/api/models/someone/tiny"] = (status, headers, body)
    with pytest.raises(error, match=message):
        sources.find("someone/tiny")


@pytest.mark.usefixtures("hub")
def test_hub_is_asked_once_whether_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sources.hub_reachable()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert sources.hub_reachable()
    sources.hub_reachable.cache.clear()
    assert not sources.hub_reachable()


def test_gated_model_whose_page_is_open(tiny_hub: Hub) -> None:
    """The usual case: the hub tells everybody about the model, and refuses its files only."""
    open_to_all = sources.find("someone/tiny")
    tiny_hub.gated = True
    with pytest.raises(HubUnreachable, match=r"^someone/tiny is gated"):
        sources.download(open_to_all)
    assert sources.downloaded("someone/tiny") is None
    sources._hub_info.cache.clear()
    with pytest.raises(HubUnreachable, match=r"^someone/tiny is gated"):
        sources.find("someone/tiny")  # before anybody is asked whether to download


def test_size_is_known_before_the_download(tiny_hub: Hub) -> None:
    folder = tiny_hub.models["someone/tiny"]
    source = sources.find("someone/tiny")
    assert (source.folder, source.revision) == (None, COMMIT)
    assert source.n_parameters == numbers_in(folder / "model.safetensors")
    needed = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
    assert source.download_bytes == sum((folder / name).stat().st_size for name in needed)
    tiny_hub.counts_parameters = False
    sources._hub_info.cache.clear()
    size = (folder / "model.safetensors").stat().st_size
    assert sources.find("someone/tiny").n_parameters == size // 2
    assert not any("resolve" in request for request in tiny_hub.requests)


def test_a_class_asks_the_hub_once(tiny_hub: Hub) -> None:
    with ThreadPoolExecutor(30) as pool:
        by_thread = list(pool.map(sources.find, ["someone/tiny"] * 30))
    assert len(set(by_thread)) == 1
    assert tiny_hub.requests == ["GET /api/models/someone/tiny"]


def test_config_that_is_not_on_the_hub(hub: Hub, copied: Path) -> None:
    (copied / "config.json").unlink()
    hub.models["someone/tiny"] = copied
    assert message("someone/tiny").startswith("“someone/tiny” has no config.json on the hub")


def test_download_and_use_without_the_hub(tiny_hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny_hub.models["someone/tiny"]
    assert sources.downloaded("someone/tiny") is None
    loaded = loading.load(sources.find("someone/tiny"), torch.device("cpu"))
    assert (loaded.info.id, loaded.info.revision) == ("someone/tiny", COMMIT)
    assert (loaded.info.mlm, loaded.info.nsp) == (True, "NSP")
    weights = load_file(folder / "model.safetensors")
    name = "bert.encoder.layer.1.attention.self.query.weight"
    assert torch.equal(dict(loaded.model.named_parameters())[name], weights[name])

    here = sources.downloaded("someone/tiny")
    assert (here / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    n_requests = len(tiny_hub.requests)
    again = sources.find("someone/tiny")
    assert (again.folder, again.revision) == (here, COMMIT)
    assert len(tiny_hub.requests) == n_requests


def test_only_what_a_model_needs_is_downloaded(hub: Hub, copied: Path) -> None:
    for name in ("pytorch_model.bin", "README.md", "tf_model.h5", "modeling_own.py", "photo.png"):
        (copied / name).write_bytes(b"not wanted")
    hub.models["someone/tiny"] = copied
    source = sources.download(sources.find("someone/tiny"))
    fetched = {path.name for path in source.folder.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= fetched
    assert fetched <= {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "vocab.txt"}


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json"])
def test_interrupted_download(file: str, tiny_hub: Hub, tmp_path: Path) -> None:
    """It is reported, half a model is not taken for one, and the next try finishes it."""
    folder = tiny_hub.models["someone/tiny"]
    tiny_hub.breaks_off = {file}
    source = sources.find("someone/tiny")
    with pytest.raises(HubUnreachable, match=r"^The download of someone/tiny was interrupted \("):
        sources.download(source)
    assert sources.downloaded("someone/tiny") is None
    assert list(tmp_path.rglob("*.incomplete")) == []
    rest = sources.find("someone/tiny")
    assert rest.folder is None
    assert (folder / file).stat().st_size <= rest.download_bytes < source.download_bytes

    tiny_hub.breaks_off = set()
    tiny_hub.answers.clear()
    done = sources.download(sources.find("someone/tiny"))
    assert done.folder == sources.downloaded("someone/tiny")
    assert (done.folder / file).read_bytes() == (folder / file).read_bytes()
    assert done.n_parameters == numbers_in(folder / "model.safetensors")


@pytest.mark.usefixtures("tiny_hub")
def test_hub_that_goes_away_before_the_download(monkeypatch: pytest.MonkeyPatch) -> None:
    source = sources.find("someone/tiny")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(HubUnreachable, match=r"^The download of someone/tiny was interrupted"):
        sources.download(source)


def test_a_broken_connection_is_taken_up_again(tiny_hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """And bytes are reported as they come; what comes a second time does not count a second time."""
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1000)
    tiny_hub.breaks_once = {"model.safetensors"}
    source, reports = sources.find("someone/tiny"), []
    done = sources.download(source, reports.append)
    assert tiny_hub.requests.count(f"GET {WEIGHTS}") == 2
    published = tiny_hub.models["someone/tiny"] / "model.safetensors"
    assert (done.folder / "model.safetensors").read_bytes() == published.read_bytes()
    assert len(reports) > 20
    assert reports == sorted(set(reports))
    assert reports[-1] == source.download_bytes


def test_weights_that_arrive_damaged_are_thrown_away(tiny_hub: Hub) -> None:
    n_bytes = (tiny_hub.models["someone/tiny"] / "model.safetensors").stat().st_size
    tiny_hub.answers[WEIGHTS] = (200, {"ETag": '"damaged"', "X-Repo-Commit": COMMIT}, b"x" * n_bytes)
    with pytest.raises(HubUnreachable, match=r"^The weights of someone/tiny arrived damaged"):
        sources.download(sources.find("someone/tiny"))
    assert sources.downloaded("someone/tiny") is None
    assert sources.find("someone/tiny").download_bytes == n_bytes
    tiny_hub.answers.clear()
    assert sources.download(sources.find("someone/tiny")).folder == sources.downloaded("someone/tiny")


@pytest.mark.usefixtures("tiny_hub")
def test_what_killed_downloads_left_is_removed(tmp_path: Path) -> None:
    blobs = tmp_path / "hub" / "models--someone--tiny" / "blobs"
    blobs.mkdir(parents=True)
    abandoned, under_way = blobs / "a.0a1b2c3d.incomplete", blobs / "b.4e5f6a7b.incomplete"
    for file, age in ((abandoned, 2 * 3600), (under_way, 60)):
        file.write_bytes(b"half a model")
        os.utime(file, (time.time() - age, time.time() - age))
    assert sources.downloaded("someone/tiny") is None
    sources.download(sources.find("someone/tiny"))
    assert (abandoned.exists(), under_way.exists()) == (False, True)
    assert sources.downloaded("someone/tiny") is not None


def test_a_disk_too_small_is_told_before(tiny_hub: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = sources.find("someone/tiny")
    monkeypatch.setattr(sources, "free_disk", lambda: source.download_bytes + sources.DISK_RESERVE)
    sources.refuse_without_disk(source)
    monkeypatch.setattr(sources, "free_disk", lambda: source.download_bytes + sources.DISK_RESERVE - 1)
    takes, left = (f"{n_bytes / 1e6:.1f} MB" for n_bytes in (source.download_bytes, source.download_bytes - 1))
    with pytest.raises(DiskFull, match=f"takes {takes} .* {left} left for it .in {tmp_path / 'hub'}"):
        sources.download(source)
    assert not any("resolve" in request for request in tiny_hub.requests)


@pytest.mark.usefixtures("tiny_hub")
def test_a_disk_that_fills_up_during_the_download(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object, **_options: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    source = sources.find("someone/tiny")
    monkeypatch.setattr(sources, "snapshot_download", full)
    with pytest.raises(DiskFull, match="Free some space, or choose a smaller model"):
        sources.download(source)


def test_free_disk_is_that_of_the_hubs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder itself need not exist before the first download."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "not" / "yet"))
    folders: list[Path] = []
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: folders.append(folder) or SimpleNamespace(free=12345))
    assert sources.free_disk() == 12345
    assert folders == [tmp_path]
