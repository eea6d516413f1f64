"""What a run gives of every family: weights, queries and keys, and its size."""

from __future__ import annotations

import inspect
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import checkpoints
import numpy as np
import pytest
import torch
from by_transformers import slow_maps
from checkpoints import FAMILIES, TEXT, TEXT_PAIR, WITH_ATTENTION, Checkpoint

from model_zoo import Engine
from model_zoo.types import QueryKeyLayer


@pytest.mark.parametrize("name", WITH_ATTENTION)
def test_scores_through_softmax_are_the_weights(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """Of a single token, which has nothing but itself to look at, too: those of eager attention."""
    single = engine.attend(str(checkpoint(name)), "cat")
    for layer, maps in enumerate(slow_maps(checkpoint(name), "cat", None)):
        np.testing.assert_allclose(single.layer(layer), maps, atol=1e-5)
    assert {type(layer) for layer in single.layers} == {QueryKeyLayer}
    run = engine.attend(str(checkpoint(name)), TEXT, TEXT_PAIR)
    q, k, scores = run.query_key(1, 2)
    width = FAMILIES[name].sizes.get("intra_bottleneck_size", checkpoints.WIDTH)
    assert q.shape == k.shape == (run.n_tokens, width // checkpoints.N_HEADS)
    weights = torch.from_numpy(scores.copy()).softmax(-1).numpy()
    np.testing.assert_allclose(run.head(1, 2), weights, atol=1e-6)
    if run.layers[1].mask is None and not run.layers[1].causal:  # type: ignore[attr-defined]
        scaling = run.layers[1].scaling  # type: ignore[attr-defined]
        np.testing.assert_allclose(scores, q @ k.T * scaling, atol=1e-5)


def test_sliding_layers_are_zero_outside_the_window(engine: Engine, checkpoint: Checkpoint) -> None:
    run = engine.attend(str(checkpoint("modernbert")), TEXT, TEXT_PAIR)
    distance = np.abs(np.subtract.outer(np.arange(run.n_tokens), np.arange(run.n_tokens)))
    assert run.layer(0)[:, distance > 4].min() > 0
    assert run.layer(1)[:, distance > 4].max() == 0
    assert run.layer(1)[:, distance <= 4].min() > 0


def test_causal_models_look_back_only(engine: Engine, checkpoint: Checkpoint) -> None:
    run = engine.attend(str(checkpoint("gpt2")), TEXT)
    later = np.triu(np.ones((run.n_tokens, run.n_tokens), dtype=bool), k=1)
    assert run.layer(2)[:, later].max() == 0
    assert run.layer(2)[:, ~later].min() > 0


def test_two_threads_get_their_own_results(engine: Engine, checkpoint: Checkpoint) -> None:
    folder = str(checkpoint("bert"))
    texts = [" ".join(["cat", "dog", "river", "bank"][: 1 + i % 4] * (1 + i % 7)) + f" {i}" for i in range(60)]
    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda text: engine.attend(folder, text), texts))
    alone = Engine("cpu")
    for text, run in zip(texts, runs, strict=True):
        expected = alone.attend(folder, text)
        assert run.encoding == expected.encoding
        assert run.n_layers == expected.n_layers
        np.testing.assert_allclose(
            run.layer(1), expected.layer(1), rtol=0, atol=1e-5
        )  # batched and alone round differently


def test_the_same_text_is_run_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    from model_zoo import running

    runs = []
    plain = running.attend
    monkeypatch.setattr(running, "attend", lambda *args: runs.append(args) or plain(*args))
    first = engine.attend("embedded/bert", "A text that nobody has run before.")
    assert engine.attend("embedded/bert", "A text that nobody has run before.") is first
    assert len(runs) == 1


def test_from_the_engines_method_to_the_forward_pass_there_are_seven_calls(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader can follow them; the lock on the cache, the turn in line and the lease are held around them."""
    from model_zoo.loading import LoadedModel

    plain, callers = LoadedModel.forward, []

    def forward(*args: Any, **options: Any) -> Any:
        frame = inspect.currentframe()
        while frame := frame and frame.f_back:
            callers.append(frame.f_code.co_qualname)
        return plain(*args, **options)

    engine.attend("embedded/bert", TEXT)
    monkeypatch.setattr(LoadedModel, "forward", forward)
    engine.attend("embedded/bert", "A text that nobody has asked about before this one.")
    between = callers[: next(place for place, name in enumerate(callers) if name.endswith("method"))]
    assert 0 < len(between) <= 6, between  # and the forward pass is the seventh


def test_memory_of_a_run_is_linear_in_tokens(engine: Engine) -> None:
    at_128 = engine.attend("embedded/bert", " ".join(["cat"] * 126))
    at_512 = engine.attend("embedded/bert", " ".join(["cat"] * 510))
    assert (at_128.n_tokens, at_512.n_tokens) == (128, 512)
    # query, key and value: 6 layers x 12 heads x 32 dimensions x 4 bytes a token
    assert at_128.n_bytes == 3 * 6 * 12 * 32 * 4 * 128
    assert at_512.n_bytes == 4 * at_128.n_bytes
