"""Downloads as the engine offers them: asked for first, once for everybody, watched, refused where they cannot fit."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from checkpoints import Checkpoint
from huggingface_hub import constants
from loopback_hub import COMMIT, Hub
from patience import PATIENCE

from model_zoo import Engine, sources
from model_zoo.downloading import Download
from model_zoo.errors import DiskFull, HubUnreachable, NotDownloaded, OutOfMemory, UnknownModel

ID = "someone/tiny"
WEIGHTS = f"/{ID}/resolve/{COMMIT}/model.safetensors"


@pytest.fixture
def asking() -> Engine:
    """An engine as the app has it."""
    return Engine("cpu", ask_before_download=True)


def n_fetched(hub: Hub) -> int:
    return sum("/resolve/" in request and request.startswith("GET") for request in hub.requests)


def test_nothing_is_downloaded_unasked(tiny_hub: Hub, asking: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "free_disk", lambda: 12_345_000_000)
    n_bytes = sources.find(ID).download_bytes
    for ask in (
        lambda: asking.info(ID),
        lambda: asking.attend(ID, "the cat"),
        lambda: asking.hidden_states(ID, ["the cat"]),
        lambda: asking.fill_mask(ID, "the [MASK]"),
        lambda: asking.next_sentence(ID, "the cat", "the mat"),
    ):
        with pytest.raises(NotDownloaded, match=rf"{n_bytes / 1e6:.1f} MB to download .*free disk: 12\.3 GB") as caught:
            ask()
        assert (caught.value.model, caught.value.n_bytes) == (ID, n_bytes)
    assert n_fetched(tiny_hub) == 0
    assert asking.downloading(ID) is None

    asking.download(ID).wait()
    assert asking.downloading(ID) is None
    run = asking.attend(ID, "the cat")
    np.testing.assert_array_equal(run.layer(1), Engine("cpu").attend(str(tiny_hub.models[ID]), "the cat").layer(1))


def test_an_engine_in_a_script_downloads_by_itself(tiny_hub: Hub) -> None:
    assert Engine("cpu").attend(ID, "the cat").model.revision == COMMIT
    assert tiny_hub.requests.count(f"GET {WEIGHTS}") == 1


@pytest.mark.usefixtures("tiny_hub")
def test_asking_forgets_no_model(checkpoint: Checkpoint) -> None:
    """A model that would have to leave for the new one stays until the new one is really loaded."""
    other = str(checkpoint("roberta"))
    engine = Engine("cpu", model_bytes=10**9, ask_before_download=True)
    engine.info(other)
    engine._memory.budget = engine.held()[0].n_bytes + 1
    with pytest.raises(NotDownloaded):
        engine.info(ID)
    assert [held.info.id for held in engine.held()] == [other]
    engine.download(ID).wait()
    engine.info(ID)
    assert [held.info.id for held in engine.held()] == [ID]


def test_thirty_students_download_once_and_watch(
    tiny_hub: Hub, asking: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1000)
    arrived = threading.Event()
    plain = sources.download

    def download(source: sources.Source, report: Callable[[int], None]) -> sources.Source:
        def watched(done: int) -> None:
            report(done)
            if done > 0.4 * source.download_bytes:
                arrived.set()

        return plain(source, watched)

    monkeypatch.setattr(sources, "download", download)
    tiny_hub.held_back["model.safetensors"] = threading.Event()
    together = threading.Barrier(30)
    n_bytes = sources.find(ID).download_bytes  # now: later some of it is there

    def press(_student: int) -> Download:
        together.wait(PATIENCE)
        return asking.download(ID)

    with ThreadPoolExecutor(30) as pool:
        downloads = list(pool.map(press, range(30)))
    shared = downloads[0]
    assert all(download is shared for download in downloads)
    assert arrived.wait(PATIENCE)
    assert asking.downloading(ID) is shared
    assert shared.running
    weights = (tiny_hub.models[ID] / "model.safetensors").stat().st_size
    assert shared.n_bytes == n_bytes > weights
    assert 0.4 * shared.n_bytes < shared.done <= shared.n_bytes - weights // 2
    with pytest.raises(NotDownloaded):
        asking.info(ID)
    tiny_hub.held_back["model.safetensors"].set()
    shared.wait()
    assert (shared.running, shared.done, shared.error) == (False, shared.n_bytes, None)
    assert tiny_hub.requests.count(f"GET {WEIGHTS}") == 1
    assert asking.info(ID).revision == COMMIT


def test_a_download_that_fails_is_reported_and_can_be_tried_again(tiny_hub: Hub, asking: Engine) -> None:
    tiny_hub.breaks_off = {"model.safetensors"}
    first = asking.download(ID)
    with pytest.raises(HubUnreachable, match=r"^The download of someone/tiny was interrupted \(.*\)\. Try again"):
        first.wait()
    assert asking.downloading(ID) is first
    assert not first.running
    with pytest.raises(NotDownloaded):
        asking.info(ID)
    tiny_hub.breaks_off = set()
    tiny_hub.answers.clear()
    second = asking.download(ID)
    assert second is not first
    assert second.n_bytes < first.n_bytes  # the files that were whole stayed
    second.wait()
    assert asking.downloading(ID) is None
    assert asking.info(ID).mlm


def test_failed_downloads_are_not_kept_without_end() -> None:
    engine = Engine("cpu", any_model=False)
    names = [f"someone/model-{number}" for number in range(120)]
    for name in names:
        with pytest.raises(UnknownModel):
            engine.download(name).wait()
    kept = [name for name in names if engine.downloading(name) is not None]
    assert kept == names[-50:]


@pytest.mark.usefixtures("tiny_hub")
def test_an_unforeseen_failure_ends_a_download_too(asking: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> None:
        raise TypeError("nobody thought of this")

    monkeypatch.setattr(sources, "download", fail)
    download = asking.download(ID)
    with pytest.raises(HubUnreachable, match="the log of the server says more"):
        download.wait()
    assert not download.running


def test_what_is_here_already_is_not_downloaded(tiny_hub: Hub, checkpoint: Checkpoint, asking: Engine) -> None:
    download = asking.download(str(checkpoint("bert")))
    download.wait()
    assert (download.n_bytes, tiny_hub.requests) == (0, [])


def test_a_model_beyond_the_memory_left_is_refused_before_the_download(tiny_hub: Hub, checkpoint: Checkpoint) -> None:
    small = Engine("cpu", model_bytes=100_000, ask_before_download=True)
    for ask in (small.info, lambda model: small.download(model).wait()):
        with pytest.raises(OutOfMemory, match=r"more than the 0\.1 MB"):
            ask(ID)
    engine = Engine("cpu", model_bytes=10**9, ask_before_download=True)
    other = str(checkpoint("roberta"))
    with engine._memory.lease(other) as in_use:
        engine._memory.budget = in_use.n_bytes + 1
        for ask in (engine.info, lambda model: engine.download(model).wait()):
            with pytest.raises(OutOfMemory, match="the models in use leave no room for it"):
                ask(ID)
    assert n_fetched(tiny_hub) == 0
    engine.download(ID).wait()


def test_a_disk_too_small_is_told_first(tiny_hub: Hub, asking: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "free_disk", lambda: 1000)
    for ask in (asking.info, lambda model: asking.download(model).wait()):
        with pytest.raises(DiskFull, match=r"on the disk, which has 0\.0 MB left for it"):
            ask(ID)
    assert n_fetched(tiny_hub) == 0


def test_downloads_have_a_share_of_the_disk(tiny_hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies there and what is on its way counts, too."""
    monkeypatch.setattr(sources, "free_disk", lambda: 12_345_000_000)
    n_bytes = sources.find(ID).download_bytes
    tiny_hub.models["someone/else"] = tiny_hub.models[ID]
    engine = Engine("cpu", ask_before_download=True, download_bytes=2 * n_bytes - 1)
    engine.download(ID).wait()
    assert sources.downloaded_bytes() == n_bytes
    fetched = n_fetched(tiny_hub)
    for ask in (engine.info, lambda model: engine.download(model).wait()):
        with pytest.raises(DiskFull, match=r"may take here, 0\.\d MB are left\. Choose a smaller model\."):
            ask("someone/else")
    assert n_fetched(tiny_hub) == fetched
    assert engine.info(ID).id == ID  # what is there is not refused

    on_its_way = Download("someone/third", n_bytes=n_bytes, done=1)
    engine._downloads._downloads["someone/third"] = on_its_way
    assert engine._downloads.coming == n_bytes - 1
    larger = Engine("cpu", ask_before_download=True, download_bytes=3 * n_bytes - 2)
    with pytest.raises(NotDownloaded):
        larger.info("someone/else")
    larger._downloads = engine._downloads
    with pytest.raises(DiskFull):
        larger.info("someone/else")


@pytest.mark.usefixtures("tiny_hub")
def test_models_that_cannot_be_had_are_not_offered(asking: Engine) -> None:
    for ask in (asking.info, lambda model: asking.download(model).wait()):
        with pytest.raises(UnknownModel):
            ask("nobody/nothing")


@pytest.mark.usefixtures("tiny_hub")
def test_a_cache_that_cannot_be_written_to_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "file" / "hub"))
    with pytest.raises(HubUnreachable, match="cannot be written to"):
        sources.download(sources.find(ID))
