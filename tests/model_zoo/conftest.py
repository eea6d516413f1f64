"""Fixtures of the sources of models."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from model_zoo.interventions import means
from training import quality


@pytest.fixture
def copied(checkpoint: Callable[[str], Path], tmp_path: Path) -> Path:
    """A BERT checkpoint to be damaged."""
    return Path(shutil.copytree(checkpoint("bert"), tmp_path / "copied"))


@pytest.fixture(scope="module")
def few_sentences() -> Iterator[None]:
    """Quality is measured on few sentences, and means are taken over few."""
    few = quality.written_set().sample(6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quality, "written_set", lambda: few)
        patch.setattr(means, "_SENTENCES", 10)
        patch.setattr(means, "_FEWEST", 2)
        yield
