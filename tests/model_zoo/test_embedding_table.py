"""Neighbours in the table of embeddings, and how models are told positions."""

from __future__ import annotations

import numpy as np
import pytest
from checkpoints import Checkpoint

from model_zoo import Engine
from model_zoo.errors import InvalidInput

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


def test_a_token_that_does_not_exist_is_refused(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="none with the number"):
        engine.nearest_tokens("embedded/bert", 10**6)


def test_learned_positions_are_the_rows_of_the_table(engine: Engine, checkpoint: Checkpoint) -> None:
    positions = engine.read_positions("embedded/bert", 12)
    anatomy = engine.dissect("embedded/bert", "The cat sat on the mat.")
    assert positions.kind == "learned"
    assert positions.table is not None
    assert positions.table[: len(anatomy.encoding)] == pytest.approx(anatomy.stage("position").values)
    roberta = str(checkpoint("roberta"))  # whose table begins with rows that stand for padding
    table = engine.read_positions(roberta, 8).table
    assert table is not None
    text = engine.dissect(roberta, "The cat sat.").stage("position").values[:8]
    assert table[: len(text)] == pytest.approx(text)


def test_modernbert_turns_by_angles(engine: Engine) -> None:
    positions = engine.read_positions("embedded/modernbert")
    assert positions.kind == "rotary"
    assert positions.frequencies is not None
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
    assert positions.bias is not None
    for distance in range(-5, 6):
        diagonal = np.diagonal(positions.bias, distance, axis1=1, axis2=2)
        assert diagonal == pytest.approx(np.broadcast_to(diagonal[:, :1], diagonal.shape))


def test_a_network_without_positions_says_none(engine: Engine) -> None:
    assert engine.read_positions("embedded/bilstm").kind == "none"
    with pytest.raises(InvalidInput, match="at least two"):
        engine.read_positions("embedded/bert", 1)
