"""The tiny checkpoints that other tests load are what they claim to be."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from checkpoints import (
    FAMILIES,
    N_HEADS,
    N_LAYERS,
    SENTENCES,
    TEXT,
    TEXT_PAIR,
    WIDTH,
    WITH_ATTENTION,
    WITH_DECODER,
    Family,
    build,
)
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedTokenizerBase
from transformers.models.auto import modeling_auto as auto

from model_zoo import by_transformers

every_family = pytest.mark.parametrize("name", FAMILIES)
with_attention = pytest.mark.parametrize("name", WITH_ATTENTION)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("checkpoints")
    return {name: build(name, root / name) for name in FAMILIES}


def encode(tokenizer: PreTrainedTokenizerBase, model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """A pair as tensors, only what the model's ``forward`` takes (DistilBERT takes no segments)."""
    encoded = tokenizer(TEXT, TEXT_PAIR, return_tensors="pt")
    accepted = inspect.signature(model.forward).parameters
    return {key: value for key, value in encoded.items() if key in accepted}


def attentions(folder: Path, family: Family) -> tuple[Any, dict[str, torch.Tensor]]:
    model = getattr(transformers, family.head).from_pretrained(folder, attn_implementation="eager")
    by_transformers.prepare(model.base_model)
    inputs = encode(AutoTokenizer.from_pretrained(folder), model)
    if family.cross_attention:
        inputs["decoder_input_ids"] = inputs["input_ids"]
    with torch.no_grad():
        return model(**inputs, output_attentions=True), inputs


@every_family
def test_loads_back_complete_through_the_auto_classes(name: str, folders: dict[str, Path]) -> None:
    family, folder = FAMILIES[name], folders[name]
    assert (folder / "model.safetensors").is_file()
    assert not list(folder.glob("*.bin"))
    assert AutoConfig.from_pretrained(folder).model_type == family.model_type
    _, report = getattr(transformers, family.head).from_pretrained(folder, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    assert not report["mismatched_keys"]
    _, report = AutoModel.from_pretrained(folder, output_loading_info=True)
    # RoBERTa-like masked language models are saved without the pooler that the bare model would have.
    assert all("pooler" in key for key in report["missing_keys"])


@every_family
def test_claimed_heads_are_those_the_loading_report_finds(name: str, folders: dict[str, Path]) -> None:
    family, folder = FAMILIES[name], folders[name]

    def complete(names: dict[str, str]) -> bool:
        if family.model_type not in names:
            return False
        head = getattr(transformers, names[family.model_type])
        _, report = head.from_pretrained(folder, output_loading_info=True)
        return not report["missing_keys"] and not report["mismatched_keys"]

    assert complete(auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES) == family.mlm
    next_sentence = complete(auto.MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING_NAMES)
    sentence_order = family.model_type == "albert" and complete(auto.MODEL_FOR_PRETRAINING_MAPPING_NAMES)
    if family.model_type == "megatron-bert":  # its class is called that of next sentences
        next_sentence, sentence_order = False, next_sentence
    assert next_sentence == (family.nsp == "NSP")
    assert sentence_order == (family.nsp == "SOP")


@every_family
def test_same_weights_every_time(name: str, folders: dict[str, Path], tmp_path: Path) -> None:
    again = build(name, tmp_path)
    assert (again / "model.safetensors").read_bytes() == (folders[name] / "model.safetensors").read_bytes()


@every_family
def test_offsets_point_at_the_characters_of_each_token(name: str, folders: dict[str, Path]) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folders[name])
    assert tokenizer.is_fast
    encoded = tokenizer(TEXT, return_offsets_mapping=True, return_special_tokens_mask=True)
    covered: set[int] = set()
    tokens = tokenizer.convert_ids_to_tokens(encoded["input_ids"])
    parts = zip(tokens, encoded["offset_mapping"], encoded["special_tokens_mask"], strict=True)
    for token, (start, end), special in parts:
        if special:
            assert (start, end) == (0, 0)
            continue
        assert token != tokenizer.unk_token
        written = token.removeprefix("##").lstrip("Ġ▁")
        if written:  # a lone "▁" or "Ġ" marks that a word begins; its span is a matter of the tokenizer
            assert TEXT[start:end].strip().lower() == written.lower()
        covered.update(range(start, end))
    assert {i for i, character in enumerate(TEXT) if character != " "} <= covered
    decoded = tokenizer.decode(encoded["input_ids"], skip_special_tokens=True)
    assert decoded.replace(" ", "").lower() == TEXT.replace(" ", "").lower()


