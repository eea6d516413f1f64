"""Many texts at once give what each gives alone: attention and hidden states, in order, without padding; the last layer
also before the final norm.
"""

from typing import Any

import numpy as np
import pytest
import torch
from checkpoints import FAMILIES, N_HEADS, N_LAYERS, TEXT, TEXT_PAIR, WIDTH, WITH_ATTENTION, Checkpoint
from transformers import AutoModel

from model_zoo import Engine, running
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import AttentionRun

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
# How many masks a run holds beside 3 layers of 3 · 32 numbers a token, and bytes of a cell: MPNet a bias of 4 heads and
# Longformer a window for all layers, DeBERTa and XLNet a bias in each.
MASKS = {"bert": (0, 0), "squeezebert": (0, 0), "longformer": (1, 1), "mpnet": (1, 4 * N_HEADS)}
MASKS |= dict.fromkeys(("deberta", "deberta-v2", "xlnet"), (N_LAYERS, 4 * N_HEADS))


def storage(array: Any) -> int:
    """The bytes that an array keeps alive."""
    while getattr(array, "base", None) is not None:
        array = array.base
    return array.untyped_storage().nbytes() if isinstance(array, torch.Tensor) else array.nbytes


@pytest.mark.parametrize("name", ["bert", "gpt2", *BIASED, "longformer", "squeezebert"])
def test_a_run_holds_its_own_tokens_only(name: str, checkpoint: Checkpoint) -> None:
    """What padding took is not kept alive, and a mask that only hid padding is gone."""
    model = str(checkpoint(name))
    together, single = Engine("cpu"), Engine("cpu")
    for text, run in zip(TEXTS, together.attend(model, TEXTS), strict=True):
        by_itself, n = alone(single, model, text), run.n_tokens
        assert run.n_bytes == by_itself.n_bytes
        if name in MASKS and n > 5:
            n_masks, cell = MASKS[name]
            assert run.n_bytes == N_LAYERS * 3 * WIDTH * 4 * n + n_masks * cell * n * n
        for layer in run.layers:
            assert (layer.mask is None) == (name not in BIASED and not (name == "longformer" and n > 5))
            assert layer.causal == (name == "gpt2")
            assert layer.mask is None or storage(layer.mask) == layer.mask.nbytes
        for layer in (*run.layers, *(by_itself.layers if name in MASKS else ())):
            for array in (layer.query, layer.key, layer.value):
                assert storage(array) == array.nbytes


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


