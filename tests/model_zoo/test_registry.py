"""What the registry claims agrees with the published hyper-parameters, built with the real config classes.

Models are built on the meta device: every layer exists, no memory is used, and parameters can be counted.
"""

from __future__ import annotations

import dataclasses
import json
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

BERT: dict[str, Any] = {"model_type": "bert", "vocab_size": 30522}  # BertConfig's own defaults are BERT-base
ROBERTA: dict[str, Any] = {
    "model_type": "roberta",
    "vocab_size": 50265,
    "max_position_embeddings": 514,
    "type_vocab_size": 1,
}
XLM_R = ROBERTA | {"model_type": "xlm-roberta", "vocab_size": 250002}
DEBERTA_V3: dict[str, Any] = {
    "model_type": "deberta-v2",
    "vocab_size": 128100,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "type_vocab_size": 0,
    "relative_attention": True,
    "position_biased_input": False,
    "pos_att_type": ["p2c", "c2p"],
    "position_buckets": 256,
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
}
ELECTRA_SMALL: dict[str, Any] = {
    "model_type": "electra",
    "vocab_size": 30522,
    "embedding_size": 128,
    "hidden_size": 256,
    "num_hidden_layers": 12,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
}

# Published hyper-parameters, and the class that holds the weights the checkpoint was published with.
CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "google-bert/bert-base-uncased": ("BertForPreTraining", BERT),
    "google-bert/bert-large-uncased": (
        "BertForPreTraining",
        BERT | {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096},
    ),
    "FacebookAI/roberta-base": ("RobertaForMaskedLM", ROBERTA),
    "xlnet/xlnet-base-cased": (
        "XLNetLMHeadModel",
        {"model_type": "xlnet", "d_model": 768, "n_layer": 12, "n_head": 12, "d_inner": 3072},
    ),
    "facebook/bart-base": (
        "BartForConditionalGeneration",
        {
            "model_type": "bart",
            "vocab_size": 50265,
            "d_model": 768,
            "encoder_layers": 6,
            "decoder_layers": 6,
            "encoder_attention_heads": 12,
            "decoder_attention_heads": 12,
            "encoder_ffn_dim": 3072,
            "decoder_ffn_dim": 3072,
            "max_position_embeddings": 1024,
        },
    ),
    "albert/albert-base-v2": (
        "AlbertForMaskedLM",
        {
            "model_type": "albert",
            "vocab_size": 30000,
            "embedding_size": 128,
            "hidden_size": 768,
            "num_hidden_layers": 12,
            "num_attention_heads": 12,
            "intermediate_size": 3072,
        },
    ),
    "microsoft/deberta-base": (
        "DebertaModel",
        {
            "model_type": "deberta",
            "vocab_size": 50265,
            "type_vocab_size": 0,
            "relative_attention": True,
            "position_biased_input": False,
            "pos_att_type": ["c2p", "p2c"],
        },
    ),
    "microsoft/deberta-v3-base": ("DebertaV2Model", DEBERTA_V3),
    "worldbank/econberta": ("DebertaV2Model", DEBERTA_V3),
    "distilbert/distilbert-base-uncased": ("DistilBertForMaskedLM", {"model_type": "distilbert"}),
    "huawei-noah/TinyBERT_General_4L_312D": (
        "BertModel",
        BERT | {"hidden_size": 312, "num_hidden_layers": 4, "intermediate_size": 1200},
    ),
    "microsoft/MiniLM-L12-H384-uncased": ("BertModel", BERT | {"hidden_size": 384, "intermediate_size": 1536}),
    "microsoft/xtremedistil-l6-h256-uncased": (
        "BertModel",
        BERT | {"hidden_size": 256, "num_hidden_layers": 6, "num_attention_heads": 8, "intermediate_size": 1024},
    ),
    "google/electra-small-generator": ("ElectraForMaskedLM", ELECTRA_SMALL),
    "google/electra-small-discriminator": ("ElectraForPreTraining", ELECTRA_SMALL),
    "allenai/scibert_scivocab_uncased": ("BertForPreTraining", BERT | {"vocab_size": 31090}),
    "FacebookAI/xlm-roberta-base": ("XLMRobertaForMaskedLM", XLM_R),
    "cardiffnlp/twitter-xlm-roberta-base": ("XLMRobertaForMaskedLM", XLM_R),
    "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract-fulltext": ("BertForMaskedLM", BERT),
    "nlpaueb/legal-bert-base-uncased": ("BertForPreTraining", BERT),
    "microsoft/codebert-base": ("RobertaModel", ROBERTA),
    "microsoft/codebert-base-mlm": ("RobertaForMaskedLM", ROBERTA),
    "answerdotai/ModernBERT-base": (
        "ModernBertForMaskedLM",
        {
            "model_type": "modernbert",
            "vocab_size": 50368,
            "hidden_size": 768,
            "intermediate_size": 1152,
            "num_hidden_layers": 22,
            "num_attention_heads": 12,
            "max_position_embeddings": 8192,
        },
    ),
    "sentence-transformers/all-MiniLM-L6-v2": (
        "BertModel",
        BERT | {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536},
    ),
    "google-t5/t5-small": (
        "T5ForConditionalGeneration",
        {
            "model_type": "t5",
            "vocab_size": 32128,
            "d_model": 512,
            "d_kv": 64,
            "d_ff": 2048,
            "num_layers": 6,
            "num_heads": 8,
        },
    ),
    "openai-community/gpt2": ("GPT2LMHeadModel", {"model_type": "gpt2"}),
    "almanach/camembert-base": ("CamembertForMaskedLM", ROBERTA | {"model_type": "camembert", "vocab_size": 32005}),
    "microsoft/mpnet-base": (
        "MPNetForMaskedLM",
        {"model_type": "mpnet", "vocab_size": 30527, "max_position_embeddings": 514},
    ),
    "google/mobilebert-uncased": ("MobileBertForPreTraining", {"model_type": "mobilebert"}),
    "squeezebert/squeezebert-uncased": ("SqueezeBertForMaskedLM", {"model_type": "squeezebert", "vocab_size": 30528}),
    "allenai/longformer-base-4096": (
        "LongformerForMaskedLM",
        ROBERTA | {"model_type": "longformer", "max_position_embeddings": 4098, "attention_window": 512},
    ),
}

