"""What a checkpoint becomes: which heads it has, its figures, its limit of tokens, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from checkpoints import FAMILIES, WIDTH, Checkpoint
from safetensors.torch import load_file, save_file

from model_zoo import Engine, loading, machine, running, sources
from model_zoo.errors import BadCheckpoint, NotSupported
from model_zoo.loading import LoadedModel

CPU = torch.device("cpu")

Load = Callable[[str], LoadedModel]


def load_folder(folder: Path) -> LoadedModel:
    return loading.load(sources.find(str(folder)), CPU)


def without(folder: Path, part: str) -> None:
    """Take the weights whose name contains ``part`` out of a checkpoint."""
    weights = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if part not in name}
    assert len(kept) < len(weights), f"no {part} among {sorted(weights)}"
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.parametrize("name", FAMILIES)
def test_figures_of_every_family(name: str, loaded: Load, checkpoint: Checkpoint) -> None:
    """What its heads and sizes are, tests/model_zoo/test_every_model.py sees."""
    model, info = loaded(name).model, loaded(name).info
    assert (info.device, info.dtype) == ("cpu", "float32")
    assert info.revision == sources.find(str(checkpoint(name))).revision
    published = getattr(transformers, FAMILIES[name].head).from_pretrained(checkpoint(name))
    assert info.parameters == published.num_parameters()
    distinct = {id(p): p.numel() * 4 for p in model.parameters()}  # float32; tied weights are one parameter
    buffers = sum(b.numel() * b.element_size() for b in model.buffers())
    assert loaded(name).n_bytes == sum(distinct.values()) + buffers
    assert not model.training
    assert not any(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize("name", FAMILIES)
def test_the_longest_input_that_works(name: str, loaded: Load) -> None:
    """A text far too long is cut exactly where the positions end, and runs; one token more would not."""
    model, limit = loaded(name), FAMILIES[name].max_tokens
    assert model.info.max_tokens == limit
    if limit is None:
        return
    ((_, states),) = running.hidden_states(model, [("cat " * 300, None)])
    encoding = states.encoding
    assert len(encoding) == states.states.shape[1] == limit
    assert encoding.n_dropped == len(model.tokenizer("cat " * 300)["input_ids"]) - limit
    if not FAMILIES[name].runs_beyond:
        ids = torch.full((1, limit + 1), encoding.ids[1])
        with torch.inference_mode(), pytest.raises((IndexError, RuntimeError)):
            model.encoder(input_ids=ids)


@pytest.mark.parametrize("name", FAMILIES)
def test_text_types_go_to_models_that_tell_them_apart(name: str, loaded: Load) -> None:
    """GPT-2 would take them for words and add their vectors; RoBERTa has one type only."""
    model = loaded(name)
    encoding = model.encode("the cat", "the dog")
    inputs = model.inputs([encoding])
    assert ("token_type_ids" in inputs) == FAMILIES[name].type_ids
    if "token_type_ids" in inputs:
        types = inputs["token_type_ids"][0].tolist()
        expected = model.tokenizer("the cat", "the dog", return_token_type_ids=True)["token_type_ids"]
        assert types == expected
        content = [i for i, special in enumerate(encoding.special) if not special]
        assert [types[i] for i in content] == [encoding.segment_ids[i] for i in content]
        assert {0, 1} <= set(types)


ENCODER_WEIGHTS = {
    "bert": "encoder.layer.1.attention.self.key.weight",
    "bert_headless": "encoder.layer.2.output.dense.bias",
    "roberta": "embeddings.word_embeddings.weight",
    "distilbert": "transformer.layer.0.ffn.lin1.weight",
    "albert": "full_layer_layer_norm.weight",
    "deberta-v2": "rel_embeddings.weight",
    "modernbert": "layers.1.mlp.Wi.weight",
    "xlnet": "layer.2.rel_attn.r",
    "gpt2": "h.1.attn.c_attn.weight",
    "bart": "encoder.layers.1.fc1.weight",
    "t5": "encoder.block.0.layer.0.SelfAttention.q.weight",
}


@pytest.mark.parametrize("name", ENCODER_WEIGHTS)
def test_a_lost_weight_of_the_encoder_is_refused(name: str, copy_of: Checkpoint) -> None:
    folder = copy_of(name)
    without(folder, ENCODER_WEIGHTS[name])
    with pytest.raises(BadCheckpoint, match=f"^“{folder}” lacks .*{ENCODER_WEIGHTS[name]}"):
        load_folder(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "part", "mlm", "nsp"),
    [
        ("bert", "cls.predictions.transform.dense.weight", False, "NSP"),
        ("bert", "cls.seq_relationship", True, None),
        ("bert", "pooler", True, None),
        ("bert", "cls.", False, None),
        ("bert_mlm_only", "cls.predictions.bias", False, None),
        ("roberta", "lm_head.dense.bias", False, None),
        ("distilbert", "vocab_transform", False, None),
        ("albert", "sop_classifier", True, None),
        ("albert", "predictions.LayerNorm.weight", False, "SOP"),
        ("mobilebert", "cls.seq_relationship", True, None),
        ("modernbert", "head.norm.weight", False, None),
        ("mpnet", "lm_head.layer_norm.weight", False, None),
        ("electra_generator", "generator_predictions.dense.weight", False, None),
    ],
)
def test_a_head_that_lacks_a_weight(
    name: str, part: str, mlm: bool, nsp: str | None, copy_of: Checkpoint, loaded: Load
) -> None:
    folder = copy_of(name)
    without(folder, part)
    model = load_folder(folder)
    assert (model.info.mlm, model.info.nsp) == (mlm, nsp)
    run = running.attend(model, "the cat sat", None)
    full = running.attend(loaded(name), "the cat sat", None)
    assert (run.layer(1) == full.layer(1)).all()


def test_a_head_of_another_size_is_no_head(copied: Path) -> None:
    """Weights that do not fit are as good as missing: they are refused, never replaced by random ones."""
    weights = load_file(copied / "model.safetensors")
    weights["cls.predictions.transform.dense.weight"] = torch.zeros(WIDTH, WIDTH + 1)
    save_file(weights, copied / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BadCheckpoint, match="Choose another checkpoint, or copy this one again"):
        load_folder(copied)


def test_revision_follows_the_weights(copied: Path, loaded: Load) -> None:
    assert load_folder(copied).info.revision == loaded("bert").info.revision
    without(copied, "cls.seq_relationship")
    assert load_folder(copied).info.revision != loaded("bert").info.revision


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(json.dumps({k: v for k, v in config.items() if v is not None}), encoding="utf-8")


def test_code_of_a_checkpoint_never_runs(copied: Path, tmp_path: Path) -> None:
    proof = tmp_path / "it ran"
    code = f"open({str(proof)!r}, 'w').close()\nclass Config: pass\nclass Model: pass\n"
    (copied / "own_code.py").write_text(code, encoding="utf-8")
    auto_map = {"AutoConfig": "own_code.Config", "AutoModel": "own_code.Model"}
    change_config(copied, model_type="never_heard_of", auto_map=auto_map)
    with pytest.raises(BadCheckpoint, match="needs code from its own repository"):
        load_folder(copied)
    # Where transformers has a class of its own, the checkpoint's code is left alone.
    change_config(copied, model_type="bert", auto_map=auto_map)
    assert load_folder(copied).info.nsp == "NSP"
    assert not proof.exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "never_heard_of"}, "is a network of the kind “never_heard_of”, which transformers "),
        ({"model_type": None, "auto_map": {"AutoConfig": "own.Own"}}, "needs code from its own repository"),
        ({"model_type": "vit"}, "“"),
        (None, "cannot be read"),
    ],
)
def test_config_of_no_known_model(changes: dict[str, Any] | None, message: str, copied: Path) -> None:
    if changes is None:
        (copied / "config.json").write_text("{ not json", encoding="utf-8")
    else:
        change_config(copied, **changes)
    with pytest.raises(BadCheckpoint, match=message) as caught:
        load_folder(copied)
    assert len(str(caught.value)) < 400 + 2 * len(str(copied))


def test_checkpoint_without_a_tokenizer(copied: Path) -> None:
    for file in copied.glob("token*"):
        file.unlink()
    with pytest.raises(BadCheckpoint, match=r"lacks its tokenizer's files \(tokenizer\.json, vocab\.txt\)"):
        load_folder(copied)


def test_checkpoint_cut_after_it_was_found(copied: Path) -> None:
    source = sources.find(str(copied))
    weights = copied / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(BadCheckpoint, match=r"cannot be read\. The file may be damaged: copy or download it again"):
        loading.load(source, CPU)


def test_embedded_model_is_stored_small_and_computes_in_float32(engine: Engine) -> None:
    folder = sources.embedded_folder("embedded/bert")
    stored = load_file(folder / "model.safetensors")
    numbers = sum(tensor.numel() for tensor in stored.values())
    assert {tensor.dtype for tensor in stored.values() if tensor.dim() == 2} >= {torch.float8_e4m3fn}
    assert (folder / "model.safetensors").stat().st_size < 1.1 * numbers
    info = engine.info("embedded/bert")
    assert (info.dtype, info.mlm, info.nsp, info.max_tokens) == ("float32", True, "NSP", 512)
    assert (info.n_layers, info.n_heads, info.width, info.parameters) == (6, 12, 384, numbers)
    assert engine.held()[0].n_bytes >= 4 * numbers
    with engine._memory.lease("embedded/bert") as model:
        parameters = dict(model.model.named_parameters())
        assert {parameter.dtype for parameter in parameters.values()} == {torch.float32}
        name = "bert.encoder.layer.3.output.dense.weight"
        assert torch.equal(parameters[name], stored[name].float())


def test_device_and_number_format() -> None:
    assert loading.dtype_for(CPU) == torch.float32
    assert loading.dtype_for(torch.device("mps")) == torch.float16
    assert loading.best_device().type in {"cpu", "cuda", "mps"}
    assert 0 < loading.default_budget(CPU) <= 0.4 * machine.memory_limit()


@pytest.mark.parametrize(
    "name", ["bert", "roberta", "gpt2", "bart", "deberta", "embedded/modernbert", "embedded/bilstm"]
)
def test_random_weights_have_the_model_s_shape_and_nothing_it_learned(name: str, checkpoint: Checkpoint) -> None:
    engine = Engine("cpu")
    model, state = name if "/" in name else str(checkpoint(name)), torch.random.get_rng_state()
    (trained,) = engine.hidden_states(model, ["The cat sat."])
    (random,) = engine.hidden_states(f"untrained:{model}", ["The cat sat."])
    assert random.shape == trained.shape
    assert np.isfinite(random).all()
    assert random.std() > 0.01
    assert not np.allclose(random, trained, atol=0.1)
    assert torch.equal(torch.random.get_rng_state(), state)  # nobody else's numbers have moved
    (again,) = Engine("cpu").hidden_states(f"untrained:{model}", ["The cat sat."])
    np.testing.assert_array_equal(random, again)
    info, of_trained = engine.info(f"untrained:{model}"), engine.info(model)
    for name_ in ("n_layers", "width", "max_tokens"):
        assert getattr(info, name_) == getattr(of_trained, name_)
    assert (info.mlm, info.nsp) == (False, None)
    with pytest.raises(NotSupported):
        engine.fill_mask(f"untrained:{model}", "The [MASK] sat.")
