"""The hub's own conversion of pickles into safetensors, a pull request that nobody has taken in, is used."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from checkpoints import Checkpoint
from huggingface_hub import constants
from loopback_hub import COMMIT, Conversion, Hub
from safetensors.torch import load_file

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


def test_it_is_taken_instead_of_the_pickle(
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [{"author": "somebody"}, {"title": "Adding `safetensors` variant of this model, really"}, {"parent": OTHER}],
)
def test_what_is_not_the_hub_s_or_of_other_weights_is_not(
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
