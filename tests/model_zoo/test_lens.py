"""The lens: what each layer's vectors become under the head equals what transformers computes from the same weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from by_transformers import slow_model
from checkpoints import FAMILIES, N_LAYERS, WITH_HEAD, Checkpoint

from model_zoo import Engine
from model_zoo.errors import NotSupported

TEXT = "The cat sat on the mat because it was tired."
LENS = [name for name in WITH_HEAD if not FAMILIES[name].cross_attention]


@pytest.mark.parametrize("name", LENS)
def test_the_last_layer_of_the_lens_is_the_output(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint(name))
    positions = [2, 4]
    outputs = engine.fill_mask(model, TEXT, top_k=5, masked=positions)
    for lens, output in zip(engine.mask_lens(model, TEXT, 5, masked=positions), outputs, strict=True):
        assert lens.position == output.position
        assert len(lens.layers) == len(lens.ranks) == N_LAYERS + 1
        assert [p.id for p in lens.layers[-1]] == [p.id for p in output.best]
        np.testing.assert_allclose(
            [p.probability for p in lens.layers[-1]], [p.probability for p in output.best], atol=1e-5
        )
        assert lens.ranks[-1] == 1
        assert lens.original_ranks is not None
        assert lens.original_ranks[-1] == output.rank


def slow_mask(folder: Path, text: str) -> tuple[Any, Any, int]:
    """The model, what it is given for a text with a mask, and the mask's position."""
    model, tokenizer = slow_model(folder)
    inputs = tokenizer(text, return_tensors="pt")
    return model, inputs, inputs["input_ids"][0].tolist().index(tokenizer.mask_token_id)


def test_the_lens_applies_the_head_to_hidden_states(engine: Engine, checkpoint: Checkpoint) -> None:
    """BERT's head, written out from its own modules."""
    folder = checkpoint("bert")
    text = "The cat [MASK] on the mat."
    model, inputs, place = slow_mask(folder, text)
    with torch.no_grad():
        states = model.bert(**inputs, output_hidden_states=True).hidden_states
        logs = [model.cls.predictions(s[0, place]).log_softmax(dim=-1) for s in states]
    lens = engine.mask_lens(str(folder), text, 3)[0]
    final = int(logs[-1].argmax())
    assert lens.answer.id == final
    for layer, expected in enumerate(logs):
        assert [p.id for p in lens.layers[layer]] == expected.topk(3).indices.tolist()
        assert lens.log_probabilities[layer] == pytest.approx(float(expected[final]), abs=1e-5)
        assert lens.ranks[layer] == 1 + int((expected > expected[final]).sum())


def test_the_lens_of_modernbert_normalizes_early_layers(engine: Engine, checkpoint: Checkpoint) -> None:
    folder = checkpoint("modernbert")
    text = "The cat [MASK] on the mat."
    model, inputs, place = slow_mask(folder, text)
    with torch.no_grad():
        states = model.model(**inputs, output_hidden_states=True).hidden_states
        early = model.decoder(model.head(model.model.final_norm(states[1][0, place]))).log_softmax(dim=-1)
    lens = engine.mask_lens(str(folder), text, 3)[0]
    assert [p.id for p in lens.layers[1]] == early.topk(3).indices.tolist()
    assert lens.layers[1][0].probability == pytest.approx(float(early.max().exp()), abs=1e-5)


def test_the_lens_of_xlm_roberta_xl_normalizes_early_layers(engine: Engine, checkpoint: Checkpoint) -> None:
    """At the last layer the model's own logits; before it, the layer's vectors through the norm behind the encoder."""
    folder = checkpoint("xlm-roberta-xl")
    text = "The cat <mask> on the mat."
    model, inputs, place = slow_mask(folder, text)
    with torch.no_grad():
        output = model(**inputs, output_hidden_states=True)
        early = model.lm_head(model.roberta.encoder.LayerNorm(output.hidden_states[-2][0, place]))
        skipped = model.lm_head(output.hidden_states[-2][0, place])
    lens = engine.mask_lens(str(folder), text, 3)[0]
    for layer, logits in ((-1, output.logits[0, place]), (-2, early)):
        expected = logits.softmax(dim=-1).topk(3)
        assert [p.id for p in lens.layers[layer]] == expected.indices.tolist()
        assert [p.probability for p in lens.layers[layer]] == pytest.approx(expected.values.tolist(), abs=1e-5)
    assert lens.layers[-2][0].probability != pytest.approx(float(skipped.softmax(dim=-1).max()), abs=1e-3)


def test_the_lens_needs_a_head_that_reads_the_encoder(engine: Engine, checkpoint: Checkpoint) -> None:
    with pytest.raises(NotSupported, match="reads its decoder"):
        engine.mask_lens(str(checkpoint("bart")), TEXT, masked=[2])
