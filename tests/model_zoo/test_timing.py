"""Measuring cost: who runs when, what is timed and what is not, failures, stopping."""

import itertools
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from types import SimpleNamespace

import pytest
import torch

from model_zoo import Engine, timing
from model_zoo.errors import InvalidInput
from model_zoo.heldout import written_pairs
from model_zoo.loading import LoadedModel
from model_zoo.text import word_spans
from model_zoo.types import CostEvent, CostFailure, CostSample, CostSubject


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Every pass takes ``clock["seconds"]`` and is not run at all."""
    clock = {"seconds": 0.001}
    monkeypatch.setattr(timing, "_timed", lambda _: (clock["seconds"], None))
    return clock


def samples(events: Iterator[CostEvent] | list[CostEvent]) -> list[CostSample]:
    return [event for event in events if isinstance(event, CostSample)]


@pytest.mark.usefixtures("clock")
def test_all_are_warmed_up_then_every_round_runs_all_in_a_new_order(engine, checkpoint, bilstm):
    models = [str(checkpoint("bert")), str(checkpoint("xlnet")), bilstm]
    lengths = (8, 16, 32)
    events = list(engine.measure_cost(models, lengths, 6))
    subjects = events[:3]
    assert [subject.model for subject in subjects if isinstance(subject, CostSubject)] == models
    passes = samples(events)
    assert len(passes) == len(events) - 3
    assert [sample.round for sample in passes] == sorted(sample.round for sample in passes)
    everything = Counter(itertools.product(models, lengths))
    orders = []
    for round_, group in itertools.groupby(passes, key=lambda sample: sample.round):
        order = [(sample.model, sample.n_tokens) for sample in group]
        times = timing.WARM_UP if round_ == 0 else 1
        assert Counter(order) == Counter({key: times * n for key, n in everything.items()})
        if round_ > 0:
            # The models of one length run right after each other.
            assert len([length for length, _ in itertools.groupby(length for _, length in order)]) == len(lengths)
        orders.append(tuple(order))
    assert len(orders) == 1 + 6
    assert len(set(orders)) > 4
    shares = [sample.share for sample in passes]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.parametrize(
    ("seconds", "repeats", "expected"),
    [
        (0.001, 9, 9),  # there is time for all
        (timing.SECONDS / 14, 9, 7),  # two lengths, so that a round takes a seventh of the time
        (100.0, 9, timing.FEWEST_ROUNDS),
        (100.0, 2, 2),
    ],
)
def test_rounds_follow_the_time_there_is(engine, checkpoint, clock, seconds: float, repeats: int, expected: int):
    clock["seconds"] = seconds * 0.999
    passes = samples(engine.measure_cost([str(checkpoint("bert"))], (8, 16), repeats))
    assert max(sample.round for sample in passes) == expected
    assert passes[-1].share == 1.0


@pytest.mark.usefixtures("clock")
def test_lengths_beyond_a_model_are_left_out(engine, checkpoint):
    models = [str(checkpoint("bert")), str(checkpoint("xlnet"))]  # 64 positions, and no limit
    bounded, free = (e for e in engine.measure_cost(models, (256, 16, 64, 16), 1) if isinstance(e, CostSubject))
    assert bounded.lengths == (16, 64)
    assert free.lengths == (16, 64, 256)
    (only,) = (e for e in engine.measure_cost(models[:1], (512,), 1) if isinstance(e, CostSubject))
    assert only.lengths == (64,)


def test_what_is_timed_is_the_encoder_alone(engine, checkpoint, monkeypatch):
    """No tokenizing, no head, no decoder, and no gradients; all models read the same text."""
    models = [str(checkpoint(name)) for name in ("bert", "t5", "bart")]
    ran: Counter[str] = Counter()
    texts: list[str] = []
    engine.info(models[2])  # what is read while a model is loaded is no part of this
    with engine._memory.lease(models[0]) as bert, engine._memory.lease(models[1]) as t5, ExitStack() as stack:
        for name, module in (
            ("bert", bert.model.bert),
            ("head", bert.model.cls),
            ("encoder", t5.model.base_model.get_encoder()),
            ("decoder", t5.model.base_model.get_decoder()),
        ):
            hook = partial(lambda name, _, __, output: ran.update({name: 1 + output[0].requires_grad}), name)
            stack.enter_context(module.register_forward_hook(hook))
        plain = LoadedModel.encode
        monkeypatch.setattr(LoadedModel, "encode", lambda self, text, *a: texts.append(text) or plain(self, text, *a))
        events = engine.measure_cost(models, (24,), 3)
        begun = [next(events) for _ in models]
        assert all(isinstance(event, CostSubject) for event in begun)
        n_encoded = len(texts)
        passes = samples(events)
    assert len(texts) == n_encoded
    assert Counter(Counter(texts).values()) == {3: 1 + len(written_pairs())}
    assert ran == {"bert": timing.WARM_UP + 3, "encoder": timing.WARM_UP + 3}
    assert len(passes) == 3 * (timing.WARM_UP + 3)
    assert all(sample.seconds > 0 and sample.peak_bytes is None and sample.n_tokens == 24 for sample in passes)


@pytest.mark.usefixtures("clock")
def test_figures_of_a_model_by_hand(engine):
    """The bundled BERT reads all of the built-in sentences whole."""
    model = "embedded/bert"
    subject, sample, *_ = engine.measure_cost([model], (16,), 1)
    assert (subject.info, subject.n_threads) == (engine.info(model), torch.get_num_threads())
    with engine._memory.lease(model) as loaded:
        weights = {t.data_ptr(): t.nbytes for t in (*loaded.model.parameters(), *loaded.model.buffers())}
        texts = [f"{pair.first} {pair.second}" for pair in written_pairs()]
        n_pieces = sum(len(loaded.tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts)
    assert subject.n_bytes == sum(weights.values())
    assert subject.pieces_per_word == pytest.approx(n_pieces / sum(len(word_spans(text)) for text in texts))
    encoding = engine.encode(model, " ".join(" ".join(texts).split()[:16]))
    # [CLS] and [SEP] leave 14 places.
    assert sample.n_words == len({word for word in encoding.word_ids[1:15] if word is not None})


def test_a_model_that_fails_leaves_the_others(engine, checkpoint, tmp_path, monkeypatch):
    missing = str(tmp_path / "nothing here")
    bad, good = str(checkpoint("bert")), str(checkpoint("xlnet"))
    plain = timing._timed
    n_calls = Counter()

    def timed(one_pass):
        n_calls[one_pass.model, one_pass.n_tokens] += 1
        if one_pass.model == bad and one_pass.n_tokens >= 32:
            raise RuntimeError("not enough memory: you tried to allocate 1 GB.\nsecond line")
        return plain(one_pass)

    monkeypatch.setattr(timing, "_timed", timed)
    events = list(engine.measure_cost([missing, missing, bad, good], (16, 32, 64), 2))
    failures = [event for event in events if isinstance(event, CostFailure)]
    assert [failure.model for failure in failures].count(missing) == 1
    assert {failure.model for failure in failures[1:]} == {bad}
    for failure in failures[1:]:
        assert "not enough memory: you tried to allocate 1 GB." in failure.reason
        assert "second line" not in failure.reason
    assert n_calls[bad, 32] + n_calls[bad, 64] == len(failures) - 1 <= 2  # one that failed does not run again
    timed_ones = Counter((sample.model, sample.n_tokens) for sample in samples(events) if sample.round)
    assert timed_ones == {(bad, 16): 2, (good, 16): 2, (good, 32): 2, (good, 64): 2}
    assert samples(events)[-1].share == 1.0


@pytest.mark.usefixtures("clock")
def test_where_no_model_can_be_given_texts_it_ends_and_a_name_counts_once(engine, checkpoint, monkeypatch):
    def fail(*_):
        raise InvalidInput("Nothing fits.")

    monkeypatch.setattr(timing, "passes_of", fail)
    failures = list(engine.measure_cost([str(checkpoint("bert"))] * 2 + [str(checkpoint("xlnet"))]))
    assert [type(event) for event in failures] == [CostFailure] * 2
    assert failures[0].reason.endswith("Nothing fits.")


def test_closing_stops_and_lets_go_of_the_models(checkpoint, monkeypatch):
    engine = Engine("cpu")
    n_passes = []
    monkeypatch.setattr(timing, "_timed", lambda one_pass: n_passes.append(one_pass) or (0.001, None))
    events = engine.measure_cost([str(checkpoint("bert")), str(checkpoint("xlnet"))], (16,), 5)
    for event in events:
        if isinstance(event, CostSample):
            break
    assert all(held.in_use for held in engine.held())
    events.close()
    assert len(n_passes) == 1
    assert not any(held.in_use for held in engine.held())
    assert list(events) == []
    engine.close()


def test_on_a_gpu_the_clock_waits_for_it_and_the_peak_is_that_of_the_pass(monkeypatch):
    """100 bytes of its memory are taken before the pass, and 130 at its peak."""
    calls: list[str] = []
    machine = SimpleNamespace(
        synchronize=lambda: calls.append("wait"),
        reset_peak_memory_stats=lambda _: calls.append("reset"),
        memory_allocated=lambda _: 100,
        max_memory_allocated=lambda _: calls.append("peak") or 130,
    )
    monkeypatch.setattr(timing.torch, "get_device_module", lambda _: machine)
    times = iter([10.0, 12.5])
    monkeypatch.setattr(timing.time, "perf_counter", lambda: calls.append("clock") or next(times))
    loaded = SimpleNamespace(
        model=SimpleNamespace(device=SimpleNamespace(type="cuda")),
        encoder=lambda **_: calls.append(f"pass {torch.is_inference_mode_enabled()}"),
    )
    sample = timing._timed(timing._Pass("m", loaded, {}, 16, 12))
    assert sample == (2.5, 30)
    assert calls == ["reset", "wait", "clock", "pass True", "wait", "clock", "peak"]