@every_family
def test_pair_has_its_special_tokens(name: str, folders: dict[str, Path]) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folders[name])
    encoded = tokenizer(TEXT, TEXT_PAIR)
    tokens = tokenizer.convert_ids_to_tokens(encoded["input_ids"])
    first = tokenizer.tokenize(TEXT)
    second = tokenizer.tokenize(TEXT_PAIR)
    before, between, after = FAMILIES[name].special
    assert tokens == [*before, *first, *between, *second, *after]
    assert (tokenizer.mask_token is not None) == FAMILIES[name].has_mask


@with_attention
def test_eager_attention_is_of_the_kind_it_says(name: str, folders: dict[str, Path]) -> None:
    family = FAMILIES[name]
    output, inputs = attentions(folders[name], family)
    n = inputs["input_ids"].shape[1]
    maps = output.encoder_attentions if family.cross_attention else output.attentions
    assert len(maps) == N_LAYERS
    n_keys = 8 + 1 if family.model_type in by_transformers.WINDOWS else n

    def weights_of(layer: torch.Tensor) -> torch.Tensor:
        return layer.softmax(-1) if family.model_type in by_transformers.SCORES else layer

    for layer in maps:
        assert layer.shape == (1, N_HEADS, n, n_keys)
        weights = weights_of(layer)
        torch.testing.assert_close(weights.sum(-1), torch.ones(1, N_HEADS, n), atol=1e-5, rtol=0)
        hidden = torch.triu(torch.ones(n, n_keys, dtype=torch.bool), diagonal=1)
        assert (not weights[..., hidden].any()) == family.causal
    # Far from uniform somewhere: a query gives one key more than three times its even share.
    assert (
        max((w.softmax(-1) if family.model_type in by_transformers.SCORES else w).max().item() for w in maps)
        > 3 / n_keys
    )


@pytest.mark.parametrize("name", WITH_DECODER)
def test_encoder_decoders_give_three_kinds_of_attention(name: str, folders: dict[str, Path]) -> None:
    output, inputs = attentions(folders[name], FAMILIES[name])
    n = inputs["input_ids"].shape[1]
    assert len(output.decoder_attentions) == len(output.cross_attentions) == N_LAYERS - 1
    future = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)
    assert not output.decoder_attentions[0][..., future].any()
    assert output.cross_attentions[0][..., future].all()


def test_modernbert_slides(folders: dict[str, Path]) -> None:
    output, inputs = attentions(folders["modernbert"], FAMILIES["modernbert"])
    position = torch.arange(inputs["input_ids"].shape[1])
    far = (position[:, None] - position[None, :]).abs() > 4
    assert far.any()
    assert output.attentions[0][..., far].all()
    assert not output.attentions[1][..., far].any()
    assert not output.attentions[2][..., far].any()


@every_family
def test_attention_interface_is_open_to_those_that_say_so(name: str, folders: dict[str, Path]) -> None:
    head = getattr(transformers, FAMILIES[name].head)
    if FAMILIES[name].interface:
        model = head.from_pretrained(folders[name], attn_implementation="sdpa")
        assert model.config._attn_implementation == "sdpa"
    else:
        with pytest.raises(ValueError, match="scaled_dot_product_attention"):
            head.from_pretrained(folders[name], attn_implementation="sdpa")


def test_sizes_are_those_of_the_constants(folders: dict[str, Path]) -> None:
    for name, folder in folders.items():
        config = AutoConfig.from_pretrained(folder)
        heads = N_HEADS if FAMILIES[name].attention else 0
        assert (config.num_hidden_layers, getattr(config, "num_attention_heads", 0)) == (N_LAYERS, heads)
        assert config.hidden_size == WIDTH
    assert len(SENTENCES) == len(set(SENTENCES))
