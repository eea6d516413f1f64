"""Recipes and the models they make: sizes, starts, vocabularies, and the checkpoints in the repository."""

import json
import lzma
import math

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertForPreTraining, PreTrainedTokenizerFast

from model_zoo.errors import BadCheckpoint, InvalidInput
from model_zoo.sources import WEIGHTS
from training import models
from training.models import ARCHITECTURES, load_complete, make_model, package_folder, special_tokens, train_vocabulary
from training.recipes import MINILM, RECIPES, Recipe

SMALL_BERT = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "c.jsonl.xz"
    sentences = ["The cat sat on the mat.", "The dog sat on the log.", "Paris is a city."] * 5
    line = json.dumps({"source": "a:b", "ordered": True, "sentences": sentences})
    path.write_bytes(lzma.compress(line.encode()))
    return train_vocabulary(path, 300)


def _sizes() -> dict[str, int]:
    """Parameters of each recipe's model, built without memory."""
    sizes = {}
    for name, recipe in RECIPES.items():
        base = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
        config = (base if recipe.start == MINILM else {}) | dict(recipe.config)
        architecture = ARCHITECTURES[recipe.architecture]
        config |= {"vocab_size": recipe.own_vocabulary or 30522, "pad_token_id": 0}
        with torch.device("meta"):
            model = architecture.model(architecture.config(**config))
        sizes[name] = sum(parameter.numel() for parameter in model.parameters())
    return sizes


def test_the_family_fits_into_forty_megabytes():
    sizes = _sizes()
    # Six layers of 12·w² + 13·w, the vocabulary, positions, heads: BERT's own arithmetic.
    width = 384
    layers = 6 * (12 * width**2 + 13 * width)
    embeddings = (30522 + 512 + 2) * width + 2 * width
    heads = (width**2 + width) + (width**2 + 3 * width) + 30522 + (2 * width + 2)
    assert sizes["bert"] == layers + embeddings + heads
    tokenizer_files = 2 * 720_000 + 2 * 600_000
    assert sum(sizes.values()) * 1.02 + tokenizer_files < 40_000_000


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_recipes_agree_with_themselves(recipe: Recipe):
    has_pairs = any(shape.pairs > 0 for shape in recipe.shapes)
    assert has_pairs == (ARCHITECTURES[recipe.architecture].next_sentence is not None)
    assert sum(shape.share for shape in recipe.shapes) == pytest.approx(1)
    assert all(recipe.batch_tokens % shape.length == 0 for shape in recipe.shapes)
    assert (recipe.start is None) != (recipe.own_vocabulary is None)
    assert recipe.group_weights["litbank"] < 1
    if recipe.distillation is not None:
        assert (WEIGHTS / recipe.distillation.teacher / "model.safetensors").is_file()


def test_a_vocabulary_of_its_own(tokenizer):
    assert len(tokenizer) <= 300
    encoded = tokenizer("The cat sat.", "Paris!")
    special = special_tokens(tokenizer)
    assert encoded["input_ids"][0] == special.cls
    assert encoded["input_ids"].count(special.sep) == 2
    decoded = tokenizer.decode(encoded["input_ids"], skip_special_tokens=True)
    assert decoded.split() == ["The", "cat", "sat.", "Paris!"]
    assert tokenizer.mask_token_id == special.mask
    assert special.mask in tokenizer("A [MASK] sat.")["input_ids"]
    assert tokenizer("naïve ☃")["input_ids"].count(tokenizer.unk_token_id) == 0  # every byte has a piece
    assert sorted(np.flatnonzero(special.is_special)) == sorted(tokenizer.all_special_ids)
    assert len(special.ordinary) == len(tokenizer) - 5


def test_a_mask_takes_the_place_of_a_piece_and_its_space(tokenizer):
    """Every word begins with its space, the first one too; none appears beside a mask."""

    def pieces(text: str) -> list[str]:
        return tokenizer.convert_ids_to_tokens(tokenizer(text, add_special_tokens=False)["input_ids"])

    plain, masked, first, sat = map(pieces, ("The cat sat.", "The [MASK] sat.", "[MASK] sat.", "sat."))
    assert plain[0][0] == "Ġ"
    assert masked == [*pieces("The"), "[MASK]", *sat]
    assert first == ["[MASK]", *sat]
    assert plain[-len(sat) :] == sat
    spans = tokenizer("The  cat", "[MASK].", return_offsets_mapping=True)["offset_mapping"]
    assert spans[-3:-1] == [(0, 6), (6, 7)]


@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
def test_a_fresh_model_guesses_near_the_unigram_distribution(architecture: str, tokenizer):
    config = {"hidden_size": 16, "num_hidden_layers": 2} if architecture == "bilstm" else SMALL_BERT
    recipe = Recipe(name="x", architecture=architecture, config=config, own_vocabulary=300)
    frequencies = np.arange(1, len(tokenizer) + 1, dtype=np.float64)
    frequencies /= frequencies.sum()
    model = make_model(recipe, tokenizer, np.log(frequencies).astype(np.float32), None, None).eval()
    ids = torch.tensor([tokenizer("The [MASK] sat.")["input_ids"]])
    with torch.no_grad():
        output = model(ids)
    scores = output.prediction_logits if architecture == "bert" else output.logits
    log_probabilities = scores[0, 2].log_softmax(dim=-1).numpy()
    divergence = float((frequencies * (np.log(frequencies) - log_probabilities)).sum())
    assert 0 <= divergence < 0.05
    assert math.log(len(tokenizer)) + (frequencies * np.log(frequencies)).sum() > 0.15  # uniform would be worse


def test_what_a_model_cannot_be_made_of_is_refused(tokenizer, tmp_path):
    recipe = Recipe(name="t", architecture="bert", config=SMALL_BERT, own_vocabulary=300)
    model = make_model(recipe, tokenizer, np.zeros(len(tokenizer), dtype=np.float32), None, None)
    model.bert.save_pretrained(tmp_path)
    with pytest.raises(BadCheckpoint, match="lacks the weights"):
        load_complete(BertForPreTraining, tmp_path)
    with pytest.raises(BadCheckpoint, match="There is no model in"):
        load_complete(BertForPreTraining, tmp_path / "nothing")
    with pytest.raises(InvalidInput, match=r"no-such-package-here.*pip install"):
        package_folder("no-such-package-here")
    roles = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    maskless = PreTrainedTokenizerFast(tokenizer_object=tokenizer.backend_tokenizer, **roles)
    with pytest.raises(InvalidInput, match="no mask token"):
        special_tokens(maskless)


EMBEDDED = sorted(folder.name for folder in WEIGHTS.iterdir() if (folder / "config.json").is_file())


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_models_are_complete_float32_and_have_a_card(name: str):
    folder = WEIGHTS / name
    config = json.loads((folder / "config.json").read_text())
    assert config["dtype"] == "float32"
    kind = next((kind for kind in ARCHITECTURES.values() if kind.config.model_type == config["model_type"]), None)
    model, info = (kind.model if kind else AutoModelForMaskedLM).from_pretrained(folder, output_loading_info=True)
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert len(tokenizer("word " * 600, verbose=False)["input_ids"]) > 600, "the tokenizer truncates by itself"
    card = (folder / "README.md").read_text()
    for heading in ("## Training", "## Figures", "## Limits"):
        assert heading in card
    assert "licence" in card


def test_embedded_models_take_forty_megabytes_at_most():
    n_bytes = sum(file.stat().st_size for file in WEIGHTS.rglob("*") if file.is_file())
    assert n_bytes <= 40_000_000
    assert models.WEIGHTS.name == "weights"
