"""Norms of values and of their sum, in every family and every part, equal a direct computation."""

from __future__ import annotations

from typing import Any

import checkpoints
import numpy as np
import pytest
import torch
from checkpoints import TEXT, TEXT_PAIR, WITH_ATTENTION, WITH_DECODER, Checkpoint
from transformers import AutoModel

from model_zoo import Engine
from model_zoo.types import STACKS, Stack


@pytest.mark.parametrize("stack", ["decoder", "cross"])
@pytest.mark.parametrize("name", WITH_DECODER)
def test_value_norms_of_the_decoder_equal_a_direct_computation(
    name: str, stack: Stack, engine: Engine, checkpoint: Checkpoint
) -> None:
    folder = checkpoint(name)
    run = engine.attend(str(folder), TEXT, TEXT_PAIR, stack=stack)
    assert run.source is not None
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    states: list[torch.Tensor] = []  # the states that keys and values are made from
    modules: list[tuple[Any, Any]] = []
    for layer in range(run.n_layers):
        if name == "t5":
            attention = model.decoder.block[layer].layer[0 if stack == "decoder" else 1]
            attention = attention.SelfAttention if stack == "decoder" else attention.EncDecAttention
            modules.append((attention.v, attention.o))
        else:
            block = model.decoder.layers[layer]
            attention = block.self_attn if stack == "decoder" else block.encoder_attn
            modules.append((attention.v_proj, attention.out_proj))
        modules[-1][0].register_forward_pre_hook(lambda _, inputs: states.append(inputs[0]))
    with torch.no_grad():
        model(input_ids=torch.tensor([run.source.ids]), decoder_input_ids=torch.tensor([run.encoding.ids]))
        for layer, (value, output) in enumerate(modules):
            values = value(states[layer])[0].reshape(run.n_keys, checkpoints.N_HEADS, -1)
            projection = output.weight.T.reshape(checkpoints.N_HEADS, values.shape[-1], -1)
            transformed = torch.einsum("nhd,hdw->hnw", values, projection)
            np.testing.assert_allclose(run.value_norms(layer), transformed.norm(dim=-1).numpy(), rtol=1e-4)


def value_and_output(model: Any, family: str, layer: int, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """v (n, heads, d') and W_O (heads, d', width) of one layer, read by name from the model's own modules."""
    heads, width = checkpoints.N_HEADS, checkpoints.WIDTH
    if family == "bert":
        attention = model.encoder.layer[layer].attention
        values = attention.self.value(states)
        output = attention.output.dense.weight.T
    elif family == "modernbert":
        block = model.layers[layer]
        values = block.attn.Wqkv(block.attn_norm(states)).reshape(*states.shape[:2], 3, width)[:, :, 2]
        output = block.attn.Wo.weight.T
    else:
        block = model.h[layer]
        values = block.attn.c_attn(block.ln_1(states)).split(width, dim=-1)[2]
        output = block.attn.c_proj.weight
    return values[0].reshape(-1, heads, width // heads), output.reshape(heads, width // heads, width)


PARTS_OF = [(name, "encoder") for name in WITH_ATTENTION] + [
    (name, stack) for name in WITH_DECODER for stack in STACKS[1:]
]


@pytest.mark.parametrize(("name", "stack"), PARTS_OF)
def test_norms_of_the_sum_equal_the_sum_itself(name: str, stack: Stack, engine: Engine, checkpoint: Checkpoint) -> None:
    """Every vector written out: ‖Σ_h α^h_ij f^h(x_j)‖, of all heads and of two of them."""
    run = engine.attend(str(checkpoint(name)), TEXT, TEXT_PAIR, stack=stack)
    for layer in range(run.n_layers):
        projection = run.output_projections[layer]
        assert projection is not None
        assert run.value_norms(layer).min() > 0  # with biases, nothing is zero
        for heads in (range(run.layers[layer].n_heads), [3, 1]):
            brought = np.zeros((run.n_tokens, run.n_keys, projection.shape[-1]))
            for head in heads:
                transformed = run.value(layer, head).astype(np.float64) @ projection[head]
                brought += run.head(layer, head)[:, :, None] * transformed
            expected = np.linalg.norm(brought, axis=-1)
            norms = run.norms_of_sum(layer) if len(heads) == run.n_heads else run.norms_of_sum(layer, heads)
            assert norms.dtype == np.float32
            np.testing.assert_allclose(norms, expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["bert", "modernbert", "gpt2"])
def test_norms_equal_a_direct_computation(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    folder = checkpoint(name)
    run = engine.attend(str(folder), TEXT)
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.no_grad():
        output = model(torch.tensor([run.encoding.ids]), output_hidden_states=True, output_attentions=True)
        for layer, maps in enumerate(output.attentions):
            values, projection = value_and_output(model, name, layer, output.hidden_states[layer])
            transformed = torch.einsum("nhd,hdw->hnw", values, projection)
            np.testing.assert_allclose(run.value_norms(layer), transformed.norm(dim=-1).numpy(), rtol=1e-4)
            brought = torch.einsum("hij,jhd,hdw->ijw", maps[0], values, projection)
            np.testing.assert_allclose(run.norms_of_sum(layer), brought.norm(dim=-1).numpy(), rtol=1e-4, atol=1e-6)


def test_output_projections_are_the_models_own_memory(engine: Engine, checkpoint: Checkpoint) -> None:
    folder = str(checkpoint("bert"))
    first, other = engine.attend(folder, TEXT), engine.attend(folder, TEXT_PAIR)
    with engine._memory.lease(folder) as loaded:
        for layer, block in enumerate(loaded.encoder.encoder.layer):
            weight = block.attention.output.dense.weight.numpy()
            for run in (first, other):
                projection = run.output_projections[layer]
                assert projection is not None
                assert np.shares_memory(projection, weight)
