"""The length bundled models were trained at, and what becomes of their heads in longer texts."""

import numpy as np
import pytest

from model_zoo import Engine, registry
from model_zoo.heldout import written_pairs
from model_zoo.sources import embedded_folder
from model_zoo.types import ModelSpec
from training.recipes import RECIPES

EMBEDDED = [spec for spec in registry.MODELS.values() if spec.hub_id is None]
TRAINED = 128


@pytest.mark.parametrize("spec", EMBEDDED, ids=lambda spec: spec.id)
def test_every_embedded_model_with_positions_states_the_length_of_its_recipe(spec: ModelSpec) -> None:
    longest = max(shape.length for shape in RECIPES[spec.id.removeprefix("embedded/")].shapes)
    assert f"t {longest} tokens" in (embedded_folder(spec.id) / "README.md").read_text("utf-8").split("## Limits")[1]
    if spec.family == "bilstm":  # the same step at every token: there is no position that training did not reach
        assert (spec.trained_tokens, spec.max_tokens) == (None, None)
    else:
        assert spec.trained_tokens == longest == TRAINED
        assert spec.max_tokens is not None
        assert spec.max_tokens > longest


def test_models_of_the_hub_state_none() -> None:
    assert {spec.trained_tokens for spec in registry.MODELS.values() if spec.hub_id is not None} == {None}


def beside(engine: Engine, model: str, layer: int, head: int, distance: int, n_tokens: int) -> list[float]:
    """A head's attention to the token ``distance`` places on, mean over the tokens 3 to 126, and over those from 129
    to the third from the end, of running text cut to ``n_tokens``.
    """
    text = " ".join(f"{pair.first} {pair.second}" for pair in written_pairs())
    end = engine.encode(model, text).offsets[n_tokens - 2][1]
    run = engine.attend(model, text[:end])
    assert run.n_tokens == n_tokens
    diagonal = run.head(layer, head).diagonal(distance)
    of_token = dict(enumerate(diagonal.tolist(), start=max(0, -distance)))
    parts = range(2, 126), range(TRAINED, n_tokens - 2)
    return [float(np.mean([of_token[place] for place in part])) for part in parts if part]


@pytest.mark.parametrize(
    ("model", "head", "short", "early", "late"),
    [
        # Tokens that training reached look away, to positions that it did not reach.
        ("embedded/bert", (0, 2, -1), (0.98, 0.01), (0.22, 0.03), (0.94, 0.03)),
        # Here the tokens that training reached stay what they are, and the head is lost beyond.
        ("embedded/tinybert", (0, 0, 1), (0.74, 0.02), (0.72, 0.02), (0.0, 0.03)),
        # It sees 8 tokens each way: distances, unlike positions, are the trained ones.
        ("embedded/modernbert", (1, 1, -1), (0.88, 0.02), (0.87, 0.02), (0.85, 0.02)),
    ],
)
def test_heads_in_texts_longer_than_training(engine: Engine, model: str, head, short, early, late) -> None:
    """Of each its layer, its number and how far it looks; its attention there and how much that may differ."""
    expected = [pytest.approx(value, abs=tolerance) for value, tolerance in (short, early, late)]
    assert beside(engine, model, *head, 128) == expected[:1]
    assert beside(engine, model, *head, 512) == expected[1:]
