"""What lies beside a model on the hub and in its cache: the hub's own conversion of pickles, what other tools left."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from checkpoints import Checkpoint
from huggingface_hub import constants, hf_hub_download
from loopback_hub import COMMIT, Conversion, Hub
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer

from model_zoo import Engine, pickles, sources

ID = "someone/tiny"
OTHER = "f" * 40


@pytest.fixture
def pickled(hub: Hub, checkpoint: Checkpoint, tmp_path: Path) -> Path:
    """The folder of ID on the hub: a pickle, beside everything else that the tiny BERT has."""
    folder = Path(shutil.copytree(checkpoint("bert"), tmp_path / "published"))
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    hub.models[ID] = folder
    return folder


def fetched(hub: Hub) -> set[str]:
    """Names of the files of weights that were fetched."""
    return {
        path.rsplit("/", 1)[-1]
        for request in hub.requests
        if (path := request.split()[1]).endswith(("tensors", ".bin"))
    }


def test_it_is_taken_for_the_pickle(
    hub: Hub, pickled: Path, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pickles, "converted", lambda *_arguments: pytest.fail("a pickle was opened"))
    hub.conversions[ID] = Conversion(checkpoint("bert"))
    source = sources.find(ID)
    assert (source.pickled_bytes, source.conversion) == (0, hub.conversions[ID].commit)
    size = (checkpoint("bert") / "model.safetensors").stat().st_size
    small = sum(file.stat().st_size for file in pickled.iterdir() if file.suffix == ".json")
    assert source.download_bytes == size + small
    engine = Engine("cpu", pickles="never")
    engine.download(ID).wait()
    info = engine.info(ID)
    assert (info.converted, info.revision, info.nsp) == (False, COMMIT, "NSP")
    assert fetched(hub) == {"model.safetensors"}
    # Found again without the hub.
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert Engine("cpu").has(ID)
    assert Engine("cpu").info(ID).parameters == info.parameters


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize(
    "changes",
    [{"author": "somebody"}, {"title": "Adding `safetensors` variant of this model, really"}, {"parent": OTHER}],
)
def test_conversions_of_others_are_not(
    changes: dict[str, str], hub: Hub, pickled: Path, checkpoint: Checkpoint
) -> None:
    """By somebody else, or made before the weights changed: the pickle is converted here."""
    assert pickled.is_dir()
    hub.conversions[ID] = Conversion(checkpoint("bert"), **changes)
    assert sources.find(ID).conversion == ""
    engine = Engine("cpu")
    engine.download(ID).wait()
    assert engine.info(ID).converted
    assert fetched(hub) == {"pytorch_model.bin"}


def test_a_hub_that_does_not_tell_of_pull_requests(hub: Hub, pickled: Path) -> None:
    assert pickled.is_dir()
    hub.answers[f"/api/models/{ID}/discussions"] = (500, {}, b"{}")
    assert sources.find(ID).pickled_bytes > 0


def test_a_model_with_safetensors_asks_for_no_pull_request(hub: Hub, checkpoint: Checkpoint) -> None:
    hub.models[ID] = checkpoint("bert")
    sources.find(ID)
    assert not any("discussions" in request for request in hub.requests)


# What others left in the cache
OLDER = "a" * 40


@pytest.fixture
def published(hub: Hub, checkpoint: Checkpoint, tmp_path: Path) -> Path:
    """The folder of ID on the hub, with what nobody needs beside it."""
    folder = Path(shutil.copytree(checkpoint("bert"), tmp_path / "published"))
    for name in ("README.md", "tf_model.h5", "pytorch_model.bin", "tokenizer.old"):
        (folder / name).write_bytes(b"not needed")
    hub.models[ID] = folder
    return folder


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    return lambda: monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


def test_what_transformers_fetched_is_enough(published: Path, hub: Hub, offline: Callable[[], None]) -> None:
    AutoModel.from_pretrained(ID, local_files_only=False)
    assert sources.downloaded(ID) is None  # a network without a tokenizer
    AutoTokenizer.from_pretrained(ID, local_files_only=False)
    offline()
    n_requests = len(hub.requests)
    folder = sources.downloaded(ID)
    assert (folder / "model.safetensors").is_symlink()
    assert not (folder / "tokenizer.old").exists()
    assert Engine("cpu").info(ID).revision == COMMIT
    assert len(hub.requests) == n_requests
    assert published.is_dir()


def test_an_older_whole_revision_is_used(
    published: Path, hub: Hub, offline: Callable[[], None], tmp_path: Path
) -> None:
    """Whoever looked for a new version of the config alone left the branch pointing at a commit without weights."""
    for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        hf_hub_download(ID, name)
    snapshots = tmp_path / "hub" / "models--someone--tiny" / "snapshots"
    (snapshots / COMMIT).rename(snapshots / OLDER)
    hf_hub_download(ID, "config.json")
    assert sorted(os.listdir(snapshots)) == [COMMIT, OLDER]
    offline()
    assert Engine("cpu").info(ID).revision == OLDER
    assert hub.models[ID] == published
