"""The length bundled models were trained at, and what becomes of their heads in longer texts."""

from __future__ import annotations

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


def test_the_embedded_berts_previous_token_head_is_an_artefact_in_longer_texts(engine: Engine) -> None:
    """Layer 1 head 3. Tokens that training reached look away, to positions that it did not reach."""
    head = "embedded/bert", 0, 2, -1
    assert beside(engine, *head, 128) == [pytest.approx(0.98, abs=0.01)]
    early, late = beside(engine, *head, 512)
    assert early == pytest.approx(0.22, abs=0.03)
    assert late == pytest.approx(0.94, abs=0.03)


def test_the_tinyberts_next_token_head_is_lost_beyond_the_trained_positions(engine: Engine) -> None:
    """Layer 1 head 1. Here the tokens that training reached stay what they are."""
    head = "embedded/tinybert", 0, 0, 1
    assert beside(engine, *head, 128) == [pytest.approx(0.74, abs=0.02)]
    early, late = beside(engine, *head, 512)
    assert early == pytest.approx(0.72, abs=0.02)
    assert late < 0.03


def test_rotary_positions_carry_the_modernberts_previous_token_head_on(engine: Engine) -> None:
    """Layer 2 head 2, which sees 8 tokens each way: distances, unlike positions, are the trained ones."""
    head = "embedded/modernbert", 1, 1, -1
    assert beside(engine, *head, 128) == [pytest.approx(0.88, abs=0.02)]
    assert beside(engine, *head, 512) == [pytest.approx(0.87, abs=0.02), pytest.approx(0.85, abs=0.02)]
