"""What travels: every question and every result arrives as it was sent, and nothing else is read."""

import pickle
from typing import Any

import msgpack
import numpy as np
import pytest
from equal import same
from hypothesis import example, given
from hypothesis import strategies as st

import evidence.questions
from model_zoo import DEFAULT_MODEL, Engine, errors, questions
from model_zoo.errors import InvalidInput, ModelZooError, NotDownloaded
from model_zoo.question import Comparison, Streamed
from model_zoo.questions import questions_in
from model_zoo.questions.attend import Attend
from model_zoo.questions.fill_mask import FillMask
from model_zoo.types import AttentionRun, MapsLayer, QueryKeyLayer
from serving import wire
from serving.wire import BadMessage, pack, unpack
from training.finetuning.finetune import Finetune
from training.finetuning.predict import Predict, SoftScores
from training.finetuning.sets import SETS
from training.measure_quality import MeasureQuality

QUESTIONS = [*questions_in(questions), *questions_in(evidence.questions)]

ERRORS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ModelZooError)]


@pytest.mark.parametrize("kind", QUESTIONS, ids=lambda kind: kind.__name__)
def test_every_question_and_its_result_arrive_as_they_were(kind: type[Any], engine: Engine) -> None:
    if issubclass(kind, Comparison):
        comparison = kind.example(DEFAULT_MODEL)
        assert same(unpack(pack(comparison)), comparison)
        for part in engine.stream(comparison):
            assert same(unpack(pack(part)), part)
        return
    question = kind.example(DEFAULT_MODEL)
    arrived = unpack(pack(question))
    assert type(arrived) is kind
    assert arrived == question
    assert hash(arrived) == hash(question)
    if question.needs == "lm":  # no bundled model has it
        return
    result = engine.ask(question)
    if isinstance(result, AttentionRun):  # it stays where it is, but for what is looked at
        for layer in result.layers:
            assert isinstance(layer, QueryKeyLayer | MapsLayer)
            assert same(unpack(pack(layer)), layer)
        return
    assert same(unpack(pack(result)), result)


def test_a_training_arrives_with_its_data() -> None:
    for data_set in SETS.values():
        question = Finetune("embedded/bert", data_set.build(), Finetune.example("m").settings, "tuned/0123456789abcdef")
        arrived = unpack(pack(question))
        assert arrived == question
        assert arrived.data.train == question.data.train
    for other in (Predict.example("m"), SoftScores.example("m"), MeasureQuality.example("m")):
        assert unpack(pack(other)) == other


def test_arrays_arrive_bit_for_bit_and_read_only() -> None:
    for array in (
        np.arange(6, dtype=np.float32).reshape(2, 3).T,
        np.array([np.nan, -0.0, np.inf], dtype=np.float64),
        np.zeros((0, 4), dtype=np.int64),
        np.array([[True, False]]),
    ):
        received = unpack(pack(array))
        assert same(received, np.ascontiguousarray(array))
        assert not received.flags.writeable
    assert unpack(pack(np.float32(0.5))) == np.float32(0.5)


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text() | st.binary(),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.lists(inner, max_size=4).map(tuple)
            | st.dictionaries(st.text(), inner, max_size=4)
        ),
        max_leaves=20,
    )
)
@example("a \ud800")
def test_plain_data_arrives_as_it_was(value: Any) -> None:
    assert same(unpack(pack(value)), value)


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_arrives_as_it_was(kind: type[ModelZooError]) -> None:
    sent = NotDownloaded("Not here.", "a/b", 12) if kind is NotDownloaded else kind("What happened. What to do.")
    if kind is InvalidInput:
        sent = InvalidInput("Text 3: no.", 2)  # which of several it is about
    received = unpack(pack(sent))
    assert type(received) is kind
    assert str(received) == str(sent)
    assert vars(received) == vars(sent)


@given(st.binary(max_size=200))
def test_other_bytes_are_refused_or_plain(data: bytes) -> None:
    try:
        unpack(data)
    except (BadMessage, ModelZooError):
        return


class Opens:
    """What a pickle would run where it is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (pytest.fail, ("this ran",))


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps(Opens()),
        msgpack.packb(msgpack.ExtType(3, msgpack.packb(["subprocess:Popen", "true"]))),
        msgpack.packb(msgpack.ExtType(3, msgpack.packb(["model_zoo.types.run:_made", 1, {}]))),
        msgpack.packb(msgpack.ExtType(4, msgpack.packb(["SystemExit", [], {}]))),
        msgpack.packb(msgpack.ExtType(2, msgpack.packb(["|O", [1], b"01234567"]))),
        msgpack.packb(msgpack.ExtType(2, msgpack.packb(["<f4", [1000000], b"0123"]))),
        msgpack.packb(msgpack.ExtType(9, b"")),
        msgpack.packb(msgpack.ExtType(3, msgpack.packb(["model_zoo.questions.attend:Attend", "m"]))),
    ],
    ids=["pickle", "another class", "a function", "another error", "objects", "too short", "no such kind", "fields"],
)
def test_what_is_not_listed_is_refused(data: bytes) -> None:
    with pytest.raises(BadMessage):
        unpack(data)


def test_nesting_without_end_is_refused_and_a_question_checks_its_fields_where_it_is_read() -> None:
    data = b"\xc0"
    for _ in range(2000):
        data = msgpack.packb(msgpack.ExtType(0, b"\x91" + data))
    with pytest.raises(BadMessage):
        unpack(data)
    content = ["model_zoo.questions.fill_mask:FillMask", "m", "text", 10**6, (), ()]
    with pytest.raises(InvalidInput, match="cannot be shown"):
        unpack(msgpack.packb(msgpack.ExtType(3, msgpack.packb(content))))


def test_what_is_not_listed_is_not_sent_and_what_is_is_small() -> None:
    for value in (Opens(), object(), np.array([object()]), Streamed):
        with pytest.raises(TypeError):
            pack(value)
    assert len(pack(Attend(DEFAULT_MODEL, "The cat sat."))) < 120
    assert len(pack(FillMask(DEFAULT_MODEL, "The [MASK] sat."))) < 120


def test_another_shape_is_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    before = wire.version()
    known = dict(wire._types())
    del known["model_zoo.questions.attend:Attend"]
    monkeypatch.setattr(wire, "_types", lambda: known)
    assert wire.version.__wrapped__() != before


@pytest.mark.slow
@given(st.lists(st.text(max_size=300) | st.integers(0, 9), max_size=8), st.integers(1, 50), st.integers(0, 20))
def test_a_stream_arrives_in_pieces_of_any_size(values: list[Any], size: int, missing: int) -> None:
    full = b"".join(wire.framed(value) for value in values)
    data = full[: max(0, len(full) - missing)]
    received = list(wire.frames(data[at : at + size] for at in range(0, len(data), size)))
    assert received == values[: len(received)]
    assert len(received) == len(values) or missing
