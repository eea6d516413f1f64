"""Adapters (LoRA): merged with the network that they belong to as peft merges them, or said to be what they are."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from checkpoints import TEXT, Checkpoint
from huggingface_hub import constants
from loopback_hub import Hub
from refused import message
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from model_zoo import Engine, loading, sources
from model_zoo.errors import BadCheckpoint
from tests.model_zoo.test_pickles import Runs

INSTALLED = importlib.util.find_spec("peft") is not None
needs_peft = pytest.mark.skipif(not INSTALLED, reason="peft is optional")
# Of peft itself, while it prepares a training.
pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")


def written(folder: Path, base: str, **settings: Any) -> Path:
    """An adapter whose matrices nobody reads."""
    folder.mkdir(exist_ok=True)
    known = {"peft_type": "LORA", "base_model_name_or_path": base} | settings
    (folder / "adapter_config.json").write_text(json.dumps(known), encoding="utf-8")
    save_file({"base_model.model.x.lora_A.weight": torch.zeros(1, 1)}, folder / "adapter_model.safetensors")
    return folder


def trained(auto: str, base: Path, folder: Path, **settings: Any) -> Any:
    """The network with an adapter of random numbers, which is saved in the folder."""
    from peft import LoraConfig, get_peft_model

    labels = {"num_labels": 3} if settings.get("task_type") in ("SEQ_CLS", "TOKEN_CLS") else {}
    network = getattr(transformers, auto).from_pretrained(base, **labels)
    adapted = get_peft_model(network, LoraConfig(r=4, lora_alpha=8, **settings))
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(1)
        for parameter in adapted.parameters():
            if parameter.requires_grad:
                parameter.copy_(torch.randn_like(parameter) * 0.3)
    adapted.save_pretrained(folder)
    return adapted.eval()


BERT_LIKE: dict[str, Any] = {"target_modules": ["query", "value"]}
Q_LIN: dict[str, Any] = {"target_modules": ["q_lin"]}


@needs_peft
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "auto", "settings", "tuned_for"),
    [
        ("bert", "AutoModel", BERT_LIKE, None),
        ("bert_headless", "AutoModelForMaskedLM", BERT_LIKE, None),
        ("bert", "AutoModelForMaskedLM", {"target_modules": ["query", "word_embeddings"]}, None),
        ("bert", "AutoModelForSequenceClassification", BERT_LIKE | {"task_type": "SEQ_CLS"}, "classification"),
        ("roberta", "AutoModelForSequenceClassification", BERT_LIKE | {"task_type": "SEQ_CLS"}, "classification"),
        ("distilbert", "AutoModelForTokenClassification", Q_LIN | {"task_type": "TOKEN_CLS"}, "tagging"),
        ("distilbert", "AutoModelForSequenceClassification", Q_LIN | {"task_type": "SEQ_CLS"}, "classification"),
        ("bert", "AutoModelForQuestionAnswering", BERT_LIKE | {"task_type": "QUESTION_ANS"}, "answering"),
        ("gpt2", "AutoModelForCausalLM", {"target_modules": ["c_attn"], "fan_in_fan_out": True}, None),
        ("bert", "AutoModel", BERT_LIKE | {"use_dora": True}, None),
        ("bert", "AutoModel", BERT_LIKE | {"use_rslora": True, "bias": "all"}, None),
        ("bert", "AutoModel", BERT_LIKE | {"bias": "lora_only"}, None),
        ("bert", "AutoModel", {"target_modules": r"encoder\.layer\.0\.attention\.self\.(query|key)"}, None),
    ],
)  # fmt: skip
def test_an_adapter_is_merged_as_peft_does(
    name: str, auto: str, settings: dict[str, Any], tuned_for: str | None, checkpoint: Checkpoint, tmp_path: Path
) -> None:
    base, folder, engine = checkpoint(name), tmp_path / "adapter", Engine("cpu")
    adapted = trained(auto, base, folder, **settings)
    tokens = AutoTokenizer.from_pretrained(base)(TEXT, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        output = adapted.base_model.model(input_ids=tokens, output_hidden_states=True)
    states = engine.hidden_states(str(folder), [TEXT])[0]
    np.testing.assert_allclose(states, [layer[0].numpy() for layer in output.hidden_states], atol=2e-5)
    assert np.abs(states - engine.hidden_states(str(base), [TEXT])[0]).max() > 0.1
    info = engine.info(str(folder))
    assert (info.tuned_for, info.id) == (tuned_for, str(folder))
    assert info.revision != engine.info(str(base)).revision
    assert len(info.labels) == (3 if tuned_for in ("classification", "tagging") else 0)
    if tuned_for is not None:  # the head that came with it
        network = loading.load(sources.find(str(folder)), torch.device("cpu")).model
        with torch.no_grad():
            output_merged = network(input_ids=tokens)
        for name_ in ("logits", "start_logits"):
            if hasattr(output_merged, name_):
                torch.testing.assert_close(getattr(output_merged, name_), getattr(output, name_), atol=1e-5, rtol=0)


@needs_peft
@pytest.mark.usefixtures("forked")
def test_a_pickled_adapter_runs_nothing(
    checkpoint: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    folder = tmp_path / "adapter"
    trained("AutoModel", checkpoint("bert"), folder, **BERT_LIKE)
    expected = Engine("cpu").hidden_states(str(folder), [TEXT])[0]
    safe = folder / "adapter_model.safetensors"
    torch.save(load_file(safe), folder / "adapter_model.bin")
    safe.unlink()
    assert (Engine("cpu").hidden_states(str(folder), [TEXT])[0] == expected).all()
    with pytest.raises(BadCheckpoint, match="has its weights as pickles only"):
        Engine("cpu", pickles="never").info(str(folder))
    proof = tmp_path / "it ran"
    torch.save({"x": Runs(proof)}, folder / "adapter_model.bin")
    with pytest.raises(BadCheckpoint, match="the pickle holds more than tensors"):
        Engine("cpu").info(str(folder))
    assert not proof.exists()


@needs_peft
def test_an_adapter_of_another_network(checkpoint: Checkpoint, tmp_path: Path) -> None:
    folder = tmp_path / "adapter"
    trained("AutoModel", checkpoint("distilbert"), folder, **Q_LIN)
    assert Engine("cpu").info(str(folder)).mlm
    settings = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
    other = settings | {"base_model_name_or_path": str(checkpoint("bert"))}
    (folder / "adapter_config.json").write_text(json.dumps(other), encoding="utf-8")
    with pytest.raises(BadCheckpoint, match="do not fit each other"):
        Engine("cpu").info(str(folder))


@pytest.mark.parametrize("with_config", [True, False])
def test_adapters_refused(
    with_config: bool, checkpoint: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bert, folder = str(checkpoint("bert")), tmp_path / "adapter"
    beginning = (
        f"“{folder}” is an adapter (PEFT) of “{bert}”: it holds what was changed in a network, and not the network. "
    )
    written(folder, bert)
    if with_config:
        (folder / "config.json").write_bytes((checkpoint("bert") / "config.json").read_bytes())
    with monkeypatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda _name: None)
        assert message(str(folder)).startswith(beginning + "To open both together, install peft")
        assert message(str(written(folder, bert, peft_type="IA3"))).startswith(beginning + "It is no LoRA")
    with monkeypatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda _name: object())
        for base in ("someone/elsewhere", "./out/base", str(folder)):
            assert "That network is not on this machine" in message(str(written(folder, base)))
    (folder / "adapter_config.json").write_text("[", encoding="utf-8")
    assert message(str(folder)).startswith(f"The adapter_config.json of “{folder}” cannot be read")


def test_an_adapter_on_the_hub(hub: Hub, tmp_path: Path) -> None:
    hub.models["someone/tiny"] = written(tmp_path / "adapter", "google-bert/bert-base-uncased")
    assert message("someone/tiny").startswith("“someone/tiny” is an adapter (PEFT)")
    assert not any("resolve" in request for request in hub.requests)
