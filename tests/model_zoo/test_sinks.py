"""What heads do with special tokens equals what is written out by hand and by plain loops, in every family."""

import builders
import numpy as np
import pytest
from checkpoints import FAMILIES, TEXT, TEXT_PAIR, WITH_ATTENTION, Checkpoint
from sink_runs import SENTENCE, looks_at, run_of

from model_zoo import Engine, registry
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.sinks import measure_run
from model_zoo.types import AttentionRun, Sinks

BUNDLED = [spec.id for spec in registry.MODELS.values() if spec.hub_id is None and spec.attention]


def by_loops(run: AttentionRun, layer: int, head: int, place: int) -> dict[str, float]:
    """All numbers of one head and one special token, from vectors as wide as the model."""
    projection = run.output_projections[layer]
    special = run.encoding.special if any(run.encoding.special) else (True, *[False] * (run.n_tokens - 1))
    queries = [query for query in range(run.n_tokens) if not special[query]]
    weights, f = run.head(layer, head), run.value(layer, head).astype(np.float64) @ projection[head]
    any_head = run.layer(layer).max(axis=0)
    stream = np.mean([np.linalg.norm(run.states.states[layer, query]) for query in queries])
    updates = np.array([sum(weights[query, key] * f[key] for key in range(run.n_tokens)) for query in queries])
    squares = np.linalg.svd(updates, compute_uv=False) ** 2
    shares = [square / squares.sum() for square in squares if square > 1e-12 * squares.sum()]
    lengths = [float(np.linalg.norm(update)) for update in updates]
    return {
        "share": np.mean([weights[query, place] for query in queries]),
        "even": np.mean([(any_head[query, place] > 0) / (any_head[query] > 0).sum() for query in queries]),
        "value": float(np.linalg.norm(f[place])),
        "ordinary_value": np.mean([np.linalg.norm(f[query]) for query in queries]),
        "stream": stream,
        "added": np.mean([np.linalg.norm(weights[query, place] * f[place]) for query in queries]) / stream,
        "update": np.mean(lengths) / stream,
        "common": np.linalg.norm(updates.mean(axis=0)) ** 2 / np.mean(np.square(lengths)),
        "rank": np.exp(-sum(share * np.log(share) for share in shares)),
    }


def of_head(sinks: Sinks, layer: int, head: int, token: int) -> dict[str, float]:
    """The same numbers of a result."""
    of_token = {name: getattr(sinks, name)[layer, head, token] for name in ("share", "value", "added")}
    full = {name: getattr(sinks, name)[layer, head] for name in ("ordinary_value", "update", "common", "rank")}
    return {**of_token, **full, "even": sinks.even[layer, token], "stream": sinks.stream[layer]}


@pytest.mark.parametrize("name", [*(pytest.param(name, marks=pytest.mark.slow) for name in BUNDLED), *WITH_ATTENTION])
def test_every_model_gives_what_plain_loops_give(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """Padding, windows, grouped keys and relative positions included; of an encoder-decoder, its encoder."""
    model = name if name in BUNDLED else str(checkpoint(name))
    pair = None if name in FAMILIES and FAMILIES[name].cross_attention else TEXT_PAIR
    sinks, run = engine.sinks(model, TEXT, pair), engine.attend(model, TEXT, pair, states=True)
    assert sinks.encoding == run.encoding
    assert [sinks.encoding.special[place] for place in sinks.places] == [any(run.encoding.special)] * len(sinks.places)
    assert sinks.share.shape == (run.n_layers, run.n_heads, len(sinks.places))
    for layer, head in ((0, 0), (run.n_layers - 1, run.n_heads - 1)):
        for token, place in enumerate(sinks.places):
            assert of_head(sinks, layer, head, token) == pytest.approx(
                by_loops(run, layer, head, place), rel=1e-4, abs=1e-5
            )


def test_two_tokens_by_hand() -> None:
    """[CLS] with the value (3, 4) gets 1/4 of the one word's attention; the word's own value is (0, 2), what it adds to
    (0, 10).
    """
    encoding = builders.encoding(["word"], end=None)
    sinks = measure_run(run_of([[[0.5, 0.5], [0.25, 0.75]]], [[[3, 4], [0, 2]]], [[7, 7], [0, 10]], encoding))
    assert (sinks.places, sinks.tokens, sinks.n_queries) == ((0,), ("[CLS]",), 1)
    assert of_head(sinks, 0, 0, 0) == pytest.approx(
        {
            "share": 0.25,
            "even": 0.5,
            "value": 5,
            "ordinary_value": 2,
            "stream": 10,
            "added": 0.125,
            "update": np.hypot(0.75, 2.5) / 10,  # 1/4 · (3, 4) + 3/4 · (0, 2)
            "common": 1,
            "rank": 1,
        }
    )


def test_the_rank_of_one_vector_is_one_and_of_orthogonal_ones_their_number() -> None:
    n = len(SENTENCE)
    orthogonal, stream = np.eye(n)[None], np.ones((n, n))
    all_to_one = measure_run(run_of(looks_at(0, 1.0), orthogonal, stream))
    assert (all_to_one.rank[0, 0], all_to_one.common[0, 0]) == pytest.approx((1, 1))
    each_to_itself = measure_run(run_of(np.eye(n)[None], orthogonal, stream))
    assert (each_to_itself.rank[0, 0], each_to_itself.common[0, 0]) == pytest.approx((5, 1 / 5))  # of five words
    assert each_to_itself.share.max() == 0


def test_a_head_that_adds_nothing_has_neither_rank_nor_direction() -> None:
    sinks = measure_run(run_of(looks_at(6, 0.9), np.zeros((1, 7, 2)), np.ones((7, 2))))
    assert sinks.share[0, 0, 1] == pytest.approx(0.9)
    assert (sinks.added.max(), sinks.update.max()) == (0, 0)
    assert np.isnan([sinks.common[0, 0], sinks.rank[0, 0]]).all()


def test_the_first_token_stands_for_special_ones(engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("gpt2"))
    assert engine.sinks(model, "The cat sat.").places == (0,)
    with pytest.raises(InvalidInput, match="Type a sentence"):
        engine.sinks(model, "a")


def test_what_cannot_be_measured_is_refused_in_a_sentence(engine: Engine, checkpoint: Checkpoint) -> None:
    with pytest.raises(NotSupported, match="has no attention to show"):
        engine.sinks("embedded/bilstm", TEXT)
    with pytest.raises(NotSupported, match="has no attention to show"):
        engine.sinks(str(checkpoint("fnet")), TEXT)
    with pytest.raises(InvalidInput, match="measured from the other tokens"):
        engine.sinks("embedded/bert", "[SEP]")
    maps = builders.run(
        SENTENCE,
        builders.random_maps(0, 1, 7, 7),
        hidden_states=run_of(looks_at(0, 0.5), np.ones((1, 7, 2)), np.ones((7, 2))).states,
    )
    with pytest.raises(NotSupported, match="gives finished attention maps only"):
        measure_run(maps)
