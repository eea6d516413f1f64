"""What the registry claims agrees with the published hyper-parameters, built with the real config classes.

Models are built on the meta device: every layer exists, no memory is used, and parameters can be counted.
"""

import dataclasses
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import nn
from transformers import AutoConfig, PreTrainedConfig, PreTrainedModel
from transformers.models.auto import modeling_auto as auto

from model_zoo.families import bilstm
from model_zoo.registry import DEFAULT_MODEL, MODELS, find
from model_zoo.sources import embedded_folder
from model_zoo.types import ModelSpec

PUBLISHED: dict[str, Any] = json.loads(Path(__file__).with_name("published_configs.json").read_text(encoding="utf-8"))
"""Published hyper-parameters ("config"), the class that holds the weights the checkpoint was published with, and its
size as its paper or model card rounds it, in millions; some leave the heads out.
"""

# The class with a masked-word head, by family: transformers' own, and this repository's.
WITH_MASKED_WORDS = {**auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES, "bilstm": "BiLSTMForMaskedLM"}

EMBEDDED = [spec for spec in MODELS.values() if spec.hub_id is None]
every_model = pytest.mark.parametrize("spec", MODELS.values(), ids=lambda spec: spec.id)


@cache
def published(model_id: str) -> tuple[PreTrainedConfig, PreTrainedModel]:
    spec = MODELS[model_id]
    if spec.hub_id is None:
        config = AutoConfig.from_pretrained(embedded_folder(spec.id))
        head = config.architectures[0]
    else:
        head = PUBLISHED[model_id]["class"]
        config = AutoConfig.for_model(**PUBLISHED[model_id]["config"])
    with torch.device("meta"):
        return config, (getattr(transformers, head, None) or getattr(bilstm, head))(config)


def usable_positions(config: PreTrainedConfig, model: PreTrainedModel) -> int | None:
    """Positions a token can take, from the table of positions itself where the model has one."""
    names = ("position_embeddings", "embed_positions", "wpe")
    for name, module in model.named_modules():
        if name.rpartition(".")[2] in names and isinstance(module, nn.Embedding):
            # RoBERTa counts from the padding id + 1; BART leaves its first two rows unused.
            unused = getattr(module, "offset", 0)
            return module.num_embeddings - (unused if module.padding_idx is None else module.padding_idx + 1)
    positions = getattr(config, "max_position_embeddings", -1)
    return positions if positions > 0 else None  # XLNet says -1, T5 nothing: positions are relative


def test_the_default_is_bundled_and_all_others_are_published() -> None:
    default = MODELS[DEFAULT_MODEL]
    assert (default.id, default.hub_id, default.mlm, default.nsp) == ("embedded/bert", None, True, "NSP")
    assert set(PUBLISHED) == {spec.id for spec in MODELS.values() if spec.hub_id is not None}


# That courses name.
SYSTEMS = """
BERT base, BERT large, RoBERTa, XLNet, BART, ALBERT, DeBERTa base, DeBERTa-v3, DistilBERT, TinyBERT, MiniLM,
XtremeDistil, ELECTRA, SciBERT, EconBERTa, XLM-RoBERTa, XLM-T, PubMedBERT, Legal-BERT, CodeBERT, ModernBERT,
Sentence-BERT, T5, GPT-2, LSTM, CamemBERT, MPNet, MobileBERT, SqueezeBERT, Longformer
"""


def test_systems_that_courses_name_are_known_and_names_differ() -> None:
    names = {spec.name for spec in MODELS.values()}
    assert len(names) == len(MODELS)
    assert not [system for system in re.split(r",\s", SYSTEMS.strip()) if not any(system in name for name in names)]
    assert find("xlnet/xlnet-base-cased") is MODELS["xlnet/xlnet-base-cased"]
    assert find("nobody/nothing") is find("") is None


@every_model
def test_entry_is_well_formed(spec: ModelSpec) -> None:
    assert MODELS[spec.id] is spec
    assert spec.hub_id == (None if spec.id.startswith("embedded/") else spec.id)
    assert spec.name
    assert spec.licence
    assert spec.note.endswith(".")
    assert ". " not in spec.note  # one sentence
    assert len(spec.note) < 140
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.layers = 1  # type: ignore[misc]


@every_model
def test_figures_agree_with_the_published_config(spec: ModelSpec) -> None:
    config, model = published(spec.id)
    assert spec.family == config.model_type
    assert spec.layers == config.num_hidden_layers
    assert spec.heads == config.num_attention_heads
    assert spec.attention == (spec.heads > 0)
    assert spec.cross_attention == config.is_encoder_decoder
    assert spec.width == config.hidden_size
    assert spec.vocabulary == model.get_input_embeddings().num_embeddings
    assert spec.max_tokens == usable_positions(config, model)
    assert spec.parameters == sum(parameter.numel() for parameter in model.parameters())
    if millions := PUBLISHED.get(spec.id, {}).get("millions"):
        # 4%: published figures are rounded to a million or two, and differ in whether they count the heads.
        assert spec.parameters == pytest.approx(millions * 1e6, rel=0.04)


@every_model
def test_heads_agree_with_the_classes_of_transformers(spec: ModelSpec) -> None:
    _, model = published(spec.id)
    head = type(model).__name__
    masked = WITH_MASKED_WORDS.get(spec.family)
    next_sentence = auto.MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING_NAMES.get(spec.family)
    both = auto.MODEL_FOR_PRETRAINING_MAPPING_NAMES.get(spec.family)
    has_both = head == both and next_sentence is not None
    assert spec.mlm == (head == masked or has_both)
    assert (spec.nsp == "NSP") == has_both
    assert (spec.nsp == "SOP") == (head == "AlbertForPreTraining")
    if spec.family in WITH_MASKED_WORDS and not spec.mlm:
        assert "no masked-word head" in spec.note  # its relatives have one, so say that this one has not


@pytest.mark.parametrize("spec", EMBEDDED, ids=lambda spec: spec.id)
def test_embedded_weights_are_those_of_the_entry(spec: ModelSpec) -> None:
    weights: Path = embedded_folder(spec.id) / "model.safetensors"
    with weights.open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    shapes = {name: entry["shape"] for name, entry in header.items() if name != "__metadata__"}
    _, model = published(spec.id)
    stored = {name: list(parameter.shape) for name, parameter in model.named_parameters()}
    # A tied matrix may be stored under either name, or both.
    tied = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias", "cls.predictions.bias"}
    assert {name: shape for name, shape in shapes.items() if name not in tied} == {
        name: shape for name, shape in stored.items() if name not in tied
    }
