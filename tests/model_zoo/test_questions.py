"""Questions as objects: every one in ``model_zoo.questions`` is found here, asked, and sent through pickle."""

import dataclasses
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import TEXT, Checkpoint
from every_question import MODULES, QUESTIONS, ask, example
from result_html import parse_with_table

from model_zoo import DEFAULT_MODEL, Engine
from model_zoo.answer_cache import size_of
from model_zoo.errors import InvalidInput, ModelZooError, NotDownloaded, NotSupported
from model_zoo.question import Comparison
from model_zoo.questions.attend import Attend
from model_zoo.questions.encode_states import EncodeStates
from model_zoo.questions.fill_all import FillAll
from model_zoo.questions.fill_mask import FillMask
from model_zoo.questions.follow_mask import FollowMask
from model_zoo.questions.measure_cost import MeasureCost
from model_zoo.questions.put_tokens import PutTokens
from model_zoo.questions.restore import Restore
from model_zoo.questions.score_tokens import ScoreTokens
from model_zoo.types import AttentionRun, HiddenStates, MaskPrediction, Shows
from training import evaluation_sets
from training.measure_quality import MeasureQuality

ROOT = Path(__file__).parents[2]


SHARED = [kind for kind in QUESTIONS if getattr(kind, "remembered", True)]
"""Those whose answers are handed to everybody who asks."""


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """An engine of its own: it measures quality on few sentences."""
    engine, few = Engine("cpu"), evaluation_sets.written_set().sample(6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation_sets, "written_set", lambda: few)
        yield engine
    engine.close()


@pytest.fixture(scope="module")
def causal(checkpoint: Checkpoint) -> str:
    return str(checkpoint("gpt2"))


def same(first: Any, other: Any) -> bool:
    """Equal in type and in every field, arrays number by number."""
    if type(first) is not type(other):
        return False
    if isinstance(first, np.ndarray):
        return bool(first.dtype == other.dtype and np.array_equal(first, other, equal_nan=True))
    if isinstance(first, tuple):
        return len(first) == len(other) and all(map(same, first, other))
    if dataclasses.is_dataclass(first):
        left = [field.name for field in dataclasses.fields(first) if "of the model" not in field.metadata]
        return all(same(getattr(first, name), getattr(other, name)) for name in left)
    return bool(first == other)


def within(result: Any) -> Iterator[Any]:
    """The result and everything in it."""
    yield result
    parts: list[Any] = []
    if isinstance(result, tuple | list | frozenset | set):
        parts = list(result)
    elif isinstance(result, dict):
        parts = [*result, *result.values()]
    elif dataclasses.is_dataclass(result):
        parts = [getattr(result, field.name) for field in dataclasses.fields(result)]
    for part in parts:
        yield from within(part)


def test_every_file_has_a_question() -> None:
    assert {kind.__module__ for kind in QUESTIONS if kind is not MeasureQuality} == set(MODULES)


@pytest.mark.parametrize("kind", QUESTIONS, ids=lambda kind: kind.__name__)
def test_a_question_is_a_frozen_key(kind: type[Any], causal: str) -> None:
    first, again = example(kind, causal), example(kind, causal)
    assert first == again
    assert hash(first) == hash(again)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(first, dataclasses.fields(first)[0].name, "another")
    sent = pickle.loads(pickle.dumps(first))
    assert sent == first
    assert hash(sent) == hash(first)


@pytest.mark.parametrize("kind", SHARED, ids=lambda kind: kind.__name__)
def test_an_answer_is_remembered_shared_and_read_only(kind: type[Any], engine: Engine, causal: str) -> None:
    question = example(kind, causal)
    answer = ask(engine, question)
    if not isinstance(question, Comparison) and question.remembered and not question.of_loaded:
        assert engine.ask(example(kind, causal)) is answer
        assert engine.ask_all([question, question]) == [answer, answer]
    plain = str | int | float | bool | None
    for part in within(answer):
        if isinstance(part, np.ndarray):
            assert not part.flags.writeable
        elif dataclasses.is_dataclass(part):
            assert type(part).__dataclass_params__.frozen  # type: ignore[attr-defined]
        else:
            assert isinstance(part, plain | tuple | frozenset)


