"""How questions come to run: in turn, alike ones together, each with its own answer or its own failure."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from checkpoints import Checkpoint
from patience import PATIENCE

from model_zoo import Engine
from model_zoo.errors import InvalidInput, OutOfMemory
from model_zoo.loading import LoadedModel
from model_zoo.question import Question, Streamed
from model_zoo.questions.attend import Attend


@dataclass(frozen=True, slots=True)
class Echo(Question[str]):
    """Answers with its text, together with others; texts that begin with "bad" cannot be answered."""

    model: str
    text: str

    @classmethod
    def answer_all(cls, loaded: LoadedModel, questions: Sequence["Echo"]) -> Iterator[tuple[int, str]]:  # noqa: ARG003
        BATCHES.append([question.text for question in questions])
        for place, question in enumerate(questions):
            if question.text.startswith("bad"):
                raise InvalidInput(f"{question.text} is bad.", place)
            yield place, question.text


@dataclass(frozen=True, slots=True)
class Held(Question[str]):
    """Keeps its turn until it is let go."""

    model: str

    def answer(self, loaded: LoadedModel) -> str:  # noqa: ARG002
        BEGUN.set()
        assert GO.wait(PATIENCE)
        return "held"


BATCHES: list[list[str]] = []
BEGUN, GO = threading.Event(), threading.Event()


@pytest.fixture(autouse=True)
def _as_at_first() -> None:
    BATCHES.clear()
    SHORT.clear()
    BEGUN.clear()
    GO.clear()


@pytest.fixture
def one_at_a_time(checkpoint: Checkpoint) -> Iterator[tuple[Engine, str]]:
    engine = Engine("cpu", runs=1, batch=4)
    model = str(checkpoint("bert"))
    engine.info(model)
    yield engine, model
    GO.set()
    engine.close()


def behind_a_held_one(engine: Engine, questions: Sequence[Question[str]]) -> list[str | BaseException]:
    """What those get who asked, in this order, while another question had the only turn."""
    with ThreadPoolExecutor(len(questions) + 1) as pool:
        held = pool.submit(engine.ask, Held(questions[0].model))
        assert BEGUN.wait(PATIENCE)
        futures = []
        for number, question in enumerate(questions, start=1):
            futures.append(pool.submit(engine.ask, question))
            while engine.state().waiting < number:
                threading.Event().wait(0.001)
        GO.set()
        held.result(PATIENCE)
        failures = [future.exception(PATIENCE) for future in futures]
        return [
            future.result() if failure is None else failure for future, failure in zip(futures, failures, strict=True)
        ]


def test_those_that_wait_with_a_question_alike_run_together(one_at_a_time: tuple[Engine, str]) -> None:
    engine, model = one_at_a_time
    texts = ["aa", "bb", "cc", "dd", "ee", "a far longer text", "ff"]
    assert behind_a_held_one(engine, [Echo(model, text) for text in texts]) == texts
    assert BATCHES == [["aa", "bb", "cc", "dd"], ["ee", "ff"], ["a far longer text"]]
    state = engine.state()
    assert (state.n_answered, state.n_runs, state.running, state.waiting) == (8, 4, 0, 0)


def test_in_a_batch_each_has_its_own_failure(one_at_a_time: tuple[Engine, str]) -> None:
    engine, model = one_at_a_time
    first, bad, last = behind_a_held_one(engine, [Echo(model, text) for text in ("one", "bad", "two")])
    assert (first, last) == ("one", "two")
    assert isinstance(bad, InvalidInput)
    assert str(bad) == "bad is bad.", "as if it had been asked alone"


def test_a_lone_question_waits_for_no_others(one_at_a_time: tuple[Engine, str]) -> None:
    engine, model = one_at_a_time
    assert engine.ask(Echo(model, "alone")) == "alone"
    assert BATCHES == [["alone"]]


def test_attention_is_the_same_alone_and_in_a_batch_of_strangers(one_at_a_time: tuple[Engine, str]) -> None:
    engine, model = one_at_a_time
    texts = ["The cat sat.", "A dog ran off.", "It slept well."]
    together = behind_a_held_one(engine, [Attend(model, text) for text in texts])  # type: ignore[list-item]
    assert engine.state().n_runs == 2
    engine.close()
    for text, run in zip(texts, together, strict=True):
        alone = engine.attend(model, text)
        assert run.encoding == alone.encoding  # type: ignore[union-attr]
        np.testing.assert_allclose(run.layer(0), alone.layer(0), atol=1e-5)  # type: ignore[union-attr]


def test_what_needs_no_network_waits_for_nobody(one_at_a_time: tuple[Engine, str]) -> None:
    engine, model = one_at_a_time
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(engine.ask, Held(model))
        assert BEGUN.wait(PATIENCE)
        assert engine.encode(model, "The cat").tokens
        assert engine.state().running == 1
        GO.set()
        held.result(PATIENCE)


@dataclass(frozen=True, slots=True)
class Long(Streamed[int, tuple[int, ...]]):
    """Part after part, each in a turn of its own."""

    model: str

    def parts(self, loaded: LoadedModel) -> Iterator[int]:  # noqa: ARG002
        yield from range(3)


def test_a_click_comes_between_the_parts_of_long_work(one_at_a_time: tuple[Engine, str]) -> None:
    engine, model = one_at_a_time
    parts = engine.stream(Long(model))
    assert next(parts) == 0
    assert engine.ask(Echo(model, "click")) == "click"
    assert list(parts) == [1, 2]
    assert engine.ask(Long(model)) == (0, 1, 2)
    assert engine.state().running == 0


SHORT: list[type[Exception] | Exception] = []
"""How memory runs out, once for each run."""


@dataclass(frozen=True, slots=True)
class Large(Question[str]):
    model: str

    def answer(self, loaded: LoadedModel) -> str:  # noqa: ARG002
        if SHORT:
            raise SHORT.pop()
        return "answered"


SHORTAGES = [MemoryError, torch.OutOfMemoryError, RuntimeError("[enforce fail] not enough memory: you tried")]


@pytest.mark.slow
@pytest.mark.parametrize("error", SHORTAGES, ids=["python", "gpu", "cpu"])
def test_memory_that_runs_out_is_given_back_and_the_question_asked_once_more(
    one_at_a_time: tuple[Engine, str], error: type[Exception] | Exception
) -> None:
    engine, model = one_at_a_time
    engine.attend(model, "The cat sat.")
    assert engine.state().n_remembered
    SHORT[:] = [error]
    assert engine.ask(Large(model)) == "answered"
    assert engine.state().n_remembered == 1, "the others were forgotten"
    assert engine.state().moved == ()
    engine.close()
    SHORT[:] = [error] * 100  # where it stays short
    with pytest.raises(OutOfMemory, match="not enough memory left to run"):
        engine.ask(Large(model))
    assert engine.attend(model, "The cat sat.").n_layers, "others are served"


def test_a_full_gpu_is_left_for_the_cpu(one_at_a_time: tuple[Engine, str], monkeypatch: pytest.MonkeyPatch) -> None:
    engine, model = one_at_a_time
    devices: list[str] = []
    from model_zoo import loading

    plain = loading.load

    def load(source: object, device: torch.device, dtype: object) -> LoadedModel:
        devices.append(device.type)
        return plain(source, torch.device("cpu"), dtype)  # type: ignore[arg-type]

    # There is no GPU here: the device says that it is one, and its memory is empty at once.
    monkeypatch.setattr(loading, "load", load)
    monkeypatch.setattr("model_zoo.out_of_memory.give_back", lambda _device: None)
    _, memory, n_bytes = engine._start()
    engine._started = torch.device("meta"), memory, n_bytes
    memory._load = lambda source, _full: load(
        source, torch.device("cpu" if source.id in engine._moved else "meta"), None
    )
    SHORT[:] = [torch.OutOfMemoryError()] * 2
    assert engine.ask(Large(model)) == "answered"
    assert devices[-1] == "cpu"
    assert engine.state().moved == (model,)


def test_a_process_too_large_forgets_answers_then_models(
    checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine("cpu", process_bytes=1000)
    sizes = iter([999, 1001, 999, 1001, 1001])
    monkeypatch.setattr("model_zoo.engine.resident", lambda: next(sizes))
    monkeypatch.setattr("model_zoo.engine._SECONDS_BETWEEN_RELIEFS", 0.0)
    bert, gpt2 = str(checkpoint("bert")), str(checkpoint("gpt2"))
    engine.attend(gpt2, "one")
    assert engine.state().n_remembered == 1, "999 bytes are few enough"
    engine.attend(bert, "two")
    assert [model.info.family for model in engine.held()] == ["bert", "gpt2"], "without its answers it is small enough"
    assert engine.state().n_remembered == 0, "what was just asked was handed out and not kept"
    engine.attend(bert, "three")
    assert [model.info.family for model in engine.held()] == ["bert"], "the one in use stays"
    engine.close()


def test_comings_and_goings_of_models_are_told(checkpoint: Checkpoint) -> None:
    changes: list[int] = []
    engine = Engine("cpu", on_change=lambda: changes.append(len(engine.held())))
    engine.info(str(checkpoint("bert")))
    assert changes == [1]
    engine.close()
    assert changes == [1, 0]


def test_torchs_threads_can_be_chosen(checkpoint: Checkpoint) -> None:
    before = torch.get_num_threads()
    try:
        engine = Engine("cpu", threads=3)
        engine.info(str(checkpoint("bert")))
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
