"""Any activation by one set of names for all families: recorded, held against the weights and the modules that make it,
and edited.
"""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from architectures import build
from checkpoints import FAMILIES, TEXT, WITH_ATTENTION, Checkpoint

from evidence import survey
from model_zoo import DEFAULT_MODEL, Engine
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import Change, Recording

SENTENCE = "The dogs near the house [MASK] hungry."
BY_STAGE = {
    "attention": "attention.out",
    "after attention": "attention.residual",
    "normed before": "attention.norm",
    "normed after attention": "attention.norm",
    "normed between": "mlp.norm",
    "inner": "mlp.inner",
    "active": "mlp.activation",
    "feed-forward": "mlp.out",
    "after feed-forward": "mlp.residual",
    "input": "in",
    "output": "out",
}
# Of families whose layers nobody describes, the modules that add what blocks add: attention's, and the last two
# matrices of the feed-forward block.
BY_MODULE = {
    "bart": ("layers.1.self_attn.out_proj", "layers.1.fc1", "layers.1.fc2"),
    "big_bird": (
        "encoder.layer.1.attention.output.dense",
        "encoder.layer.1.intermediate.dense",
        "encoder.layer.1.output.dense",
    ),
    "deberta": (
        "encoder.layer.1.attention.output.dense",
        "encoder.layer.1.intermediate.dense",
        "encoder.layer.1.output.dense",
    ),
    "mpnet": ("encoder.layer.1.attention.attn.o", "encoder.layer.1.intermediate.dense", "encoder.layer.1.output.dense"),
    "t5": ("block.1.layer.0.SelfAttention.o", "block.1.layer.1.DenseReluDense.wi", "block.1.layer.1.DenseReluDense.wo"),
}