PLAIN = {
    "ExplainRefusal": "a sentence, or nothing",
    "NearestTokens": "named tuples, which make a table as they are",
    "PutTokens": "a text",
    "ReadProjections": "the arrays themselves",
    "WriteMasks": "a text",
}
"""Questions whose answers show nothing of their own, and why."""


@pytest.mark.parametrize("kind", QUESTIONS, ids=lambda kind: kind.__name__)
def test_an_answer_shows_itself_in_a_notebook(kind: type[Any], engine: Engine, causal: str) -> None:
    answer = ask(engine, example(kind, causal))
    parts = [part for part in within(answer) if isinstance(part, Shows)]
    assert (kind.__name__ in PLAIN) == (not parts)
    for part in parts[:1]:
        parse_with_table(part)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SHARED, ids=lambda kind: kind.__name__)
def test_size_is_at_least_what_pickle_takes(kind: type[Any], engine: Engine, causal: str) -> None:
    """Arrays take as much in memory as in a pickle, and Python's strings, numbers and tuples more; the weights of the
    model are in neither. What is mostly arrays is told to a tenth, by ``n_bytes`` too.
    """
    answer = ask(engine, example(kind, causal))
    size, pickled = size_of(answer), len(pickle.dumps(answer))
    assert size >= 0.9 * pickled
    if isinstance(answer, AttentionRun | HiddenStates):
        answer = ask(engine, dataclasses.replace(example(kind, causal), text="A longer text. " * 10))
        size, pickled = size_of(answer), len(pickle.dumps(answer))
        assert size == pytest.approx(pickled, rel=0.1)
        assert answer.n_bytes == pytest.approx(pickled, rel=0.1)


LOOK = """
import pickle, sys
from dataclasses import fields, is_dataclass

def walk(one):
    if is_dataclass(one):
        repr(one)
        for value in (getattr(one, field.name) for field in fields(one)):
            assert not hasattr(value, "flags") or not value.flags.writeable
            walk(value)
    elif isinstance(one, tuple | list | frozenset):
        for part in one:
            walk(part)
    elif hasattr(one, "flags"):
        one.sum()

with open(sys.argv[1], "rb") as file:
    pairs = pickle.load(file)
for question, answer in pairs:
    walk(question), walk(answer)
run = next(answer for question, answer in pairs if type(question).__name__ == "Attend")
assert run.head(0, 0).shape == (run.n_tokens, run.n_tokens)
heavy = {"torch", "transformers"} & set(sys.modules)
assert not heavy, heavy
with open(sys.argv[2], "wb") as file:
    pickle.dump(pairs, file)
"""


@pytest.mark.slow
def test_questions_and_answers_go_through_a_process_without_torch(engine: Engine, causal: str, tmp_path: Path) -> None:
    pairs = [(question, ask(engine, question)) for question in (example(kind, causal) for kind in SHARED)]
    sent, back = tmp_path / "sent", tmp_path / "back"
    sent.write_bytes(pickle.dumps(pairs))
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(sent), str(back)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for (question, answer), (sent_question, sent_answer) in zip(pairs, pickle.loads(back.read_bytes()), strict=True):
        assert sent_question == question
        assert same(sent_answer, answer), question


def test_failures_can_be_pickled() -> None:
    failures = [kind("what happened") for kind in ModelZooError.__subclasses__() if kind is not NotDownloaded]
    for failure in (*failures, InvalidInput("Text 3 is empty", 2), NotDownloaded("not here", "someone/tiny", 7)):
        sent = pickle.loads(pickle.dumps(failure))
        assert (type(sent), str(sent), vars(sent)) == (type(failure), str(failure), vars(failure))


