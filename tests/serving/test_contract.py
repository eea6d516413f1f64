"""What an engine promises, asked of the engine in this process, of one behind HTTP, and of a cluster: the same, bit for
bit.
"""

import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from equal import same
from patience import PATIENCE, until

from analysis.alignment import align, all_on_common_words
from analysis.probing import Settings, TaskResult
from analysis.probing import run as probe
from analysis.probing.tasks import TASKS
from analysis.rollout import rollout
from analysis.views import Norms, Weights
from evidence.questions.lens import JudgeLens
from model_zoo import DEFAULT_MODEL, Engine
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import HubUnreachable, InvalidInput, ModelZooError, NotSupported, UnknownModel
from model_zoo.questions.fill_all import FillAll
from model_zoo.questions.intervene import Intervene
from model_zoo.questions.measure_cost import MeasureCost
from model_zoo.questions.probe_health import ProbeHealth
from model_zoo.types import METHODS, Change, CostFailure, CostSubject, Edge, SentenceScore
from serving.remote import RemoteEngine
from training.finetuning.finetune import Finetune
from training.finetuning.results import Heartbeat, Started, Tuned
from training.measure_quality import MeasureQuality
from ui.precomputed.lenses import LENSES

LENS = LENSES.load(DEFAULT_MODEL).lens
TEXT = "The cat sat on the mat because it was tired."
PAIR = "It slept until the evening."
MASKED = "The [MASK] sat on the [MASK]."
TEXTS = [TEXT, "Birds sing.", (TEXT, PAIR), "A dog barked at the postman in the morning, again."]

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="session")
def local() -> Iterator[Engine]:
    """An engine that has answered nothing yet: what it remembers would be compared with itself."""
    engine = Engine("cpu")
    yield engine
    engine.close()


@pytest.fixture(params=["local", "plain", "clustered"])
def candidate(request: pytest.FixtureRequest) -> EngineInterface:
    """Each of them: "local" is another engine in this process than what it is compared with."""
    if request.param == "local":
        return request.getfixturevalue("engine")
    return request.getfixturevalue(request.param)


def test_half_of_a_surrogate_pair_is_refused(candidate: EngineInterface) -> None:
    with pytest.raises(InvalidInput):
        candidate.attend(DEFAULT_MODEL, "a \ud800")
    with pytest.raises(UnknownModel):
        candidate.attend("\ud800", TEXT)


@pytest.mark.slow
@pytest.mark.parametrize("pair", [None, PAIR])
def test_attention(candidate: EngineInterface, local: Engine, pair: str | None) -> None:
    run, expected = candidate.attend(DEFAULT_MODEL, TEXT, pair), local.attend(DEFAULT_MODEL, TEXT, pair)
    assert run.encoding == expected.encoding
    assert (run.n_layers, run.n_heads) == (expected.n_layers, expected.n_heads)
    for layer in range(run.n_layers):
        assert same(run.layer(layer), expected.layer(layer))
        assert same(run.head(layer, 3), expected.head(layer, 3))
        assert same(run.layer(layer, slice(2, 5)), expected.layer(layer, slice(2, 5)))
    assert same(run.query_key(2, 9), expected.query_key(2, 9))
    assert same(run.value(5, 0), expected.value(5, 0))
    assert same(run.to_frame(1, [0, 4]).to_dict(), expected.to_frame(1, [0, 4]).to_dict())


def test_norms_and_what_is_computed_of_a_run(candidate: EngineInterface, local: Engine) -> None:
    run, expected = candidate.attend(DEFAULT_MODEL, TEXT), local.attend(DEFAULT_MODEL, TEXT)
    assert same(run.value_norms(3), expected.value_norms(3))
    assert same(run.norms_of_sum(3), expected.norms_of_sum(3))
    assert same(run.norms_of_sum(3, [1, 7]), expected.norms_of_sum(3, [1, 7]))
    for measure in (Weights, Norms):
        assert same(rollout(measure(run)), rollout(measure(expected)))


