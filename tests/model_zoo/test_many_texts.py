"""Many texts at once give what each gives alone: attention and hidden states, in order, without padding."""

from __future__ import annotations

import numpy as np
import pytest
from checkpoints import FAMILIES, N_LAYERS, TEXT, TEXT_PAIR, WIDTH, WITH_ATTENTION, Checkpoint

from model_zoo import Engine, running
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import AttentionRun, QueryKeyLayer

LSTM = "embedded/bilstm"
TEXTS: list[str | tuple[str, str]] = [TEXT, "cat", (TEXT_PAIR, "The dog was waiting."), TEXT_PAIR, "cat", "A [MASK]."]

# Their tiny checkpoints make rounding grow from layer to layer, XLNet's by wide weights, MobileBERT's by normalizing
# little.
ROUNDING = {"xlnet": 2e-5, "mobilebert": 2e-5}


def alone(engine: Engine, model: str, text: str | tuple[str, str]) -> AttentionRun:
    return engine.attend(model, text) if isinstance(text, str) else engine.attend(model, *text)


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_ATTENTION)
def test_attention_of_many_texts_is_that_of_each_alone(name: str, checkpoint: Checkpoint) -> None:
    model = str(checkpoint(name))
    together, single = Engine("cpu"), Engine("cpu")
    runs = together.attend(model, TEXTS)
    assert len(runs) == len(TEXTS)
    for text, run in zip(TEXTS, runs, strict=True):
        expected = alone(single, model, text)
        assert run.encoding == expected.encoding
        assert (run.n_layers, run.n_heads, run.stack) == (expected.n_layers, expected.n_heads, "encoder")
        for layer in range(run.n_layers):
            np.testing.assert_allclose(
                run.layer(layer), expected.layer(layer), atol=ROUNDING.get(name, 3e-6), rtol=5e-6
            )
            q, k, scores = run.query_key(layer, 1)
            for mine, theirs in zip((q, k), expected.query_key(layer, 1)[:2], strict=True):
                np.testing.assert_allclose(mine, theirs, atol=1e-4)
            assert scores.shape == (run.n_tokens, run.n_tokens)
            np.testing.assert_allclose(run.value_norms(layer), expected.value_norms(layer), atol=1e-4)
            np.testing.assert_allclose(run.norms_of_sum(layer), expected.norms_of_sum(layer), atol=1e-4, rtol=1e-4)


# Those that add something to q·k by position.
BIASED = [name for name, family in FAMILIES.items() if family.biased]


@pytest.mark.parametrize("name", ["bert", "gpt2", *BIASED, "longformer", "squeezebert"])
def test_a_run_of_many_holds_its_own_tokens_only(name: str, checkpoint: Checkpoint) -> None:
    """What padding took is not kept alive, and a mask that only hid padding is gone."""
    model = str(checkpoint(name))
    together, single = Engine("cpu"), Engine("cpu")
    for text, run in zip(TEXTS, together.attend(model, TEXTS), strict=True):
        assert run.n_bytes == alone(single, model, text).n_bytes
        for layer in run.layers:
            assert isinstance(layer, QueryKeyLayer)
            windowed = name == "longformer" and run.n_tokens > 5
            assert (layer.mask is None) == (name not in BIASED and not windowed)
            assert layer.causal == (name == "gpt2")
            for array in (layer.query, layer.key, layer.value, *([] if layer.mask is None else [layer.mask])):
                owner = array
                while owner.base is not None:
                    owner = owner.base
                assert owner.nbytes == array.nbytes