# Sizes as their papers or model cards round them, in millions; some leave the heads out.
PUBLISHED_MILLIONS = {
    "google-bert/bert-base-uncased": 110,
    "google-bert/bert-large-uncased": 340,
    "FacebookAI/roberta-base": 125,
    "albert/albert-base-v2": 11,
    "microsoft/deberta-v3-base": 184,
    "distilbert/distilbert-base-uncased": 66,
    "huawei-noah/TinyBERT_General_4L_312D": 14.5,
    "microsoft/MiniLM-L12-H384-uncased": 33,
    "microsoft/xtremedistil-l6-h256-uncased": 13,
    "google/electra-small-discriminator": 14,
    "FacebookAI/xlm-roberta-base": 278,
    "answerdotai/ModernBERT-base": 149,
    "sentence-transformers/all-MiniLM-L6-v2": 22.7,
    "google-t5/t5-small": 60.5,
    "openai-community/gpt2": 124,
    "facebook/bart-base": 140,
    "almanach/camembert-base": 110,
    "squeezebert/squeezebert-uncased": 51.1,
}

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
        head, sizes = CONFIGS[model_id]
        config = AutoConfig.for_model(**sizes)
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


def test_the_default_is_there_and_lies_in_the_repository() -> None:
    assert DEFAULT_MODEL == "embedded/bert"
    default = MODELS[DEFAULT_MODEL]
    assert (default.hub_id, default.layers, default.heads, default.width) == (None, 6, 12, 384)
    assert (default.vocabulary, default.max_tokens, default.mlm, default.nsp) == (30522, 512, True, "NSP")


def test_find_knows_ids_of_the_registry_only() -> None:
    assert find("embedded/bert") is MODELS["embedded/bert"]
    assert find("xlnet/xlnet-base-cased") is MODELS["xlnet/xlnet-base-cased"]
    assert find("nobody/nothing") is None
    assert find("") is None


def test_every_system_of_the_registry_has_a_published_config() -> None:
    assert set(CONFIGS) == {spec.id for spec in MODELS.values() if spec.hub_id is not None}
    assert set(PUBLISHED_MILLIONS) <= set(CONFIGS)


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


def test_names_differ() -> None:
    assert len({spec.name for spec in MODELS.values()}) == len(MODELS)


@pytest.mark.parametrize(
    "system",
    [
        "BERT base",
        "BERT large",
        "RoBERTa",
        "XLNet",
        "BART",
        "ALBERT",
        "DeBERTa base",
        "DeBERTa-v3",
        "DistilBERT",
        "TinyBERT",
        "MiniLM",
        "XtremeDistil",
        "ELECTRA",
        "SciBERT",
        "EconBERTa",
        "XLM-RoBERTa",
        "XLM-T",
        "PubMedBERT",
        "Legal-BERT",
        "CodeBERT",
        "ModernBERT",
        "Sentence-BERT",
        "T5",
        "GPT-2",
        "LSTM",
        "CamemBERT",
        "MPNet",
        "MobileBERT",
        "SqueezeBERT",
        "Longformer",
    ],
)
def test_systems_that_courses_name_are_known(system: str) -> None:
    assert any(system in spec.name for spec in MODELS.values())


@every_model
def test_sizes_agree_with_the_config(spec: ModelSpec) -> None:
    config, model = published(spec.id)
    assert spec.family == config.model_type
    assert spec.layers == config.num_hidden_layers
    assert spec.heads == config.num_attention_heads
    assert spec.width == config.hidden_size
    assert spec.vocabulary == model.get_input_embeddings().num_embeddings
    assert spec.max_tokens == usable_positions(config, model)


@every_model
def test_parameters_are_counted(spec: ModelSpec) -> None:
    _, model = published(spec.id)
    assert spec.parameters == sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("model_id", PUBLISHED_MILLIONS)
def test_parameters_are_near_the_published_figure(model_id: str) -> None:
    # 4%: published figures are rounded to a million or two, and differ in whether they count the heads.
    assert MODELS[model_id].parameters == pytest.approx(PUBLISHED_MILLIONS[model_id] * 1e6, rel=0.04)


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


@every_model
def test_kind_of_attention_agrees_with_the_config(spec: ModelSpec) -> None:
    config, _ = published(spec.id)
    assert spec.attention == (spec.heads > 0)
    assert spec.cross_attention == config.is_encoder_decoder


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


def test_electras_generator_is_not_said_to_fool_anybody() -> None:
    """It is trained by likelihood, not against the discriminator (Clark et al. 2020)."""
    (generator,) = [spec for spec in MODELS.values() if spec.name == "ELECTRA small, generator"]
    assert "fool" not in generator.note
    assert "trained on masked words" in generator.note