ENGINE = """
from model_zoo import Engine
engine = Engine()
engine.models()
assert engine.held() == [] and not engine.started
engine.close()"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        (ENGINE, {"torch", "transformers"}),  # the home page waits for neither
        (f"import {', '.join(MODULES)}", {"torch", "transformers"}),
        ("import model_zoo.types", {"pandas", "xarray", "torch"}),
    ],
    ids=["engine", "questions", "types"],
)
def test_importing_is_light(code: str, heavy: set[str]) -> None:
    code = f"import sys\n{code}\nassert not {heavy} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_model_weights_do_not_travel_with_a_run(engine: Engine) -> None:
    run = engine.attend(DEFAULT_MODEL, TEXT)
    weights = sum(projection.nbytes for projection in run.output_projections if projection is not None)
    assert len(pickle.dumps(run)) < weights < size_of(run) + weights
    assert size_of(run) == pytest.approx(run.n_bytes, rel=0.1)
    sent = pickle.loads(pickle.dumps(run))
    np.testing.assert_array_equal(sent.layer(0), run.layer(0))
    with pytest.raises(NotSupported, match="was left behind when this run was pickled"):
        sent.value_norms(0)
    full = sent.with_output_projections(engine.output_projections(DEFAULT_MODEL))
    np.testing.assert_array_equal(full.value_norms(0), run.value_norms(0))
    for projection, other in zip(full.output_projections, run.output_projections, strict=True):
        assert np.shares_memory(projection, other)  # type: ignore[arg-type]  # still the model's own
    with pytest.raises(NotSupported, match="a single stack of layers"):
        engine.output_projections(DEFAULT_MODEL, "cross")


def test_a_mask_that_layers_share_is_pickled_once(engine: Engine, checkpoint: Checkpoint) -> None:
    run = engine.attend(str(checkpoint("mpnet")), "the cat sat on the mat " * 6)
    assert run.layers[0].mask is run.layers[1].mask  # type: ignore[attr-defined]
    assert run.layers[0].mask is not None  # type: ignore[attr-defined]
    assert len(pickle.dumps(run)) < 1.1 * size_of(run)


def test_a_view_counts_with_all_it_keeps_alive() -> None:
    full = np.zeros(10_000, dtype=np.uint8)
    assert size_of((full[:10], full[20:])) - size_of((None, None)) == pytest.approx(10_000, abs=100)
    text = "a" * 5_000
    assert 5_000 < size_of([text, text, {"key": text}]) < 6_000


def test_equal_questions_are_equal_however_they_are_written() -> None:
    assert FillMask("m", "a", masked=[3, 1]) == FillMask("m", "a", masked=frozenset({1, 3}))
    assert FillMask("m", "a", targets=["b"]) == FillMask("m", "a", targets=("b",))
    assert Attend("m", "a", states=[1, 2]) == Attend("m", "a", states=(1, 2))
    assert Attend("m", "a", states=[2, 1]) != Attend("m", "a", states=(1, 2))
    assert PutTokens("m", "a", {2: 5, 1: 4}) == PutTokens("m", "a", ((1, 4), (2, 5)))
    assert FillMask("m", "a", 5) != FollowMask("m", "a", 5)
    assert MeasureCost(["m", "m"]) == MeasureCost(("m",))


def test_a_method_of_the_engine_is_made_of_its_question() -> None:
    signature = inspect.signature(Engine.fill_mask)
    assert list(signature.parameters) == ["self", "model", "text", "top_k", "masked", "targets"]
    assert signature.parameters["text"].annotation == str | Sequence[str]
    assert signature.return_annotation == tuple[MaskPrediction, ...] | list[tuple[MaskPrediction, ...]]
    assert signature.parameters["top_k"].default == 10
    assert Engine.fill_mask.__doc__ == FillMask.__doc__
    assert Engine.fill_mask.__qualname__ == "EngineMethods.fill_mask"
    assert list(inspect.signature(Engine.encoded_states).parameters)[2] == "texts"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Attend("m", " "), "The text is empty"),
        (lambda: Attend("m", "a", ""), "The second text is empty"),
        (lambda: Attend("m", "a", stack="middle"), "There is no part 'middle' of a model"),  # type: ignore[arg-type]
        (lambda: Attend("m", "a", stack="cross", states=True), "Ask for one of the two"),
        (lambda: Attend("m", "a", states=()), "No layer is chosen"),
        (lambda: EncodeStates("m", "a", layers=()), "No layer is chosen"),
        (lambda: FillMask("m", "a", 0), "0 predictions cannot be shown. Choose 1 to 1000"),
        (lambda: Restore("m", "a", (1,), (0,), 1001), "1001 predictions cannot be shown"),
        (lambda: ScoreTokens("m", "a", "backwards"), "There is no scheme 'backwards'"),  # type: ignore[arg-type]
        *((lambda of=of: MeasureCost(["m"], *of), "at least one token") for of in (((),), ((0, 16),), ((16,), 0))),
    ],
)
def test_what_needs_no_model_is_refused_when_a_question_is_made(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make()
    assert message in str(caught.value)


def test_a_list_of_mixed_questions_is_answered_in_order(engine: Engine, causal: str) -> None:
    attend = Attend(causal, "a mixed list")
    mixed = [FillMask(DEFAULT_MODEL, "The [MASK] sat."), attend, FillMask(DEFAULT_MODEL, "A [MASK].", 3), attend]
    answers = engine.ask_all(mixed)
    assert answers[1] is answers[3] is engine.ask(attend)
    assert [len(answers[place][0].best) for place in (0, 2)] == [10, 3]
    for model, scheme in ((DEFAULT_MODEL, "original"), (causal, "causal")):  # the one that is usual for the model
        assert engine.token_scores(model, TEXT) is engine.token_scores(model, TEXT, scheme=scheme)  # type: ignore[call-overload]
    subject = engine.cost_subject(DEFAULT_MODEL)
    assert subject is engine.cost_subject(DEFAULT_MODEL)
    assert subject == next(engine.measure_cost([DEFAULT_MODEL]))


def test_what_fails_in_a_list_is_named_by_its_place_in_the_whole_list(engine: Engine) -> None:
    """Also where the texts before it are remembered, and were not asked again."""
    engine.fill_mask(DEFAULT_MODEL, ["One [MASK].", "Two [MASK]."])
    with pytest.raises(InvalidInput, match=r"^Text 3: There is no mask") as caught:
        engine.fill_mask(DEFAULT_MODEL, ["One [MASK].", "Two [MASK].", "three", "Four [MASK]."])
    assert caught.value.which == 2
    with pytest.raises(InvalidInput, match=r"^There is no mask"):
        engine.fill_mask(DEFAULT_MODEL, ["three"])


def test_a_stream_is_remembered_once_it_was_read_to_its_end(checkpoint: Checkpoint) -> None:
    engine = Engine("cpu")
    question = FillAll(str(checkpoint("bert")), "The [MASK] [MASK] on the mat.")
    begun = engine.stream(question)
    first = next(begun)
    begun.close()
    assert not any(held.in_use for held in engine.held())
    assert engine._results.values() == []
    every = list(engine.stream(question))
    assert every[0] == first
    again = list(engine.stream(question))
    assert all(piece is other for piece, other in zip(every, again, strict=True))
    assert engine.ask(question) == tuple(every)


def test_a_long_list_of_states_pushes_nothing_out_of_memory(checkpoint: Checkpoint) -> None:
    engine = Engine("cpu")
    model = str(checkpoint("bert"))
    states = dict(engine.iter_hidden_states(model, ["cat", TEXT, "cat"]))
    assert list(states) != []
    assert engine._results.values() == []
    assert states[0] is states[2]
    kept = engine.encoded_states(model, ["cat", TEXT])
    assert all(first is other for first, other in zip(engine.encoded_states(model, ["cat", TEXT]), kept, strict=True))


def test_why_not_says_what_asking_raises(engine: Engine, causal: str) -> None:
    assert engine.why_not(DEFAULT_MODEL, "mlm") is None
    assert engine.why_not(DEFAULT_MODEL, "nsp") is None
    with pytest.raises(NotSupported) as refused:
        engine.next_sentence(causal, "One.", "Two.")
    assert engine.why_not(causal, "nsp") == str(refused.value)
    with pytest.raises(NotSupported) as refused:
        engine.fill_mask(causal, "One.", masked=[0])
    assert engine.why_not(causal, "mlm") == str(refused.value)
    with pytest.raises(InvalidInput, match="no head 'lm'"):
        engine.why_not(causal, "lm")  # type: ignore[arg-type]