def close(actual: Any, expected: Any, share: float = 2e-5) -> None:
    """Whether numbers are the same but for rounding, of the largest."""
    np.testing.assert_allclose(actual, expected, atol=share * max(1.0, float(np.abs(expected).max())), rtol=0)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_has_the_same_places(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """What stands at one place follows from what stands at others."""
    model = str(checkpoint(name))
    recorded = engine.record(model, TEXT, at="*")
    states = engine.encoded_states(model, TEXT)
    if name in WITH_ATTENTION:
        run = engine.attend(model, TEXT)
        for layer in range(run.n_layers):
            close(recorded[f"layer.{layer}.attention.weights"], run.layer(layer))
    if name == "squeezebert":  # whose layers are not called as modules
        assert {place.split(".")[2] for place in recorded.activations} == {"attention"}
        return
    close(recorded["final"], states.states[-1])
    for layer in range(len(states.states) - 1):
        at = {place.removeprefix(f"layer.{layer}."): part for place, part in recorded.activations.items()}
        close(at["in"], states.states[layer])
        if "attention.context" in at:
            values = at["attention.values"]
            group = len(at["attention.weights"]) // len(values)
            close(at["attention.context"], at["attention.weights"] @ np.repeat(values, group, axis=0))
        if name == "mobilebert":  # whose layers have four feed-forward blocks
            continue
        if name != "fnet":
            close(at["in"] + at["attention.out"], at["attention.residual"])
        streams = [
            at[place] for place in ("attention.residual", "attention.norm") if place in at
        ]  # pre-norm, post-norm
        largest = np.abs(at["mlp.residual"]).max()
        assert any(np.abs(stream + at["mlp.out"] - at["mlp.residual"]).max() < 1e-4 * largest for stream in streams)
        assert at["mlp.activation"].shape[-1] == at["mlp.inner"].shape[-1] > at["mlp.out"].shape[-1]


@pytest.mark.parametrize("name", ["albert", "bert", "distilbert", "electra_generator", "gpt2", "modernbert", "roberta"])
def test_they_are_what_the_weights_make(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """Against every stage computed in float64 from the weights, in a layer that is not the first."""
    model = str(checkpoint(name))
    recorded = engine.record(model, TEXT, at="layer.1.*")
    anatomy = engine.dissect(model, TEXT, layer=1)
    compared = {stage.name: stage.values for stage in anatomy.stages if stage.name in BY_STAGE}
    assert len(compared) >= 9
    for stage, values in compared.items():
        close(recorded[f"layer.1.{BY_STAGE[stage]}"], values)


def test_what_a_network_adds_to_afterwards_is_recorded_as_it_was(engine: Engine, tmp_path: Path) -> None:
    """Falcon writes the sum of its blocks over what the second gave; Mamba has no place of a name."""
    model = str(build("Falcon", "Model", tmp_path / "falcon"))
    engine.encode(model, TEXT)
    with engine._memory.lease(model, False) as loaded:
        given: list[Any] = []
        outer = loaded.encoder.get_submodule("h.1.mlp.dense_4h_to_h")
        with outer.register_forward_hook(lambda _, __, out: given.append(out[0].clone())):
            recorded = engine.record(model, TEXT, at="layer.1.mlp.out")
    np.testing.assert_array_equal(recorded["layer.1.mlp.out"], given[-1].numpy())
    with pytest.raises(InvalidInput, match="No activation"):
        engine.record(str(build("Mamba", "Model", tmp_path / "mamba")), TEXT, at="*")


@pytest.mark.parametrize("name", BY_MODULE)
def test_they_are_what_the_modules_give(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """Against hooks of torch on modules that are named here, by reading each family's code."""
    attention, inner, outer = BY_MODULE[name]
    engine.encode(str(checkpoint(name)), TEXT)
    with engine._memory.lease(str(checkpoint(name)), False) as loaded:
        passed: dict[str, Any] = {}
        modules = {path: loaded.encoder.get_submodule(path) for path in (attention, inner, outer)}
        for path, module in modules.items():
            module.register_forward_hook(lambda _, args, out, path=path: passed.update({path: (args[0], out)}))
        recorded = engine.record(str(checkpoint(name)), TEXT, at="layer.1.*")
        n = len(recorded.encoding)
        for place, value in (
            ("attention.out", passed[attention][1]),
            ("mlp.inner", passed[inner][1]),
            ("mlp.activation", passed[outer][0]),
            ("mlp.out", passed[outer][1]),
        ):
            np.testing.assert_array_equal(recorded[f"layer.1.{place}"], value[0, :n].float().numpy())


def test_a_list_is_recorded_as_each_text_is(engine: Engine) -> None:
    at = ("embeddings", "layer.5.attention.*", "layer.*.mlp.activation")
    texts = ["The cat sat.", ("She slept.", "It was late and dark outside."), SENTENCE]
    for text, recorded in zip(texts, engine.record(DEFAULT_MODEL, texts, at=at), strict=True):
        single = engine.record(DEFAULT_MODEL, *((text,) if isinstance(text, str) else text), at=at)
        assert list(recorded.activations) == list(single.activations)
        assert isinstance(pickle.loads(pickle.dumps(single)), Recording)
        for place, part in single.activations.items():
            close(recorded[place], part, 1e-5)
            with pytest.raises(ValueError, match="read-only"):
                part[:] = 0
    assert recorded.copy()["embeddings"].flags.writeable
    assert ("embeddings" in recorded, "final" in recorded, len(recorded)) == (True, False, 15)
    assert tuple(recorded) == recorded.places


def test_a_place_that_is_not_there_is_refused(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match=r"layer\.L\.mlp\.out.*L from 0 to 5"):
        engine.record(DEFAULT_MODEL, SENTENCE, at="layer.6.out")
    with pytest.raises(InvalidInput, match="No place"):
        engine.record(DEFAULT_MODEL, SENTENCE, at=[])
    with pytest.raises(InvalidInput, match="was not recorded"):
        _ = engine.record(DEFAULT_MODEL, SENTENCE, at="final")["embeddings"]


def log_p(predictions: Any) -> float:
    (prediction,) = predictions
    return prediction.targets[0].log_probability


@pytest.mark.parametrize("name", ["bert", "albert", "bart", "distilbert", "deberta", "mpnet", "modernbert"])
def test_edits_are_what_interventions_do(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """A block, a head and an edge, each off by an edit and by the intervention of that name; ALBERT's layers are one
    module.
    """
    model = str(checkpoint(name))
    text, target = "The cat [MASK] on the mat.", [50]

    def head_off(context: torch.Tensor) -> None:
        context[:, 2] = 0

    cases: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"layer.1.attention.out": 0.0}, {"attention": [1]}),
        ({"layer.2.mlp.out": torch.zeros_like}, {"feed_forward": [2]}),
        ({"layer.*.mlp.out": 0.0}, {"feed_forward": [0, 1, 2]}),
    ]
    if FAMILIES[name].interface:
        cases.append(({"layer.2.attention.context": head_off}, {"heads": [(2, 2)]}))
    plain = log_p(engine.fill_mask(model, text, targets=target))
    for edits, parts in cases:
        edited = log_p(engine.edit(edits).fill_mask(model, text, targets=target))
        assert edited == pytest.approx(log_p(engine.ablate(model, text, targets=target, **parts)), abs=1e-5)
        assert abs(edited - plain) > 1e-4
    # Under an edit, an intervention changes the edited run, whatever was remembered of the other.
    both = engine.edit({"layer.2.mlp.out": 0.0}).ablate(model, text, attention=[1], targets=target)
    expected = engine.ablate(model, text, attention=[1], feed_forward=[2], targets=target)
    assert log_p(both) == pytest.approx(log_p(expected), abs=1e-5)
    assert log_p(engine.fill_mask(model, text, targets=target)) == plain


@pytest.mark.parametrize("name", ["bert", "deberta", "xlnet"])
def test_an_attention_map_is_replaced(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """With the identity, every token's context is its own value, and the run shows the map that was put in."""
    model = str(checkpoint(name))
    identity = np.eye(len(engine.encode(model, TEXT)))
    edited = engine.edit({"layer.1.attention.weights": identity})
    recorded = edited.record(model, TEXT, at=["layer.1.attention.*", "layer.1.in", "layer.0.out"])
    close(recorded["layer.1.attention.context"], recorded["layer.1.attention.values"])
    run = edited.attend(model, TEXT)
    np.testing.assert_array_equal(run.layer(1), np.broadcast_to(identity, run.layer(1).shape))
    plain = engine.attend(model, TEXT)
    close(run.layer(0), plain.layer(0))
    assert np.abs(run.layer(2) - plain.layer(2)).max() > 1e-3


def test_queries_are_edited(engine: Engine) -> None:
    """Zero queries look everywhere alike."""
    edited = engine.edit({"layer.3.attention.queries": 0})
    n = len(engine.encode(DEFAULT_MODEL, TEXT))
    close(edited.attend(DEFAULT_MODEL, TEXT).layer(3), np.full((12, n, n), 1 / n))


def test_what_was_recorded_of_another_text_is_put_in(engine: Engine) -> None:
    place = "layer.2.attention.queries"
    recorded = engine.record(DEFAULT_MODEL, "The dog near the house [MASK] hungry.", at=place)[place]
    edited = engine.edit({place: recorded}).record(DEFAULT_MODEL, SENTENCE, at=place)
    np.testing.assert_array_equal(edited[place], recorded)


def test_a_direction_is_added_to_the_stream(engine: Engine) -> None:
    """As a hook of torch adds it to what a layer gives."""
    direction = np.random.default_rng(0).normal(size=384).astype(np.float32)
    states = engine.edit({"layer.2.out": lambda stream: stream + torch.from_numpy(direction)}).hidden_states(
        DEFAULT_MODEL, SENTENCE
    )
    with engine._memory.lease(DEFAULT_MODEL, False) as loaded, torch.inference_mode():
        layer = loaded.encoder.encoder.layer[2]
        with layer.register_forward_hook(lambda _, __, out: out + torch.from_numpy(direction)):
            expected = loaded.forward(loaded.encode(SENTENCE), output_hidden_states=True).hidden_states
    close(states, torch.cat(expected).numpy(), 1e-6)


def test_a_pattern_edits_a_place_of_two_names_once(engine: Engine) -> None:
    """What enters layer 0 are the embeddings; what leaves BERT's last layer is what its head reads."""
    expected = 2 * engine.record(DEFAULT_MODEL, SENTENCE, at="embeddings")["embeddings"]
    edited = engine.edit({"*[ens]": lambda states: 2 * states if states.shape[-1] == 384 else states})
    np.testing.assert_array_equal(edited.record(DEFAULT_MODEL, SENTENCE, at="embeddings")["embeddings"], expected)


def test_edits_go_on_from_edits(engine: Engine) -> None:
    twice = engine.edit({"layer.2.out": 3.0}).edit({"layer.2.out": lambda states: states + 1, "layer.4.mlp.out": 0})
    recorded = twice.record(DEFAULT_MODEL, SENTENCE, at=["layer.2.out", "layer.4.mlp.out"])
    assert {float(part.max()) for part in recorded.arrays} == {4.0, 0.0}


def test_weights_in_windows_are_no_maps_to_edit(engine: Engine, checkpoint: Checkpoint) -> None:
    with pytest.raises(NotSupported, match="in windows"):
        engine.edit({"layer.1.attention.weights": lambda weights: weights}).attend(str(checkpoint("longformer")), TEXT)


def test_a_survey_is_one_of_the_edited_network(engine: Engine) -> None:
    """Zero queries in a layer: its heads look everywhere alike."""
    edited = engine.edit({"layer.0.attention.queries": 0})
    texts = ["The cat sat on the mat.", "She slept."]
    rows = survey(texts, "embedded/tinybert", engine=edited).results.statistics.measure("relative_entropy")
    np.testing.assert_allclose(rows[:4], 1, atol=1e-5)
    assert (rows[4:] < 0.99).all()


def test_an_edit_that_fails_is_told(engine: Engine, checkpoint: Checkpoint) -> None:
    def ask(edits: dict[str, Any], model: str = DEFAULT_MODEL) -> None:
        engine.edit(edits).fill_mask(model, "The [MASK] sat.")

    with pytest.raises(InvalidInput, match=r"layer\.1\.out failed.*no key"):
        ask({"layer.1.out": lambda _: {}["no key"]})
    with pytest.raises(InvalidInput, match=r"\(1, 2, 384\) of \(1, 6, 384\)"):
        ask({"layer.1.out": lambda stream: stream[:, :2]})
    with pytest.raises(InvalidInput, match="no place"):
        ask({"layer.1.nowhere": 0})
    with pytest.raises(InvalidInput, match="asks the engine"):  # which would wait for itself
        ask({"layer.1.out": lambda _: engine.hidden_states(DEFAULT_MODEL, "Another text.")})
    with pytest.raises(InvalidInput, match="nothing to edit"):
        ask({})
    with pytest.raises(NotSupported, match="its weights can be edited"):
        ask({"layer.1.attention.queries": 0}, str(checkpoint("deberta")))
    assert engine.intervene(DEFAULT_MODEL, SENTENCE, [Change()]).readings[0].divergence == pytest.approx(0, abs=1e-6)
