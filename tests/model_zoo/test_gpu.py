"""What only a GPU can show: ``pytest -m gpu``. Every question on every family, half precision within bounds, and memory
that comes back.
"""

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from checkpoints import Checkpoint
from every_question import SUBJECTS, ask, varied

from model_zoo import DEFAULT_MODEL, Engine
from model_zoo.errors import ModelZooError
from model_zoo.types import CONTRIBUTION_MEASURES, Change

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
        assert half.model.dtype == "float32"
        np.testing.assert_allclose(half.maps, full.maps, atol=1e-4)


def numbers(answer: Any) -> Iterator[float]:
    """All numbers in an answer, in order, but for what tells where and how fast a model ran, and what is counted."""
    if isinstance(answer, np.ndarray):
        yield from answer[np.isfinite(answer)].ravel().tolist()
    elif isinstance(answer, float) and math.isfinite(answer):
        yield answer
    elif isinstance(answer, tuple | list):
        for part in answer:
            yield from numbers(part)
    elif dataclasses.is_dataclass(answer):
        for field in dataclasses.fields(answer):
            if field.name not in ("seconds", "share", "best", "tokens", "output_projections"):
                yield from numbers(getattr(answer, field.name))


@pytest.mark.usefixtures("few_sentences")
@pytest.mark.parametrize("name", SUBJECTS)
def test_every_question_is_answered(name: str, gpu: Engine, engine: Engine, checkpoint: Checkpoint) -> None:
    """What runs in full precision has the processor's numbers; what is refused there is refused here."""
    for question in varied(name if "/" in name else str(checkpoint(name))):
        try:
            expected = ask(engine, question)
        except ModelZooError as error:
            with pytest.raises(type(error)):
                ask(gpu, question)
            continue
        actual = ask(gpu, question)
        assert type(actual) is type(expected)
        if getattr(question, "full_precision", False):
            np.testing.assert_allclose(
                list(numbers(actual)), list(numbers(expected)), rtol=1e-3, atol=1e-3, err_msg=str(question)
            )


@pytest.mark.slow
def test_no_sign_of_a_head_is_wrong(gpu: Engine, engine: Engine) -> None:
    """Zeroing each head by itself: what half precision gets wrong in up to 4 of 72."""
    info = engine.info(DEFAULT_MODEL)
    heads = [Change(heads=((layer, head),)) for layer in range(info.n_layers) for head in range(info.n_heads)]
    on_gpu, here = (
        device_engine.intervene(DEFAULT_MODEL, "The capital of France is [MASK].", heads)
        for device_engine in (gpu, engine)
    )
    effects = [
        np.array([reading.log_probability - measured.untouched.log_probability for reading in measured.readings])
        for measured in (on_gpu, here)
    ]
    np.testing.assert_allclose(*effects, atol=1e-4)


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
        run = gpu.attend(DEFAULT_MODEL, " ".join([TEXT] * 30))
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert run.model.device == "cpu"
    assert gpu.state().moved == (DEFAULT_MODEL,)
