"""What pages say of a model beside its pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from model_zoo import Engine
from ui import notes


@pytest.mark.parametrize(("dtype", "digits"), [("bfloat16", 2), ("float16", 3)])
def test_numbers_that_are_rounded_more_are_told(
    dtype: str, digits: int, engine: Engine, checkpoint: Callable[[str], Path]
) -> None:
    info = engine.info(str(checkpoint("bert")))
    assert "digits" not in notes.about_model(info, 5)
    said = notes.about_model(replace(info, dtype=dtype, device="cuda"), 5)
    assert f"{dtype} on cuda" in said
    assert f"It runs in {dtype} here, which keeps about {digits} digits of every number" in said
