"""What only a GPU can show: ``pytest -m gpu``. Half precision within bounds, memory that comes back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from model_zoo import DEFAULT_MODEL, Engine
from model_zoo.types import CONTRIBUTION_MEASURES

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch can use (cuda)"),
]

TEXT = "The old man who lived near the river walked to the town and bought some bread."


@pytest.fixture
def gpu() -> Iterator[Engine]:
    engine = Engine("cuda")
    yield engine
    engine.close()


def test_half_precision_stays_within_bounds(gpu: Engine, engine: Engine) -> None:
    half, full = gpu.attend(DEFAULT_MODEL, TEXT), engine.attend(DEFAULT_MODEL, TEXT)
    assert half.model.dtype in ("bfloat16", "float16")
    assert half.model.device.startswith("cuda")
    for layer in range(full.n_layers):
        # bfloat16 has 8 bits of mantissa; over six layers weights in [0, 1] differ by a few hundredths at most.
        np.testing.assert_allclose(half.layer(layer), full.layer(layer), atol=0.08)
    masked = "The capital of France is [MASK]."
    (of_half,), (of_full,) = gpu.fill_mask(DEFAULT_MODEL, masked, 1), engine.fill_mask(DEFAULT_MODEL, masked, 1)
    assert of_half.best[0].probability == pytest.approx(of_full.best[0].probability, abs=0.05)


def test_contributions_stay_within_bounds(gpu: Engine, engine: Engine) -> None:
    for measure in CONTRIBUTION_MEASURES:
        half = gpu.contributions(DEFAULT_MODEL, TEXT, measure=measure)
        full = engine.contributions(DEFAULT_MODEL, TEXT, measure=measure)
        np.testing.assert_allclose(half.maps, full.maps, atol=0.02)


def test_memory_comes_back_when_a_model_is_forgotten(gpu: Engine) -> None:
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    gpu.attend(DEFAULT_MODEL, TEXT)
    assert torch.cuda.memory_allocated() > before + 10 * 2**20
    gpu.close()
    assert torch.cuda.memory_allocated() <= before + 2**20


def test_a_full_gpu_is_left_for_the_cpu(gpu: Engine) -> None:
    gpu.info(DEFAULT_MODEL)
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(torch.cuda.memory_reserved() / total)
    try:
        found = gpu.attend(DEFAULT_MODEL, " ".join([TEXT] * 30))
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert found.model.device == "cpu"
    assert gpu.state().moved == (DEFAULT_MODEL,)