@pytest.mark.slow
def test_runs_that_are_interfered_with(candidate: EngineInterface, local: Engine) -> None:
    """Heads off, words hidden, vectors of another run; gradients, attention's own answers, sums of parts."""
    changes = (Change(heads=((1, 3), (2, 0))), Change(hidden=(4,)), Change(edges=(Edge(2, 0),)))
    asking = Intervene(DEFAULT_MODEL, TEXT, masked=(3,), changes=changes)
    # An engine that has answered it before gives it in one piece.
    assert asking.combine(list(candidate.stream(asking))) == asking.combine(list(local.stream(asking)))
    other = "The dog sat on the mat because it was tired."
    put_in = {"masked": (7,), "other": other, "value": "other"}
    moved = [Change(states=(3,), positions=(2,)), Change(feed_forward=(1,))]
    for ask in (
        lambda engine: engine.intervene(DEFAULT_MODEL, TEXT, moved, **put_in),
        lambda engine: engine.ablate(DEFAULT_MODEL, TEXT, [(0, 0)], text_pair=PAIR, value="mean"),
        lambda engine: engine.decompose(DEFAULT_MODEL, TEXT, masked=(3,)),
        *(
            lambda engine, method=method: engine.attribute(DEFAULT_MODEL, TEXT, masked=(3,), method=method, steps=4)
            for method in METHODS
        ),
    ):
        assert same(ask(candidate), ask(local))
    with pytest.raises(InvalidInput, match="no layer 9"):
        candidate.intervene(DEFAULT_MODEL, TEXT, [Change(heads=((9, 0),))], masked=(3,))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["embedded/modernbert", "embedded/tinybert"])
def test_other_models(candidate: EngineInterface, local: Engine, model: str) -> None:
    assert model in {status.spec.id for status in candidate.models() if status.usable}
    run, expected = candidate.attend(model, TEXT, states=True), local.attend(model, TEXT, states=True)
    assert all(same(run.layer(layer), expected.layer(layer)) for layer in range(run.n_layers))
    assert same(run.states, expected.states)


@pytest.mark.parametrize("name", ["deberta-v2", "gpt2", "modernbert", "t5", "xlnet"])
def test_families_with_masks_and_biases(candidate: EngineInterface, local: Engine, checkpoint: Any, name: str) -> None:
    model = str(checkpoint(name))
    run, expected = candidate.attend(model, "a b c d e"), local.attend(model, "a b c d e")
    for layer in range(run.n_layers):
        assert same(run.layer(layer), expected.layer(layer))
        for head in range(run.n_heads):
            assert same(run.head(layer, head), expected.head(layer, head))
    assert same(run.query_key(1, 1), expected.query_key(1, 1))


@pytest.mark.slow
def test_what_a_decoder_looks_at(candidate: EngineInterface, local: Engine, checkpoint: Any) -> None:
    model = str(checkpoint("bart"))
    for part in ("decoder", "cross"):
        run, expected = (engine.attend(model, "a b c d", "e f", stack=part) for engine in (candidate, local))
        assert (run.source, run.key_encoding, run.stack) == (expected.source, expected.key_encoding, part)
        assert same(run.head(1, 0), expected.head(1, 0))


def test_a_run_that_is_pickled_needs_no_engine_any_more(candidate: EngineInterface, local: Engine) -> None:
    run = pickle.loads(pickle.dumps(candidate.attend(DEFAULT_MODEL, TEXT)))
    assert same(run.layers, local.attend(DEFAULT_MODEL, TEXT).layers)


def test_several_texts(candidate: EngineInterface, local: Engine) -> None:
    for run, expected in zip(candidate.attend(DEFAULT_MODEL, TEXTS), local.attend(DEFAULT_MODEL, TEXTS), strict=True):
        assert run.encoding == expected.encoding
        np.testing.assert_allclose(run.head(1, 1), expected.head(1, 1), atol=1e-6)  # batches may be put together anew
    fills, expected_fills = (engine.fill_mask(DEFAULT_MODEL, [MASKED, "A [MASK]."], 3) for engine in (candidate, local))
    for mask, expected_mask in zip(sum(fills, ()), sum(expected_fills, ()), strict=True):
        assert [prediction.token for prediction in mask.best] == [prediction.token for prediction in expected_mask.best]


