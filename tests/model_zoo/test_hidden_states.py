"""The last layer is known before the final norm, by every thread its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import checkpoints
import numpy as np
import pytest
import torch
from checkpoints import FAMILIES, TEXT, TEXT_PAIR, Checkpoint
from transformers import AutoModel

from model_zoo import Engine


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
    layers = next(m for m in model.modules() if isinstance(m, torch.nn.ModuleList) and len(m) == checkpoints.N_LAYERS)
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


def test_two_threads_do_not_mix_up_their_last_layers(engine: Engine, checkpoint: Checkpoint) -> None:
    folder = str(checkpoint("gpt2"))
    texts = [TEXT, TEXT_PAIR, "The dog barked.", "cat"]

    def last(text: str) -> np.ndarray:
        ((_, hidden),) = engine.iter_hidden_states(folder, [text])
        assert hidden.last_unnormed is not None
        return hidden.last_unnormed

    alone = [last(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(last, texts * 8))
    for place, states in enumerate(together):
        np.testing.assert_allclose(states, alone[place % len(texts)], atol=1e-5)
