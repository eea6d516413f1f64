"""Families outside the fused kernel: what is caught equals what their own modules compute, taken apart by name."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from by_transformers import network, slow_maps
from checkpoints import FAMILIES, N_LAYERS, TEXT, TEXT_PAIR, WITH_ATTENTION, Checkpoint, varied
from checkpoints.references import REFERENCES, Block

from model_zoo import Engine
from model_zoo.errors import NotSupported
from model_zoo.types import AttentionRun, MapsLayer

UNFUSED = [name for name in WITH_ATTENTION if not FAMILIES[name].interface]
TEXTS = [("cat", None), (TEXT, None), (TEXT, TEXT_PAIR)]

# Other settings than those of the tiny checkpoints.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "content to position only": ("deberta", {"pos_att_type": ["c2p"]}),
    "no relative positions": ("deberta", {"relative_attention": False, "pos_att_type": []}),
    "position to content only": ("deberta-v2", {"pos_att_type": ["p2c"]}),
    "no relative positions, v2": ("deberta-v2", {"relative_attention": False, "pos_att_type": []}),
    "positions with their own projections": ("deberta-v2", {"share_att_key": False, "position_buckets": -1}),
    "a convolution in the first layer": ("deberta-v2", {"conv_kernel_size": 3, "conv_act": "gelu"}),
    "output projection in groups": ("squeezebert", {"post_attention_groups": 2}),
    "no groups": ("squeezebert", {"q_groups": 1, "k_groups": 1, "v_groups": 1}),
    "another window in each layer": ("longformer", {"attention_window": [4, 16, 8]}),
    "narrow heads": ("xlnet", {"n_head": 8}),
}


@pytest.fixture(params=[*UNFUSED, *VARIANTS])
def case(
    request: pytest.FixtureRequest, checkpoint: Checkpoint, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    """A family outside the fused kernel, and a checkpoint of it."""
    if request.param in UNFUSED:
        return request.param.removesuffix("_headless"), checkpoint(request.param)
    name, changes = VARIANTS[request.param]
    return name, varied(name, checkpoint(name), tmp_path_factory.mktemp("varied") / "model", **changes)


def blocks(family: str, folder: Path, run: AttentionRun) -> Iterator[Block]:
    """Layer by layer, from the states that go into each attention module of ``AutoModel``, without the engine."""
    model = network(folder)
    noted: dict[Any, tuple[Any, ...]] = {}
    made: dict[Any, Any] = {}

    def watch(module: Any, method: str | None = None) -> None:
        """Keep what a module, or one of its methods, was last given and what it made of it."""

        def keep(_: Any, inputs: Any, output: Any) -> None:
            noted[module], made[module] = inputs, output

        if method is None:
            module.register_forward_hook(keep)
            return
        plain = getattr(module, method)

        def spy(*inputs: Any, **options: Any) -> Any:
            noted[module, method] = inputs, options
            made[module, method] = plain(*inputs, **options)
            return made[module, method]

        setattr(module, method, spy)

    made_from = FAMILIES[family]
    assert made_from.reference in REFERENCES, f"tests/checkpoints/references.py has none for {family}"
    watch_attention, block = REFERENCES[made_from.reference]
    watch_attention(model, watch)
    types = None if run.encoding.type_ids is None else torch.tensor([run.encoding.type_ids])
    options = {"token_type_ids": types} if made_from.type_ids else {}
    with torch.no_grad():
        model(torch.tensor([run.encoding.ids]), **options)
        for number in range(model.config.num_hidden_layers):
            yield block(model, number, run.n_tokens, noted, made)


@pytest.mark.slow
def test_all_that_enters_attention_is_what_the_familys_own_modules_make(case: tuple[str, Path], engine: Engine) -> None:
    family, folder = case
    for text, pair in TEXTS:
        run = engine.attend(str(folder), text, pair)
        maps = slow_maps(folder, text, pair)
        number = -1
        for number, block in enumerate(blocks(family, folder, run)):
            layer = run.layers[number]
            assert layer.scaling == pytest.approx(block.factor)
            scores = block.q @ block.k.transpose(-1, -2) * block.factor + block.added
            np.testing.assert_allclose(scores.softmax(-1).numpy(), maps[number], atol=2e-6)
            np.testing.assert_allclose(run.layer(number), maps[number], atol=2e-6)
            size = scores[scores.isfinite()].abs().max().item()
            for head in range(run.n_heads):
                q, k, actual = run.query_key(number, head)
                np.testing.assert_allclose(q, block.q[head].numpy(), rtol=1e-5, atol=2e-5)
                np.testing.assert_allclose(k, block.k[head].numpy(), rtol=1e-5, atol=2e-5)
                np.testing.assert_allclose(run.value(number, head), block.v[head].numpy(), rtol=1e-5, atol=2e-5)
                np.testing.assert_allclose(actual, scores[head].numpy(), rtol=1e-5, atol=5e-6 * size)
                softmaxed = torch.from_numpy(actual.copy()).softmax(-1).numpy()
                np.testing.assert_allclose(softmaxed, run.head(number, head), atol=1e-6)
            projection = run.output_projections[number]
            np.testing.assert_allclose(projection, block.w_o.numpy(), atol=1e-6)
            norms = (block.v @ block.w_o).norm(dim=-1).numpy()
            np.testing.assert_allclose(run.value_norms(number), norms, rtol=1e-5)
            # Σ_h Σ_j α f(x_j) + b_O is what the block gives to the residual stream.
            values = np.stack([run.value(number, head) for head in range(run.n_heads)])
            brought = (run.layer(number) @ values @ projection).sum(axis=0) + np.asarray(block.b_o)
            np.testing.assert_allclose(brought, block.out.numpy(), rtol=1e-4, atol=1e-5 * float(block.out.abs().max()))
        assert number == N_LAYERS - 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bert", "gpt2", "deberta", "xlnet", "longformer"])
def test_threads_catch_their_own_texts(name: str, checkpoint: Checkpoint) -> None:
    """Fused or not; and what leaves the last layer before a final norm."""
    folder = str(checkpoint(name))
    texts = [" ".join(["cat", "dog", "river", "bank"][: 1 + i % 4] * (1 + i % 5)) + f" {i}" for i in range(40)]
    shared, single = Engine("cpu"), Engine("cpu")
    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda text: shared.attend(folder, text, states=True), texts))
    for text, run in zip(texts, runs, strict=True):
        expected = single.attend(folder, text, states=True)
        assert run.encoding == expected.encoding
        if run.states.last_unnormed is not None:
            np.testing.assert_allclose(run.states.last_unnormed, expected.states.last_unnormed, atol=1e-4)
        np.testing.assert_allclose(run.value(1, 2), expected.value(1, 2), atol=1e-4)
        np.testing.assert_allclose(run.layer(2), expected.layer(2), atol=1e-4)  # another text's differ by 0.1 and more


def test_talking_heads_give_finished_maps_only(engine: Engine, checkpoint: Checkpoint, tmp_path: Path) -> None:
    """DeBERTa's option to mix the weights of all heads after softmax: no scores stand behind a head's weights."""
    folder = varied("deberta", checkpoint("deberta"), tmp_path / "talking", talking_head=True)
    run = engine.attend(str(folder), TEXT)
    assert {type(layer) for layer in run.layers} == {MapsLayer}
    for layer, maps in enumerate(slow_maps(folder, TEXT, None)):
        np.testing.assert_allclose(run.layer(layer), maps, atol=1e-5)
    with pytest.raises(NotSupported, match="queries and keys"):
        run.query_key(0, 0)
    for ask in (run.value_norms, run.norms_of_sum):
        with pytest.raises(NotSupported, match="choose another model"):
            ask(0)
    (many,) = engine.attend(str(folder), ["The dog barked."])
    np.testing.assert_allclose(many.layer(1), slow_maps(folder, "The dog barked.", None)[1], atol=1e-5)