def test_single_runs_and_many_are_remembered_alike(checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_encoded_states_are_in_order_and_of_chosen_layers(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint(name))
    actual = engine.encoded_states(model, TEXTS)
    runs = engine.attend(model, TEXTS, states=[3, 0])
    some = engine.encoded_states(model, TEXTS, layers=[3, 0])
    for text, hidden, run, two in zip(TEXTS, actual, runs, some, strict=True):
        expected = alone(engine, model, text)
        assert hidden.encoding == run.encoding == expected.encoding
        assert hidden.layers == tuple(range(N_LAYERS + 1))
        assert hidden.states.shape == (N_LAYERS + 1, expected.n_tokens, WIDTH)
        assert run.states.layers == two.layers == (3, 0)
        np.testing.assert_allclose(two.states, hidden.states[[3, 0]], atol=2e-4)  # one may be known from elsewhere
        np.testing.assert_allclose(run.states.states, two.states, atol=2e-4)
    strings = [text for text in TEXTS if isinstance(text, str)]
    states = engine.hidden_states(model, strings)
    assert all(type(array) is np.ndarray for array in states)
    np.testing.assert_allclose(states[0], actual[0].states, atol=2e-4)
    for layers, message in (([], "No layer is chosen"), ([9], "9 does not exist"), ([-1], "-1 does not exist")):
        for texts in (TEXT, [TEXT]):
            with pytest.raises(InvalidInput, match=message):
                engine.attend(model, texts, states=layers)  # type: ignore[call-overload]
        with pytest.raises(InvalidInput, match=message):
            engine.encoded_states(model, ["cat"], layers=layers)


@pytest.mark.parametrize("name", WITH_ATTENTION)
def test_hidden_states_come_from_the_pass_of_the_attention(name: str, checkpoint: Checkpoint) -> None:
    """In half precision, as on a GPU, too; what its own code cannot run in that is held in float32."""
    model = str(checkpoint(name))
    engine, half = Engine("cpu"), Engine("cpu", dtype="bfloat16")
    info = half.info(model)
    assert info.dtype == ("float32" if info.family in ("deberta", "xlnet") else "bfloat16")
    (run,) = half.attend(model, [TEXT], states=True)
    np.testing.assert_allclose(run.layer(0).sum(axis=-1), 1, atol=0.02)
    assert np.isfinite(run.states.states).all()
    apart = engine.encoded_states(model, TEXTS)
    runs = engine.attend(model, TEXTS, states=True)
    without = engine.attend(model, TEXTS)
    for text, run, single, expected in zip(TEXTS, runs, without, apart, strict=True):
        with pytest.raises(InvalidInput, match="states=True"):
            _ = single.states
        assert run.n_bytes == single.n_bytes + run.states.n_bytes
        again = engine.attend(model, text, states=True) if isinstance(text, str) else run
        for either in (run, again):
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
        assert loaded.final_norm is not None  # which takes passes of its own to find
        passes = []
        with loaded.encoder.register_forward_pre_hook(lambda *_: passes.append(1)):
            run = engine.attend(model, TEXT, states=True)
            first = len(passes)
            assert engine.attend(model, TEXT, states=True) is run
    assert first - 1 == 1  # and one to find the output projections
    assert len(passes) == first


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


@pytest.mark.parametrize("name", FAMILIES)
def test_the_last_layer_is_known_before_the_final_norm(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """Against what the last layer's own module gives, one text at a time; two texts share a padded batch here."""
    folder = checkpoint(name)
    states = dict(engine.iter_hidden_states(str(folder), [TEXT, TEXT_PAIR]))
    final_norm = FAMILIES[name].final_norm
    if final_norm is None:
        assert [hidden.last_unnormed for hidden in states.values()] == [None, None]
        return
    model = AutoModel.from_pretrained(folder).eval()
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    norm = model.get_submodule(final_norm)
    layers = next(m for m in model.modules() if isinstance(m, torch.nn.ModuleList) and len(m) == N_LAYERS)
    outputs: list[torch.Tensor] = []
    layers[-1].register_forward_hook(lambda *inputs: outputs.append(inputs[2]))
    for hidden in states.values():
        with torch.no_grad():
            model(input_ids=torch.tensor([hidden.encoding.ids]))
        last = outputs[-1][0] if isinstance(outputs[-1], tuple) else outputs[-1]
        np.testing.assert_allclose(hidden.last_unnormed, last[0].numpy(), atol=1e-4)
        with torch.no_grad():
            normed = norm(torch.from_numpy(hidden.last_unnormed.copy()))
        np.testing.assert_allclose(hidden.states[-1], normed.numpy(), atol=1e-4)


A, B = "The cat sat on the mat.", "It was tired of the long day."
PAIRS = [
    (A, B),
    (B, A),
    ("She walked home.", "The river is wide here, but the water is not deep."),
    ("Who wrote this letter?", "He."),
    (A + " " + B, "If it rains tomorrow, we will stay at home and read."),
]


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.nsp])
def test_scores_in_batches(name: str, engine: Engine, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    model = str(checkpoint(name))
    alone = [engine.next_sentence(model, a, b).p_next for a, b in PAIRS]
    engine.close()  # or it would remember them
    together = dict(engine.iter_next_sentences(model, PAIRS))
    assert [together[place].p_next for place in range(len(PAIRS))] == pytest.approx(alone, abs=1e-4)
    monkeypatch.setattr("model_zoo.questions.judge_pair._WINDOW", 2)
    monkeypatch.setattr("model_zoo.running._BATCH_TOKENS", 1)
    engine.close()
    apart = dict(engine.iter_next_sentences(model, PAIRS))
    assert [apart[place].p_next for place in range(len(PAIRS))] == pytest.approx(alone, abs=1e-4)


def test_roberta_says_that_it_dropped_it(engine: Engine, checkpoint: Checkpoint) -> None:
    with pytest.raises(NotSupported, match=r"left next-sentence prediction out of training.*Liu et al\. 2019"):
        engine.next_sentence(str(checkpoint("roberta")), A, B)


def test_an_empty_sentence_is_named(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="Sentence A is empty"):
        engine.next_sentence("embedded/bert", " ", B)
    with pytest.raises(InvalidInput, match="Sentence B of pair 2 is empty"):
        list(engine.iter_next_sentences("embedded/bert", [(A, B), (A, "")]))


def test_the_embedded_model_tells_what_follows(engine: Engine) -> None:
    follows = engine.next_sentence("embedded/bert", "She opened the window.", "Cold air came into the room.")
    random = engine.next_sentence("embedded/bert", "She opened the window.", "Penguins are birds.")
    assert follows.p_next > 0.9
    assert random.p_next < 0.5
