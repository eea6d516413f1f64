"""Checkpoints in forms that transformers does not save today, older ones among them: opened, with the numbers that
transformers alone computes from the same weights, or refused as what they are.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from checkpoints import FAMILIES, TEXT, TEXT_PAIR, Checkpoint
from loopback_hub import Hub
from refused import message
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from model_zoo import Engine, configs, sources
from model_zoo import checkpoint as checkpoint_files
from model_zoo.errors import BadCheckpoint, NotSupported
from model_zoo.types import NamedPooling

Weights = Mapping[str, torch.Tensor]


def with_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], Weights]) -> str:
    file = folder / "model.safetensors"
    save_file({k: v.clone() for k, v in change(load_file(file)).items()}, file, metadata={"format": "pt"})
    return str(folder)


def change(folder: Path, name: str, **changes: Any) -> None:
    """Set entries of a JSON file, or remove those that are None."""
    file = folder / name
    entries = json.loads(file.read_text(encoding="utf-8")) | changes if file.exists() else changes
    file.write_text(json.dumps({key: value for key, value in entries.items() if value is not None}), encoding="utf-8")


def with_config(folder: Path, **changes: Any) -> str:
    change(folder, "config.json", **changes)
    return str(folder)


def settings_of(folder: Path) -> dict[str, Any]:
    """Sizes of a tiny BERT, for another network."""
    known = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return {name: value for name, value in known.items() if name not in ("model_type", "architectures")}


def prefixed(prefix: str) -> Callable[[dict[str, torch.Tensor]], Weights]:
    return lambda weights: {prefix + name: tensor for name, tensor in weights.items()}


def refusal(model: str) -> str:
    with pytest.raises(BadCheckpoint) as caught:
        Engine("cpu").info(model)
    return str(caught.value)


def states(network: Any, folder: Path, **inputs: Any) -> list[np.ndarray]:
    """By transformers alone: after the embeddings and after every layer."""
    tokens = AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    with torch.no_grad():
        output = network.eval()(input_ids=tokens["input_ids"], output_hidden_states=True, **inputs)
    return [layer[0].numpy() for layer in output.hidden_states]


# Names of weights
@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "model.", "module._orig_mod.", "model.model.", "net."])
def test_what_a_program_put_before_names_is_taken_off(prefix: str, copy_of: Checkpoint, checkpoint: Checkpoint) -> None:
    engine, plain, model = Engine("cpu"), str(checkpoint("bert")), with_weights(copy_of("bert"), prefixed(prefix))
    assert (engine.info(model).mlm, engine.info(model).nsp) == (True, "NSP")
    assert (engine.attend(model, TEXT).layer(1) == engine.attend(plain, TEXT).layer(1)).all()
    assert engine.next_sentence(model, TEXT, TEXT_PAIR).p_next == engine.next_sentence(plain, TEXT, TEXT_PAIR).p_next


@pytest.mark.parametrize("name", ["modernbert", "bart", "roberta", "gpt2", "t5", "bert_headless"])
@pytest.mark.parametrize("prefix", ["model.", "module.model."])
@pytest.mark.slow
def test_prefixes_that_networks_have_themselves(
    prefix: str, name: str, copy_of: Checkpoint, checkpoint: Checkpoint
) -> None:
    engine, model = Engine("cpu"), with_weights(copy_of(name), prefixed(prefix))
    expected = engine.hidden_states(str(checkpoint(name)), [TEXT])[0]
    assert (engine.hidden_states(model, [TEXT])[0] == expected).all()


def test_a_network_that_was_compiled_within_its_heads(copy_of: Checkpoint, checkpoint: Checkpoint) -> None:
    folder, engine = copy_of("modernbert"), Engine("cpu")
    model = with_weights(
        folder, lambda weights: {name.replace("model.", "model._orig_mod.", 1): t for name, t in weights.items()}
    )
    assert engine.info(model).mlm
    expected = engine.hidden_states(str(checkpoint("modernbert")), [TEXT])[0]
    assert (engine.hidden_states(model, [TEXT])[0] == expected).all()


def test_two_networks_side_by_side_are_none(copy_of: Checkpoint) -> None:
    model = with_weights(copy_of("bert"), lambda old: prefixed("query.")(dict(old)) | prefixed("text.")(old))
    assert "lacks 53 of the 55 weights of its encoder" in refusal(model)


# Parts of networks
@pytest.mark.parametrize("kind", ["T5", "MT5", "UMT5"])
def test_the_encoder_of_a_t5_alone(kind: str, copy_of: Checkpoint) -> None:
    folder = copy_of("t5")
    config = getattr(transformers, f"{kind}Config")(**settings_of(folder))
    network = getattr(transformers, f"{kind}EncoderModel")(config)
    network.save_pretrained(folder)
    engine, model = Engine("cpu"), str(folder)
    assert not engine.info(model).cross_attention
    np.testing.assert_allclose(engine.hidden_states(model, [TEXT])[0], states(network, folder), atol=1e-4)
    maps = getattr(transformers, f"{kind}EncoderModel").from_pretrained(folder, attn_implementation="eager")
    tokens = AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        expected = maps(input_ids=tokens, output_attentions=True).attentions
    np.testing.assert_allclose(engine.attend(model, TEXT).layer(1), expected[1][0], atol=1e-5)
    with pytest.raises(NotSupported, match="is a single stack of layers, without a decoder"):
        engine.attend(model, TEXT, stack="decoder")


@pytest.mark.parametrize("kind", ["DPRQuestionEncoder", "DPRContextEncoder"])
def test_the_bert_inside_a_dpr(kind: str, copy_of: Checkpoint) -> None:
    folder = copy_of("bert")
    network = getattr(transformers, kind)(transformers.DPRConfig(**settings_of(folder)))
    network.save_pretrained(folder)
    engine, model = Engine("cpu"), str(folder)
    assert (engine.info(model).family, engine.info(model).mlm, engine.info(model).nsp) == ("bert", False, None)
    np.testing.assert_allclose(engine.hidden_states(model, [TEXT])[0], states(network, folder), atol=1e-5)


def test_positions_of_marian_are_computed(copy_of: Checkpoint) -> None:
    folder = copy_of("bart")
    sizes = settings_of(folder) | {"share_encoder_decoder_embeddings": True, "forced_eos_token_id": None}
    network = transformers.MarianMTModel(transformers.MarianConfig(**sizes))
    network.save_pretrained(folder)
    assert not [name for name in load_file(folder / "model.safetensors") if "embed_positions" in name]
    expected = states(network.get_encoder(), folder)
    np.testing.assert_allclose(Engine("cpu").hidden_states(str(folder), [TEXT])[0], expected, atol=1e-5)


@pytest.mark.parametrize("name", ["deberta_headless", "deberta-v2_headless"])
def test_the_masked_word_head_of_a_published_deberta(name: str, copy_of: Checkpoint) -> None:
    folder, family = copy_of(name), FAMILIES[name]
    kind = getattr(transformers, family.head.replace("Model", "ForMaskedLM"))
    network = kind(kind.config_class.from_pretrained(folder, legacy=False)).eval()
    save_file(dict(network.state_dict()), folder / "model.safetensors", metadata={"format": "pt"})
    engine, text = Engine("cpu"), "The cat [MASK] on the mat."
    tokens = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")["input_ids"]
    at = tokens[0].tolist().index(AutoTokenizer.from_pretrained(folder).mask_token_id)
    with torch.no_grad():
        expected = network(input_ids=tokens).logits[0, at].softmax(-1)
    (mask,) = engine.fill_mask(str(folder), text, top_k=5)
    for prediction in mask.best:
        assert prediction.probability == pytest.approx(expected[prediction.id].item(), abs=1e-6)
    with_weights(folder, lambda weights: {k: v for k, v in weights.items() if k != "lm_predictions.lm_head.bias"})
    assert not Engine("cpu").info(str(folder)).mlm


def test_a_deberta_that_tells_replaced_words_fills_no_masks(copy_of: Checkpoint) -> None:
    folder = copy_of("deberta-v2")
    change = {"lm_predictions.lm_head.bias": torch.zeros(1), "mask_predictions.dense.bias": torch.zeros(1)}
    model = with_weights(folder, lambda w: {k: v for k, v in w.items() if not k.startswith("cls.")} | change)
    assert not Engine("cpu").info(model).mlm


# Configs
def test_a_config_in_capitals_with_large_numbers_and_infinity(copy_of: Checkpoint) -> None:
    model = with_config(
        copy_of("bert"),
        model_type="BERT",
        time_step_limit=[0.0, {"__float__": "Infinity"}],
        vocab_size_per_layer_input=262_144,
        moe_shared_expert_intermediate_size=5632,
    )
    assert Engine("cpu").info(model).nsp == "NSP"


def test_a_config_that_disagrees_with_its_weights(copy_of: Checkpoint) -> None:
    folder = copy_of("bert")
    sizes = settings_of(folder)
    n_words = sizes["vocab_size"]
    transformers.BertForSequenceClassification(transformers.BertConfig(**sizes)).save_pretrained(folder)
    names = {"0": "no", "1": "yes", "2": "maybe"}
    message = refusal(with_config(folder, id2label=names, label2id={name: int(n) for n, name in names.items()}))
    assert "“classifier.bias” has 2 numbers, and 3 by the config (num_labels)." in message
    message = refusal(with_config(folder, id2label=None, label2id=None, vocab_size=n_words + 5))
    assert f"has {n_words} × 32 numbers, and {n_words + 5} × 32 by the config (vocab_" in message


@pytest.mark.parametrize(
    ("changes", "lost"), [({}, "position_embeddings"), ({"hidden_size": 16}, " "), ({"model_type": "nomic_bert"}, " ")]
)
def test_code_of_its_own_under_a_known_kind(changes: dict[str, Any], lost: str, copy_of: Checkpoint) -> None:
    folder = copy_of("bert")
    with_weights(folder, lambda weights: {name: t for name, t in weights.items() if lost not in name})
    message = refusal(with_config(folder, auto_map={"AutoModel": "own.Model"}, **changes))
    assert "needs code from its own repository, which this app never runs: the network that transformers has" in message


def test_two_networks_in_one(copy_of: Checkpoint, checkpoint: Checkpoint) -> None:
    folder, bert = copy_of("bert"), str(checkpoint("bert"))
    full = transformers.EncoderDecoderModel.from_encoder_decoder_pretrained(bert, bert)
    full.save_pretrained(folder)
    assert "is two networks in one, an encoder and a decoder" in refusal(str(folder))
    full.encoder.save_pretrained(folder)
    assert Engine("cpu").info(str(folder)).family == "bert"


def test_a_network_that_needs_more_than_text(copy_of: Checkpoint, caplog: pytest.LogCaptureFixture) -> None:
    folder = copy_of("bert")
    transformers.BrosModel(transformers.BrosConfig(**settings_of(folder))).save_pretrained(folder)
    message = refusal(str(folder))
    assert "needs more than text" in message
    assert "bbox" not in message
    assert "bbox" in caplog.text


def test_a_config_that_transformers_does_not_take(copy_of: Checkpoint) -> None:
    message = refusal(with_config(copy_of("bert"), layer_norm_eps="small"))
    assert "does not understand its config.json" in message
    assert "layer_norm_eps" not in message


# Files
FORMS = {
    "model.onnx": "for ONNX",
    "onnx/model.onnx": "for ONNX",
    "openvino/openvino_model.xml": "for OpenVINO",
    "model-q4_k_m.gguf": r"for llama.cpp (GGUF)",
    "tf_model.h5": "for TensorFlow",
    "bert_model.ckpt.index": "for TensorFlow",
    "flax_model.msgpack": "for Flax",
    "rust_model.ot": "for Rust",
    "model.fp16.safetensors": "of a variant",
    "pytorch_model.fp16-00001-of-00002.bin": "of a variant",
    "consolidated.safetensors": "in its makers' layout",
    "consolidated.00.pth": "in its makers' layout",
}


@pytest.mark.parametrize("config", [True, False])
@pytest.mark.parametrize("name", FORMS)
def test_weights_of_another_form(name: str, config: bool, copy_of: Checkpoint, hub: Hub) -> None:
    folder = copy_of("bert")
    (folder / "model.safetensors").unlink()
    if not config:
        (folder / "config.json").unlink()
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"never opened")
    hub.models["someone/tiny"] = folder
    for model in (str(folder), "someone/tiny"):
        assert message(model).startswith(f"“{model}” has weights {FORMS[name]} only ({name}), and this app reads")
    if not config:
        assert f"has weights {FORMS[name]} only (" in message(str(folder / name))


def test_a_file_is_no_model(copy_of: Checkpoint) -> None:
    folder = copy_of("bert")
    for name in ("model.safetensors", "config.json"):
        assert message(str(folder / name)).startswith(f"“{folder / name}” is a file, and a model is a folder")


def test_folders_of_checkpoints(copy_of: Checkpoint, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for n in (500, 1000):
        shutil.copytree(copy_of("bert") if n == 500 else tmp_path / "bert", runs / f"checkpoint-{n}")
    refused = message(str(runs))
    assert refused.endswith("in folders in it: “checkpoint-1000”, “checkpoint-500”. Choose one of these folders.")
    (runs / "config.json").write_bytes((runs / "checkpoint-500" / "config.json").read_bytes())
    assert message(str(runs)) == refused
    assert Engine("cpu").info(str(runs / "checkpoint-500")).nsp == "NSP"


def test_sentence_transformers_of_before_2021(copy_of: Checkpoint, tmp_path: Path) -> None:
    inner, engine = copy_of("bert"), Engine("cpu")
    outer = tmp_path / "sentences"
    shutil.copytree(inner, outer / "0_Transformer")
    types = {"0_Transformer": "Transformer", "1_Pooling": "Pooling"}
    modules = [{"path": path, "type": f"sentence_transformers.models.{name}"} for path, name in types.items()]
    (outer / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    (outer / "1_Pooling").mkdir()
    (outer / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}', encoding="utf-8")
    (outer / "0_Transformer" / "sentence_bert_config.json").write_text('{"max_seq_length": 16}', encoding="utf-8")
    assert engine.info(str(outer)).pooling == NamedPooling(("cls",), 16)
    with pytest.warns(UserWarning, match="max_tokens=16"):
        (states,) = engine.hidden_states(str(outer), [TEXT])
    assert (states == engine.hidden_states(str(inner), [TEXT])[0]).all()


# Configs and tokenizers as older checkpoints have them
# Tokens of a vocabulary with capitals, and of one without; what is in brackets counts for neither.
CASED = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]", "The", "the", "cat", "Café", "##s", "."]
UNCASED = [word.lower() if not word.startswith("[") else word for word in CASED if word != "the"]


OLD = ("bert", "bert_headless", "roberta", "distilbert", "albert", "electra_discriminator", "deberta", "deberta-v2")


@pytest.mark.parametrize("name", [*OLD, "xlnet", "mpnet"])
def test_a_network_is_known_by_its_weights(name: str, checkpoint: Checkpoint) -> None:
    """Neither ``model_type`` nor the class is named."""
    names = checkpoint_files.read_headers(checkpoint_files.weight_files(checkpoint(name)), "it").names
    assert configs._kind({}, names) == FAMILIES[name].model_type
    assert configs._kind({"architectures": None}, names) == FAMILIES[name].model_type


def test_a_network_is_known_by_its_class() -> None:
    for family in FAMILIES.values():
        assert configs._kind({"architectures": ["Nothing", family.head]}, []) == family.model_type
    for name in ("AutoConfig", "os", "__name__", "PreTrainedModel", 3):
        assert configs._kind({"architectures": [name]}, ["some.weight"]) is None


def test_a_bert_without_a_model_type_opens(copy_of: Checkpoint, checkpoint: Checkpoint) -> None:
    folder = copy_of("bert")
    change(folder, "config.json", model_type=None, architectures=None)
    engine = Engine("cpu")
    assert engine.info(str(folder)).nsp == "NSP"
    new = engine.attend(str(checkpoint("bert")), "The cat sat.")
    assert (engine.attend(str(folder), "The cat sat.").layer(2) == new.layer(2)).all()


def test_a_network_that_nobody_knows(copy_of: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copy_of("bert")
    change(folder, "config.json", model_type=None, architectures=None)
    monkeypatch.setattr(configs, "_SIGNS", ())
    with pytest.raises(BadCheckpoint, match="does not say which network it describes"):
        Engine("cpu").info(str(folder))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("bert", {"pruned_heads": {}, "output_past": True, "finetuning_task": "sst-2", "_num_labels": 5}),
        ("bert", {"emb_size": 312, "cell": {}, "structure": [], "pre_trained": "", "training": ""}),
        ("bert", {"gradient_checkpointing": False, "directionality": "bidi", "pooler_fc_size": 768}),
        ("deberta-v2", {"pos_att_type": "c2p|p2c"}),
        ("deberta", {"pos_att_type": "c2p|p2c"}),
    ],
)
def test_settings_of_before(name: str, changes: dict[str, Any], copy_of: Checkpoint) -> None:
    """They change nothing: the maps are those of the same weights with a config of today."""
    folder = copy_of(name)
    if "pos_att_type" in changes:
        change(folder, "config.json", pos_att_type=["c2p", "p2c"])
    engine, text = Engine("cpu"), "The cat sat on the mat."
    before = engine.attend(str(folder), text).layer(1)
    change(folder, "config.json", **changes)
    assert (Engine("cpu").attend(str(folder), text).layer(1) == before).all()


def test_heads_that_were_cut_out(copy_of: Checkpoint) -> None:
    folder = copy_of("bert")
    change(folder, "config.json", pruned_heads={"1": [0]})
    with pytest.raises(BadCheckpoint, match="pruned_heads"):
        Engine("cpu").info(str(folder))


@pytest.mark.parametrize(
    ("words", "settings", "tokens"),
    [
        (UNCASED, None, ["the", "cat", "##s", "."]),  # SciBERT
        (CASED, None, ["The", "cat", "##s", "."]),
        (CASED, {"max_len": 64}, ["The", "cat", "##s", "."]),
        (CASED, {"do_lower_case": True}, ["the", "cat", "##s", "."]),
        (UNCASED, {"do_lower_case": False}, ["[UNK]", "cat", "##s", "."]),
    ],
)
def test_capitals_of_a_vocabulary_alone(
    words: list[str], settings: dict[str, Any] | None, tokens: list[str], copy_of: Checkpoint
) -> None:
    """A setting is followed; without one, a vocabulary with capitals has them in its texts."""
    folder = copy_of("bert")
    for file in folder.glob("token*"):
        file.unlink()
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    if settings is not None:
        change(folder, "tokenizer_config.json", **settings)
    encoding = Engine("cpu").encode(str(folder), "The cats.")
    assert list(encoding.tokens[1:-1]) == tokens


def test_the_longest_text_of_an_older_tokenizer(copy_of: Checkpoint) -> None:
    folder = copy_of("bert")
    change(folder, "tokenizer_config.json", model_max_length=None, max_len=20)
    assert Engine("cpu").info(str(folder)).max_tokens == 20
    assert sources.find(str(folder)).n_tensors > 10