def test_many_texts_run_in_batches_within_the_limit(checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    model = str(checkpoint("bert"))
    engine = Engine("cpu")
    shapes = []
    engine.info(model)
    with engine._memory.lease(model) as loaded:
        inputs = loaded.inputs
        monkeypatch.setattr(loaded, "inputs", lambda encodings: shapes.append(len(encodings)) or inputs(encodings))
        monkeypatch.setattr(running, "_BATCH_TOKENS", 12)
        runs = engine.attend(model, ["cat", TEXT, "the cat", "dog", "mat"])
    assert [run.encoding.text for run in runs] == ["cat", TEXT, "the cat", "dog", "mat"]
    assert shapes[:1] == [3]  # three texts of three tokens; a fourth would make it 12 by the longest, 4 · 4
    assert sum(shapes) >= 5


def test_single_runs_and_runs_of_many_are_remembered_alike(
    checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = str(checkpoint("bert"))
    engine = Engine("cpu")
    first = engine.attend(model, TEXT, TEXT_PAIR)
    runs = engine.attend(model, [(TEXT, TEXT_PAIR), "cat", "cat"])
    assert runs[0] is first
    assert runs[1] is runs[2]
    monkeypatch.setattr(running, "attend", lambda *_: pytest.fail("it was run again"))
    assert engine.attend(model, "cat") is runs[1]
    assert engine.attend(model, []) == []


def test_what_cannot_be_read_in_a_list_is_named(engine: Engine) -> None:
    for ask in (engine.attend, engine.encoded_states):
        with pytest.raises(InvalidInput, match="Text 2 is empty"):
            ask(LSTM, ["cat", " "])
        with pytest.raises(InvalidInput, match="The second text of pair 1 is empty"):
            ask(LSTM, [("cat", "")])
    with pytest.raises(NotSupported, match="has no attention to show"):
        engine.attend(LSTM, ["cat"])


@pytest.mark.parametrize("name", ["bert", "roberta", "t5", "xlnet"])
def test_encoded_states_are_in_order_for_pairs_and_for_chosen_layers(name: str, checkpoint: Checkpoint) -> None:
    model = str(checkpoint(name))
    engine, single_texts = Engine("cpu"), Engine("cpu")
    actual = engine.encoded_states(model, TEXTS)
    for text, hidden in zip(TEXTS, actual, strict=True):
        expected = alone(engine, model, text)
        assert hidden.encoding == expected.encoding
        assert hidden.layers == tuple(range(N_LAYERS + 1))
        assert hidden.states.shape == (N_LAYERS + 1, expected.n_tokens, WIDTH)
        (single,) = single_texts.encoded_states(model, [text])
        np.testing.assert_allclose(hidden.states, single.states, atol=2e-4)
    some = engine.encoded_states(model, TEXTS, layers=[3, 0])
    for all_layers, two in zip(actual, some, strict=True):
        assert two.layers == (3, 0)
        np.testing.assert_array_equal(two.states, all_layers.states[[3, 0]])
    strings = [text for text in TEXTS if isinstance(text, str)]
    states = engine.hidden_states(model, strings)
    assert all(type(array) is np.ndarray for array in states)
    np.testing.assert_allclose(states[0], actual[0].states, atol=2e-4)


def test_layers_that_do_not_exist_are_refused(engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("bert"))
    for layer in (-1, N_LAYERS + 1):
        with pytest.raises(InvalidInput, match=rf"{layer} does not exist\. Choose one of these"):
            engine.encoded_states(model, ["cat"], layers=[layer])
    with pytest.raises(InvalidInput, match="No layer is chosen"):
        engine.encoded_states(model, ["cat"], layers=[])


@pytest.mark.parametrize("name", WITH_ATTENTION)
def test_hidden_states_come_from_the_pass_of_the_attention(name: str, checkpoint: Checkpoint) -> None:
    model = str(checkpoint(name))
    engine = Engine("cpu")
    apart = engine.encoded_states(model, TEXTS)
    runs = engine.attend(model, TEXTS, states=True)
    without = engine.attend(model, TEXTS)
    for text, run, single, expected in zip(TEXTS, runs, without, apart, strict=True):
        assert single.states is None
        assert run.states is not None
        assert run.n_bytes == single.n_bytes + run.states.n_bytes
        again = engine.attend(model, text, states=True) if isinstance(text, str) else run
        for either in (run, again):
            assert either.states is not None
            assert either.states.encoding == either.encoding == expected.encoding
            np.testing.assert_allclose(either.states.states, expected.states, atol=2e-4)
            assert (either.states.last_unnormed is None) == (expected.last_unnormed is None)
            if expected.last_unnormed is not None:
                np.testing.assert_allclose(either.states.last_unnormed, expected.last_unnormed, atol=2e-4)
        np.testing.assert_allclose(run.head(0, 0), single.head(0, 0), atol=ROUNDING.get(name, 3e-6), rtol=5e-6)


def test_one_pass_alone_gives_attention_and_states(checkpoint: Checkpoint) -> None:
    model = str(checkpoint("gpt2"))
    engine = Engine("cpu")
    engine.info(model)
    with engine._memory.lease(model) as loaded:
        assert loaded.final_norm is not None
        passes = []
        hook = loaded.encoder.register_forward_pre_hook(lambda *_: passes.append(1))
        run = engine.attend(model, TEXT, states=True)
        first = len(passes)
        assert engine.attend(model, TEXT, states=True) is run
        hook.remove()
    assert run.states is not None
    assert first - 1 == 1  # and one to find the output projections
    assert len(passes) == first


def test_a_pass_keeps_the_states_of_chosen_layers(engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("bert"))
    every = engine.attend(model, TEXT, states=True).states
    for run in (engine.attend(model, TEXT, states=[3, 0]), engine.attend(model, [TEXT], states=[3, 0])[0]):
        assert run.states is not None
        assert every is not None
        assert run.states.layers == (3, 0)
        np.testing.assert_allclose(run.states.states, every.states[[3, 0]], atol=2e-4)
    for ask in (TEXT, [TEXT]):
        with pytest.raises(InvalidInput, match="No layer is chosen"):
            engine.attend(model, ask, states=[])  # type: ignore[call-overload]
        with pytest.raises(InvalidInput, match=r"9 does not exist\. Choose one of these"):
            engine.attend(model, ask, states=[9])  # type: ignore[call-overload]


def test_a_decoder_runs_a_list_of_texts_and_has_no_states(engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("bart"))
    runs = engine.attend(model, [TEXT, (TEXT, TEXT_PAIR)], stack="cross")
    assert runs[0] is engine.attend(model, TEXT, stack="cross")
    assert runs[1] is engine.attend(model, TEXT, TEXT_PAIR, stack="cross")
    with pytest.raises(InvalidInput, match="Hidden states come with the part"):
        engine.attend(model, TEXT, stack="cross", states=True)
    with pytest.raises(InvalidInput, match="Put pairs into the list"):
        engine.attend(model, [TEXT], TEXT_PAIR)  # type: ignore[call-overload]


def test_a_list_is_cut_where_a_text_is(engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("bert"))
    (run,) = engine.attend(model, [TEXT], max_tokens=6)
    assert run.n_tokens == 6
    assert run.encoding == engine.attend(model, TEXT, max_tokens=6).encoding


def test_one_text_gives_one_result_and_a_list_a_list(engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("bert"))
    assert isinstance(engine.hidden_states(model, TEXT), np.ndarray)
    assert len(engine.hidden_states(model, [TEXT])) == 1
    assert engine.encoded_states(model, TEXT, layers=[1]).layers == (1,)
    single = engine.next_sentence(model, TEXT, TEXT_PAIR)
    (many,) = engine.next_sentence(model, [(TEXT, TEXT_PAIR)])
    assert many.p_next == pytest.approx(single.p_next, abs=1e-6)
    assert engine.next_sentence(model, []) == []


@pytest.mark.parametrize("name", WITH_ATTENTION)
def test_every_family_runs_where_half_precision_is_the_rule(name: str, checkpoint: Checkpoint) -> None:
    """As on a GPU; what its own code cannot run in half precision is held in float32."""
    model = str(checkpoint(name))
    engine = Engine("cpu", dtype="bfloat16")
    info = engine.info(model)
    assert info.dtype == ("float32" if info.family in ("deberta", "xlnet") else "bfloat16")
    (run,) = engine.attend(model, [TEXT], states=True)
    np.testing.assert_allclose(run.layer(0).sum(axis=-1), 1, atol=0.02)
    assert run.states is not None
    assert np.isfinite(run.states.states).all()
