"""Every question on every family on a GPU that is none, in half precision: nothing meets what lies elsewhere, nothing
asks a GPU for float64, and the numbers are the processor's.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from checkpoints import Checkpoint
from equal import same
from every_question import SUBJECTS, ask, varied
from pretended_gpu import OnGpu, pretended_gpu

from evidence.questions import measure_heads
from model_zoo import Engine, anatomy, loading
from model_zoo.errors import InvalidInput, NotSupported, OutOfMemory
from model_zoo.questions.dissect import Dissect
from model_zoo.types import Device

pytestmark = pytest.mark.usefixtures("few_sentences")

# What tells where and how fast a model ran.
_OF_A_DEVICE = frozenset({"device", "seconds", "peak_bytes"})


def outcome(engine: Engine, question: Any) -> Any:
    """The answer, or the failure."""
    try:
        return ask(engine, question)
    except Exception as error:
        return type(error), str(error)


def named(model: str, checkpoint: Checkpoint) -> str:
    return model if "/" in model else str(checkpoint(model))


@pytest.mark.slow
@pytest.mark.parametrize("model", SUBJECTS)
def test_every_question_is_answered_on_a_gpu_as_on_the_processor(
    model: str, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Here, too, torch measures attention; tests of a survey hold its numbers to numpy's.
    monkeypatch.setattr(measure_heads, "array_of", lambda tensor: tensor)
    questions = varied(named(model, checkpoint))
    here = Engine("cpu", dtype="bfloat16")
    expected = [outcome(here, question) for question in questions]
    with pretended_gpu():
        there = Engine("cuda", dtype="bfloat16", model_bytes=10**9)
        outcomes = [outcome(there, question) for question in questions]
        assert {held.info.device for held in there.held()} == {"cuda"}
    differing = [
        (question, on_gpu, on_processor)
        for question, on_gpu, on_processor in zip(questions, outcomes, expected, strict=True)
        if not same(on_gpu, on_processor, _OF_A_DEVICE)
    ]
    assert not differing


@pytest.mark.slow
@pytest.mark.parametrize("model", ["bert", "gpt2", "deberta", "bart", "albert"])
def test_small_differences_are_those_of_float32_in_half_precision(
    model: str, engine: Engine, checkpoint: Checkpoint
) -> None:
    half = Engine("cpu", dtype="bfloat16")
    questions = [
        candidate for candidate in varied(named(model, checkpoint)) if getattr(candidate, "full_precision", False)
    ]
    kinds = {type(candidate).__name__ for candidate in questions}
    assert kinds > {"Ablate", "Intervene", "Attribute", "Decompose", "Dissect", "ScoreTokens", "TakeStep", "SwitchOff"}
    for question in questions:
        assert same(outcome(half, question), outcome(engine, question)), question


def test_both_copies_of_a_model_are_held_and_forgotten(checkpoint: Checkpoint) -> None:
    model, half = str(checkpoint("bert")), Engine("cpu", dtype="bfloat16")
    assert half.info(model).dtype == half.attend(model, "The cat sat.").model.dtype == "bfloat16"
    assert half.token_scores(model, "The cat sat.").model.dtype == "float32"
    full, usual = half.held()
    assert (full.info.dtype, usual.info.dtype) == ("float32", "bfloat16")
    assert full.n_bytes == pytest.approx(2 * usual.n_bytes, rel=0.05)
    half._memory.forget(model)
    assert half.held() == []


@pytest.mark.parametrize("family", ["deberta", "xlnet"])
def test_a_network_that_runs_in_float32_alone_is_held_once(family: str, checkpoint: Checkpoint) -> None:
    model, half = str(checkpoint(family)), Engine("cpu", dtype="bfloat16")
    half.attend(model, "The cat sat.")
    half.dissect(model, "The cat sat.")
    assert [held.info.dtype for held in half.held()] == ["float32"]


def test_without_room_for_a_copy_in_full_precision_the_refusal_says_what_is_too_large() -> None:
    tight = Engine("cpu", dtype="bfloat16", model_bytes=30_000_000)
    assert tight.attend("embedded/tinybert", "The cat sat.").model.dtype == "bfloat16"
    size = tight.held()[0].n_bytes
    tight = Engine("cpu", dtype="bfloat16", model_bytes=int(1.5 * size))
    assert tight.attend("embedded/tinybert", "The cat sat.").n_tokens == 6
    with pytest.raises(OutOfMemory, match="embedded/tinybert in full precision needs"):
        tight.token_scores("embedded/tinybert", "The cat sat.")


@pytest.mark.parametrize(
    "fault",
    [
        lambda tensor: tensor + torch.ones(2),
        lambda tensor: torch.cat([tensor, torch.ones(2)]),
        lambda tensor: torch.nn.functional.linear(tensor, torch.ones(3, 2)),
        lambda tensor: torch.ones(2)[tensor.long()],
        lambda tensor: tensor.double(),
        lambda tensor: tensor.to(torch.float64),
        lambda tensor: torch.zeros(2, dtype=torch.float64, device=tensor.device),
        lambda tensor: torch.zeros(2, dtype=torch.float64).to(tensor.device),
        lambda given: given.numpy(),
        lambda given: np.asarray(given),
    ],
)
def test_faults_of_a_gpu_are_seen_where_there_is_none(fault: Callable[[torch.Tensor], Any]) -> None:
    with pretended_gpu():
        inputs = torch.tensor([0.0, 1.0], device="cuda")
        assert (type(inputs), inputs.device.type) == (OnGpu, "cuda")
        assert (inputs + 1).cpu().double().numpy().tolist() == [1, 2]
        with pytest.raises((RuntimeError, TypeError)):
            fault(inputs)


def test_a_fault_in_a_question_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number is made float64 before it comes to the processor."""
    question = Dissect("embedded/tinybert", "The cat sat.")
    monkeypatch.setattr(anatomy, "numbers", lambda tensor: tensor.detach().double().cpu().numpy())
    assert not isinstance(outcome(Engine("cpu"), question), tuple)
    with pretended_gpu():
        assert outcome(Engine("cuda", dtype="float32", model_bytes=10**9), question)[0] is TypeError


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_a_device_that_is_not_there_is_refused(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.get_device_module(device), "is_available", lambda: False)
    with pytest.raises(NotSupported, match=f"^This machine has no {device} that torch can use"):
        Engine(device).info("embedded/bert")


def test_a_device_that_nobody_has_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"no device 'tpu' here\. Choose cuda, mps, cpu"):
        Engine("tpu")  # type: ignore[arg-type]


def test_float32_is_float32_on_a_gpu() -> None:
    operations = (torch.backends.cudnn.conv, torch.backends.cudnn.rnn, torch.backends.cuda.matmul)
    for operation in operations:
        operation.fp32_precision = "tf32"
    loading.device_for("cpu")
    assert {operation.fp32_precision for operation in operations} == {"ieee"}
    assert not torch.backends.cudnn.allow_tf32  # the older name, which other libraries read
    assert torch.get_float32_matmul_precision() == "highest"
