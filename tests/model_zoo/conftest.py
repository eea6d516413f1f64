"""Fixtures of the sources of models."""

import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import torch
from checkpoints import Checkpoint, TokenizerOf
from copier import copies_one_token
from loopback_hub import Hub
from transformers import AutoTokenizer

from model_zoo import loading, sources
from model_zoo.interventions import means
from model_zoo.loading import LoadedModel
from training import evaluation_sets


@pytest.fixture
def copy_of(checkpoint: Checkpoint, tmp_path: Path) -> Checkpoint:
    """``copy_of("bert")`` is a copy of that family's tiny checkpoint, to be changed or damaged."""
    return lambda name: Path(shutil.copytree(checkpoint(name), tmp_path / name))


@pytest.fixture
def copied(copy_of: Checkpoint) -> Path:
    """A BERT checkpoint to be damaged."""
    return copy_of("bert")


@pytest.fixture
def tiny_hub(hub: Hub, checkpoint: Checkpoint) -> Hub:
    """A hub that has the tiny BERT as someone/tiny."""
    hub.models["someone/tiny"] = checkpoint("bert")
    return hub


@pytest.fixture(scope="session")
def tokenizer_of(checkpoint: Checkpoint) -> TokenizerOf:
    """``tokenizer_of("bert")`` is the tokenizer of that family's tiny checkpoint, read once a session."""
    return cache(lambda name: AutoTokenizer.from_pretrained(checkpoint(name)))


@pytest.fixture(scope="module")
def loaded(checkpoint: Checkpoint) -> Callable[[str], LoadedModel]:
    """``loaded("bert")`` is that family's tiny model, loaded once for a file."""
    return cache(lambda name: loading.load(sources.find(str(checkpoint(name))), torch.device("cpu")))


@pytest.fixture(scope="session")
def copier(checkpoint: Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a BERT in which one head copies a token."""
    return str(copies_one_token(tmp_path_factory.mktemp("copier") / "model", checkpoint("bert")))


@pytest.fixture(scope="module")
def few_sentences() -> Iterator[None]:
    """Quality is measured on few sentences, and means are taken over few."""
    few = evaluation_sets.written_set().sample(6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation_sets, "written_set", lambda: few)
        patch.setattr(means, "_SENTENCES", 10)
        patch.setattr(means, "_FEWEST", 2)
        yield