@pytest.mark.slow
def test_predictions_and_scores(candidate: EngineInterface, local: Engine) -> None:
    for ask in (
        lambda engine: engine.fill_mask(DEFAULT_MODEL, MASKED, targets=("cat", "##ing")),
        lambda engine: engine.mask_lens(DEFAULT_MODEL, MASKED),
        lambda engine: engine.mask_lens(DEFAULT_MODEL, MASKED, fitted=LENS),
        lambda engine: engine.ask(JudgeLens(DEFAULT_MODEL, (TEXT, PAIR), LENS, 2)),
        lambda engine: engine.contributions(DEFAULT_MODEL, TEXT, PAIR),
        lambda engine: engine.contributions(DEFAULT_MODEL, TEXT, measure="value zeroing"),
        lambda engine: engine.sinks(DEFAULT_MODEL, TEXT, PAIR),
        lambda engine: engine.token_scores(DEFAULT_MODEL, TEXT),
        lambda engine: engine.next_sentence(DEFAULT_MODEL, TEXT, PAIR),
        lambda engine: engine.vocabulary(DEFAULT_MODEL),
        lambda engine: engine.info(DEFAULT_MODEL),
        lambda engine: engine.dissect(DEFAULT_MODEL, TEXT, layer=2, head=5),
        lambda engine: engine.take_step(DEFAULT_MODEL, TEXT, 2),
        lambda engine: engine.why_not("embedded/bilstm", "nsp"),
        lambda engine: engine.encoded_states(DEFAULT_MODEL, TEXT, layers=[6, 0]),
        lambda engine: engine.output_projections(DEFAULT_MODEL),
        lambda engine: list(engine.fill_all(DEFAULT_MODEL, MASKED)),
        lambda engine: engine.ask(FillAll(DEFAULT_MODEL, MASKED)),
    ):
        assert same(ask(candidate), ask(local))


def test_recording(candidate: EngineInterface, local: Engine) -> None:
    at = ("layer.1.mlp.activation", "layer.*.attention.weights")
    assert same(candidate.record(DEFAULT_MODEL, TEXT, at=at).copy(), local.record(DEFAULT_MODEL, TEXT, at=at).copy())
    if not isinstance(candidate, Engine):
        with pytest.raises(NotSupported, match="cannot be sent"):
            candidate.edit({"layer.1.out": 0})


@pytest.mark.slow
def test_probing(candidate: EngineInterface, local: Engine) -> None:
    """A whole task: sentences encoded as a stream, probes fitted on what came."""
    settings = Settings(sentences=60, seeds=1)

    def result(engine: EngineInterface) -> Any:
        def encode(texts: Any, layers: Any = None) -> Any:
            return engine.iter_hidden_states(DEFAULT_MODEL, texts, layers=layers)

        events = list(probe(encode, [TASKS["sentence_length"]], settings))
        return next(event for event in events if isinstance(event, TaskResult))

    actual, expected = result(candidate), result(local)
    assert [layer.accuracy for layer in actual.layers] == [layer.accuracy for layer in expected.layers]


def test_comparing(candidate: EngineInterface, local: Engine) -> None:
    models = (DEFAULT_MODEL, "embedded/modernbert")

    def matrices(engine: EngineInterface) -> list[Any]:
        runs = {model: engine.attend(model, TEXT) for model in models}
        alignment = align([run.encoding for run in runs.values()])
        return [all_on_common_words(Weights(run), alignment.units[place]) for place, run in enumerate(runs.values())]

    assert same(matrices(candidate), matrices(local))
    events = list(candidate.measure_cost([DEFAULT_MODEL, "nobody/nothing"], (8,), 1))
    assert [event.model for event in events if isinstance(event, CostSubject)] == [DEFAULT_MODEL]
    assert [event.model for event in events if isinstance(event, CostFailure)] == ["nobody/nothing"]


def test_judging_streams(candidate: EngineInterface) -> None:
    scores = dict(candidate.iter_next_sentences(DEFAULT_MODEL, [(TEXT, PAIR), (PAIR, TEXT)]))
    assert set(scores) == {0, 1}
    assert all(isinstance(score, SentenceScore) for score in scores.values())
    with closing(candidate.stream(MeasureQuality("embedded/bilstm"))) as parts:
        first = next(parts)
    assert first.n_done < first.n_total


