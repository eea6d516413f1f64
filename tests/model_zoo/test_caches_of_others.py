"""Models in the hub's cache that other tools have left there: what they fetched, links, several revisions."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from checkpoints import Checkpoint
from huggingface_hub import constants, hf_hub_download
from loopback_hub import COMMIT, Hub
from transformers import AutoModel, AutoTokenizer

from model_zoo import Engine, sources

ID = "someone/tiny"
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
    assert folder is not None
    assert (folder / "model.safetensors").is_symlink()
    assert not (folder / "tokenizer.old").exists()
    assert Engine("cpu").info(ID).revision == COMMIT
    assert len(hub.requests) == n_requests
    assert published.is_dir()


def test_an_older_revision_is_used_where_the_newest_is_not_whole(
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
