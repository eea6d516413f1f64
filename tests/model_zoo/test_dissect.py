"""The steps through a layer, computed by hand, give the model's own hidden states; neighbours in the table of
embeddings, and how models are told positions.
"""

from collections.abc import Callable
from contextlib import ExitStack

import numpy as np
import pytest
import torch
from checkpoints import Checkpoint

from model_zoo import Engine
from model_zoo.errors import InvalidInput
from model_zoo.loading import LoadedModel
from model_zoo.types import Anatomy

SHIPPED = ("embedded/bert", "embedded/tinybert", "embedded/modernbert")
BUILT = ("distilbert", "roberta", "gpt2", "electra_generator", "albert", "xlm-roberta", "camembert")
WITHOUT = ("xlnet", "deberta-v2", "t5", "bart", "mobilebert", "ernie", "xlm-roberta-xl", "longformer")
TEXTS = (
    ("The cat sat on the mat because it was tired.", None),
    ("Unbelievably, she left “the old bank” at 9 o’clock!", None),
    ("Birds sing.", None),
    ("The cat sat.", "It slept."),
    ("A dog ran into the garden. " * 12, None),
)


def close(actual: np.ndarray, wanted: np.ndarray) -> None:
    """To 1e-5 of the size that the numbers have, which is 1 to 100: float32 holds seven digits of them."""
    assert actual == pytest.approx(wanted, abs=1e-5 * max(1.0, float(np.abs(wanted).max())))


def check(engine: Engine, model: str, text: str, pair: str | None) -> None:
    states = engine.encoded_states(model, text) if pair is None else engine.encoded_states(model, [(text, pair)])[0]
    run = engine.attend(model, text, pair)
    inputs = [*states.states[:-1], states.states[-1] if states.last_unnormed is None else states.last_unnormed]
    for layer in range(run.n_layers):
        head = layer % run.layers[layer].n_heads
        anatomy = engine.dissect(model, text, pair, layer=layer, head=head)
        close(anatomy.embeddings[-1].values, inputs[0])
        close(anatomy.stages[-1].values, inputs[layer + 1])
        assert (anatomy.stages[0].name, anatomy.stages[-1].name) == ("input", "output")
        assert anatomy.attention == pytest.approx(run.head(layer, head), abs=1e-5)
        query, key, scores = run.query_key(layer, head)
        close(anatomy.query, query)
        close(anatomy.key, key)
        seen = np.isfinite(scores)
        assert (np.isfinite(anatomy.scores) == seen).all()
        close(anatomy.scores[seen], scores[seen])


@pytest.mark.slow
@pytest.mark.parametrize("model", SHIPPED)
@pytest.mark.parametrize(("text", "pair"), TEXTS)
def test_steps_by_hand_are_the_models_own_vectors(model: str, text: str, pair: str | None, engine: Engine) -> None:
    check(engine, model, text, pair)


@pytest.mark.parametrize("family", BUILT)
def test_other_families_are_put_together_right(family: str, checkpoint: Checkpoint, engine: Engine) -> None:
    model = str(checkpoint(family))
    for text, pair in TEXTS:
        if engine.encode(model, text, pair).n_dropped == 0:
            check(engine, model, text, pair)


def stages(anatomy: Anatomy) -> dict[str, np.ndarray]:
    return {stage.name: stage.values.astype(np.float64) for stage in (*anatomy.embeddings, *anatomy.stages)}


def test_what_is_said_of_each_stage_holds_in_bert(engine: Engine) -> None:
    anatomy = engine.dissect("embedded/bert", TEXTS[0][0], layer=2, head=5)
    of, weights = stages(anatomy), anatomy.weights
    close(of["sum"], of["token"] + of["position"] + of["segment"])
    head = slice(5 * weights.query.shape[1], 6 * weights.query.shape[1])
    close(of["input"] @ weights.query + weights.query_bias, of["query"][:, head])
    close(of["input"] @ weights.value + weights.value_bias, of["value"][:, head])
    close(anatomy.attention @ of["value"][:, head], anatomy.context)
    close(of["context"][:, head], anatomy.context)
    close(of["after attention"], of["input"] + of["attention"])
    close(of["after feed-forward"], of["normed after attention"] + of["feed-forward"])
    assert all(name in of for stage in anatomy.stages for name in stage.made_of)


def test_what_stands_between_is_what_the_models_own_modules_give(engine: Engine) -> None:
    """Caught by hooks on the modules themselves, in a pass of their own."""
    text = TEXTS[0][0]
    anatomy = stages(engine.dissect("embedded/bert", text, layer=1))
    with engine._memory.lease("embedded/bert") as loaded:
        caught = hooked(loaded, text, ("attention.self", "attention.output", "intermediate", "output.dense"), 1)
    close(anatomy["context"], caught["attention.self"])
    close(anatomy["normed after attention"], caught["attention.output"])
    close(anatomy["active"], caught["intermediate"])
    close(anatomy["feed-forward"], caught["output.dense"])


