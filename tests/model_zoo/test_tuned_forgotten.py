"""A tuned model whose visitor has left takes memory no more."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from model_zoo import Engine, tuned


def test_a_model_that_is_forgotten_leaves_memory(checkpoint: Callable[[str], Path]) -> None:
    engine, model = Engine("cpu"), tuned.new_id()
    with tuned.writing(model, 1_000_000) as folder:
        shutil.copytree(checkpoint("bert"), folder, dirs_exist_ok=True)
    engine.info(model)
    assert len(engine.held()) == 1
    engine.forget_tuned([model])
    assert list(engine.held()) == []
    engine.close()