def test_failures(candidate: EngineInterface, local: Engine) -> None:
    for ask in (
        lambda engine: engine.attend(DEFAULT_MODEL, " "),
        lambda engine: engine.fill_mask(DEFAULT_MODEL, "No mask."),
        lambda engine: engine.fill_mask(DEFAULT_MODEL, [MASKED, "No mask."]),
        lambda engine: engine.next_sentence("embedded/bilstm", TEXT, PAIR),
        lambda engine: engine.attend("embedded/bilstm", TEXT),
        lambda engine: engine.attend(DEFAULT_MODEL, TEXT).head(99, 0),
        lambda engine: engine.attend(DEFAULT_MODEL, TEXT).head(0, 99),
        lambda engine: engine.attend(DEFAULT_MODEL, TEXT).value_norms(-7),
        lambda engine: engine.dissect(DEFAULT_MODEL, TEXT, layer=99),
        lambda engine: list(engine.fill_all(DEFAULT_MODEL, "No mask.")),
        lambda engine: list(engine.iter_next_sentences("embedded/bilstm", [(TEXT, PAIR)])),
        lambda engine: engine.attend("tuned/0123456789abcdef", TEXT),
        lambda engine: engine.tuned_folder("tuned/0123456789abcdef"),
    ):
        with pytest.raises(ModelZooError) as expected:
            ask(local)
        with pytest.raises(type(expected.value)) as raised:
            ask(candidate)
        assert str(raised.value) == str(expected.value)
        assert vars(raised.value) == vars(expected.value)


def test_a_model_that_is_nowhere(candidate: EngineInterface, no_hub: None) -> None:  # noqa: ARG001
    with pytest.raises(HubUnreachable, match="the hub that has it"):
        candidate.attend("nobody/nothing", TEXT)
    assert not candidate.has("nobody/nothing")
    assert candidate.has(DEFAULT_MODEL)


def test_equal_questions_are_answered_once(candidate: EngineInterface) -> None:
    """However many ask at the same moment: one run, and one object for all of them."""
    text = "Thirty students ask this at once."
    before = _n_asked(candidate)
    together = threading.Barrier(12)

    def ask(_number: int) -> Any:
        together.wait(PATIENCE)
        return candidate.fill_mask(DEFAULT_MODEL, f"{text} [MASK].")

    with ThreadPoolExecutor(12) as threads:
        answers = list(threads.map(ask, range(12)))
    assert all(answer is answers[0] for answer in answers)
    assert _n_asked(candidate) - before == 1


def _n_asked(engine: EngineInterface) -> int:
    """How many questions have come to where they are answered."""
    return engine.counts.requests if isinstance(engine, RemoteEngine) else engine.state().n_answered


def test_a_stream_that_is_closed_ends(candidate: EngineInterface) -> None:
    """Nobody reads on: what is at work ends, and others have their turn."""
    with closing(candidate.stream(MeasureCost((DEFAULT_MODEL,), (64,), 200))) as events:
        for event in events:
            if not isinstance(event, CostSubject):
                break

    def at_rest() -> bool:
        assert candidate.ask(ProbeHealth.example(DEFAULT_MODEL))  # tells of its replica's state, too
        return candidate.state().running == 0

    until(at_rest)


@pytest.mark.slow
def test_a_training_can_be_stopped_goes_on_and_gives_a_model(candidate: EngineInterface) -> None:
    example = Finetune.example(DEFAULT_MODEL)
    question = Finetune(DEFAULT_MODEL, example.data, example.settings, example.id, keep=True)
    with closing(candidate.stream(question)) as events:
        for event in events:
            if isinstance(event, Started):
                break
    done = [event for event in candidate.stream(question) if not isinstance(event, Heartbeat)]
    assert isinstance(done[-1], Tuned)
    assert candidate.info(question.id).tuned_for == "classification"
    assert {"config.json", "model.safetensors"} <= {file.name for file in candidate.tuned_folder(question.id).iterdir()}
    candidate.forget_tuned([question.id])


def test_remote_engines_keep_what_they_were_told(plain: RemoteEngine) -> None:
    plain.attend(DEFAULT_MODEL, TEXT).head(0, 0)
    n_requests = plain.counts.requests
    plain.attend(DEFAULT_MODEL, TEXT).head(0, 0)
    assert plain.counts.requests == n_requests
    plain.attend(DEFAULT_MODEL, TEXT).head(0, 1)
    assert plain.counts.requests == n_requests + 1