def hooked(loaded: LoadedModel, text: str, paths: tuple[str, ...], layer: int) -> dict[str, np.ndarray]:
    caught: dict[str, np.ndarray] = {}
    modules = dict(loaded.encoder.encoder.layer[layer].named_modules())

    def keep(path: str) -> Callable[..., None]:
        def hook(_module: torch.nn.Module, _inputs: object, output: torch.Tensor | tuple[torch.Tensor, ...]) -> None:
            caught[path] = (output if isinstance(output, torch.Tensor) else output[0])[0].numpy()

        return hook

    with ExitStack() as hooks, torch.inference_mode():
        for path in paths:
            hooks.enter_context(modules[path].register_forward_hook(keep(path)))
        loaded.forward(loaded.encode(text))
    return caught


@pytest.mark.parametrize("family", WITHOUT)
def test_a_family_of_other_parts_says_so(family: str, checkpoint: Checkpoint, engine: Engine) -> None:
    model = str(checkpoint(family))
    anatomy = engine.dissect(model, "The cat sat on the mat.")
    assert [stage.name for stage in anatomy.stages] == ["input", "output"]
    assert "BERT" in anatomy.why_not
    assert anatomy.weights is None
    close(anatomy.stages[1].values, anatomy.states[1])


def test_a_model_without_attention_has_vectors(engine: Engine) -> None:
    anatomy = engine.dissect("embedded/bilstm", "The cat sat.")
    assert anatomy.attention.shape == (0, 0)
    assert len(anatomy.states) == anatomy.model.n_layers + 1


@pytest.mark.parametrize(("layer", "head"), [(6, 0), (-1, 0), (0, 12), (0, -1)])
def test_what_does_not_exist_is_refused(layer: int, head: int, engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="none with the number"):
        engine.nearest_tokens("embedded/bert", 10**6)
    with pytest.raises(InvalidInput, match=r"and no (layer|head)"):
        engine.dissect("embedded/bert", "The cat sat.", layer=layer, head=head)


CAT = 4937


@pytest.mark.slow
def test_neighbours_are_those_of_the_table(engine: Engine) -> None:
    neighbours = engine.nearest_tokens("embedded/bert", CAT, 5)
    with engine._memory.lease("embedded/bert") as loaded:
        table = loaded.encoder.embeddings.word_embeddings.weight.double().numpy()
        names = loaded.tokenizer.convert_ids_to_tokens(list(range(len(table))))
    assert names[CAT] == "cat"
    cosines = table @ table[CAT] / (np.linalg.norm(table, axis=1) * np.linalg.norm(table[CAT]))
    assert [near.cosine for near in neighbours] == pytest.approx([cosines[near.id] for near in neighbours], abs=1e-5)
    assert [near.token for near in neighbours] == [names[near.id] for near in neighbours]
    left = [place for place, name in enumerate(names) if place != CAT and not name.startswith("[")]
    assert neighbours[0].id == max(left, key=lambda place: cosines[place])
    assert [near.cosine for near in neighbours] == sorted((near.cosine for near in neighbours), reverse=True)


def test_learned_positions_are_the_rows_of_the_table(engine: Engine, checkpoint: Checkpoint) -> None:
    positions = engine.read_positions("embedded/bert", 12)
    anatomy = engine.dissect("embedded/bert", "The cat sat on the mat.")
    assert positions.kind == "learned"
    assert positions.table[: len(anatomy.encoding)] == pytest.approx(anatomy.stage("position").values)
    roberta = str(checkpoint("roberta"))  # whose table begins with rows that stand for padding
    table = engine.read_positions(roberta, 8).table
    text = engine.dissect(roberta, "The cat sat.").stage("position").values[:8]
    assert table[: len(text)] == pytest.approx(text)


def test_modernbert_turns_by_angles(engine: Engine) -> None:
    positions = engine.read_positions("embedded/modernbert")
    assert positions.kind == "rotary"
    with engine._memory.lease("embedded/modernbert") as loaded:
        config = loaded.model.config
        size = config.hidden_size // config.num_attention_heads
        for layer, kind in enumerate(config.layer_types):
            theta = config.rope_parameters[kind]["rope_theta"]
            wanted = theta ** -(np.arange(0, size, 2) / size)
            assert positions.frequencies[layer] == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("family", ["t5", "mpnet"])
def test_a_bias_is_added_by_distance(engine: Engine, checkpoint: Checkpoint, family: str) -> None:
    positions = engine.read_positions(str(checkpoint(family)), 6)
    assert positions.kind == "relative"
    for distance in range(-5, 6):
        diagonal = np.diagonal(positions.bias, distance, axis1=1, axis2=2)
        assert diagonal == pytest.approx(np.broadcast_to(diagonal[:, :1], diagonal.shape))


def test_a_network_without_positions_says_none(engine: Engine) -> None:
    assert engine.read_positions("embedded/bilstm").kind == "none"
    with pytest.raises(InvalidInput, match="at least two"):
        engine.read_positions("embedded/bert", 1)
