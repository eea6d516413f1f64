"""What a run gives of every family and every part: weights, queries and keys, norms of values and of their sum, and its
size; which tokens of a decoder look at which, what is restored, and what is refused.
"""

import inspect
import json
import shutil
from pathlib import Path
from typing import Any

import checkpoints
import numpy as np
import pytest
import torch
from by_transformers import slow_maps
from checkpoints import FAMILIES, TEXT, TEXT_PAIR, WITH_ATTENTION, WITH_DECODER, Checkpoint
from transformers import AutoModel, AutoModelForSeq2SeqLM, AutoTokenizer

from model_zoo import Engine
from model_zoo.errors import NotSupported
from model_zoo.types import STACKS, QueryKeyLayer, Stack


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


def test_the_forward_pass_is_the_seventh_call(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("stack", ["decoder", "cross"])
@pytest.mark.parametrize("name", WITH_DECODER)
def test_value_norms_of_decoders_by_their_modules(
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
                assert np.shares_memory(projection, weight)


@pytest.mark.parametrize("name", WITH_DECODER)
def test_which_tokens_look_and_which_are_looked_at(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """That the weights are those of eager attention, tests/model_zoo/test_every_model.py sees."""
    folder = checkpoint(name)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    read, written = (tokenizer(text).input_ids for text in (TEXT, TEXT_PAIR))
    start = AutoModelForSeq2SeqLM.from_pretrained(folder).config.decoder_start_token_id
    for stack in ("decoder", "cross"):
        run = engine.attend(str(folder), TEXT, TEXT_PAIR, stack=stack)
        assert (run.stack, run.n_layers) == (stack, checkpoints.N_LAYERS - 1)
        q, k, scores = run.query_key(1, 2)
        assert (len(q), len(k)) == scores.shape == run.head(1, 2).shape == (run.n_tokens, run.n_keys)
        np.testing.assert_allclose(torch.from_numpy(scores.copy()).softmax(-1).numpy(), run.head(1, 2), atol=1e-6)
        assert run.value(1, 2).shape[0] == run.n_keys
        assert list(run.encoding.ids) == [start, *written[:-1]]
        assert list(run.source.ids) == read
        assert run.key_encoding is (run.source if stack == "cross" else run.encoding)
        assert (run.encoding.text, run.source.text) == (TEXT_PAIR, TEXT)
        assert (run.encoding.special[0], run.encoding.word_ids[0], run.encoding.offsets[0]) == (True, None, (0, 0))
        for token, (first, last), special in zip(
            run.encoding.tokens, run.encoding.offsets, run.encoding.special, strict=True
        ):
            assert special or TEXT_PAIR[first:last].startswith(token.strip("Ġ▁"))
    later = np.triu(np.ones((len(written), len(written)), dtype=bool), k=1)
    decoder = engine.attend(str(folder), TEXT, TEXT_PAIR, stack="decoder").layer(0)
    assert decoder[:, later].max() == 0
    assert decoder[:, ~later].min() > 0
    full = engine.attend(str(folder), TEXT, TEXT_PAIR)
    assert (full.stack, full.source, full.key_encoding) == ("encoder", None, full.encoding)
    assert full.encoding.text_pair == TEXT_PAIR  # both texts are read there


def test_without_a_second_text_bart_restores_the_first(engine: Engine, checkpoint: Checkpoint) -> None:
    folder = str(checkpoint("bart"))
    alone, same = engine.attend(folder, TEXT, stack="cross"), engine.attend(folder, TEXT, TEXT, stack="cross")
    assert alone.encoding == same.encoding
    np.testing.assert_array_equal(alone.layer(1), same.layer(1))


def test_without_a_second_text_t5_has_written_nothing_yet(engine: Engine, checkpoint: Checkpoint) -> None:
    folder = checkpoint("t5")
    run = engine.attend(str(folder), TEXT, stack="cross")
    assert (run.encoding.tokens, run.encoding.text) == (("<pad>",), "")
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, attn_implementation="eager").eval()
    inputs = AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    with torch.no_grad():  # the first step of writing
        written = model.generate(
            **inputs, max_new_tokens=1, do_sample=False, output_attentions=True, return_dict_in_generate=True
        )
    for layer, maps in enumerate(written.cross_attentions[0]):
        np.testing.assert_allclose(run.layer(layer), maps[0].numpy(), atol=1e-5)


def test_both_texts_are_cut_at_the_limit(engine: Engine, checkpoint: Checkpoint) -> None:
    run = engine.attend(str(checkpoint("bart")), "cat " * 90, "the " * 80, stack="cross")
    assert (run.n_tokens, run.n_keys) == (checkpoints.POSITIONS, checkpoints.POSITIONS)
    assert run.encoding.n_dropped > 0
    assert run.source.n_dropped > 0


def test_a_decoder_without_a_start_token_is_refused(engine: Engine, checkpoint: Checkpoint, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(checkpoint("t5"), tmp_path / "t5"))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"decoder_start_token_id": None}))
    with pytest.raises(NotSupported, match=r"decoder_start_token_id.*Look at its encoder"):
        engine.attend(str(folder), TEXT, stack="cross")
    assert engine.attend(str(folder), TEXT).n_tokens > 1
