"""The tokenizer of a checkpoint: of whatever files it is made, and as its authors meant it where they did not say."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer, PreTrainedTokenizer, PreTrainedTokenizerFast
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name
from transformers.tokenization_utils_base import PreTrainedTokenizerBase

from model_zoo import checkpoint, tokenizer_sandbox
from model_zoo.errors import BadCheckpoint

# Tokens with a meaning of their own, in capitals in every vocabulary.
_BRACKETED = re.compile(r"\[.*\]|<.*>")

# What transformers takes for a file where the settings have a text: any file of this machine, whose lines would be the
# words on screen. Beside them ``…_file``, which it takes from the second file alone.
_NAMES_OF_FILES = ("vocab", "merges", "gguf_file")
_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json")


def read_tokenizer(folder: Path, config: Any, model: str, *, listed: bool) -> Any:
    """A tokenizer of transformers that neither pads nor cuts: a fast one, or one written in Python where there is none
    of its kind. One that is not of a listed model is tried first.

    Raises BadCheckpoint, and whatever transformers does.
    """
    kinds = _kinds(folder, config, model)
    slow = any(issubclass(kind, PreTrainedTokenizer) for kind in kinds)
    saved = [] if listed else checkpoint.tokenizer_files(folder)
    for rules in saved:
        tokenizer_sandbox.refuse_dangerous(rules.read_bytes(), model)
    for pieces in (*folder.glob("*.model"), *folder.glob("*.spm")) if slow or not saved else ():
        if not listed:
            tokenizer_sandbox.refuse_dangerous(pieces.read_bytes(), model, "sentencepiece")
    _refuse_files_elsewhere(folder, model)
    try:
        with tokenizer_sandbox.time_bounded() if slow else nullcontext():
            options = {} if slow else infer_missing_settings(folder)
            tokenizer = AutoTokenizer.from_pretrained(
                folder, config=config, trust_remote_code=False, local_files_only=True, **options
            )
    except ImportError as error:
        worded = re.search(r"(?:requires the|need to install) (\S+)", str(error))
        package = getattr(error.__context__, "name", None) or (worded[1] if worded else error)
        raise BadCheckpoint(
            f"The tokenizer of “{model}” needs the Python package {package}, which is not installed here. Install it, "
            "or choose another model."
        ) from error
    except Exception:
        slow_kinds = [kind for kind in kinds if issubclass(kind, PreTrainedTokenizer)]
        _refuse_without(slow_kinds, folder, model, any_of=False)
        raise
    # Without its files transformers makes up a tokenizer that knows no word; bytes and characters need none.
    _refuse_without([type(tokenizer)], folder, model)
    if not tokenizer.is_fast:
        _refuse_other_inputs(tokenizer, model)
        return tokenizer
    if not listed and not saved:  # made from a vocabulary, or from sentencepiece's file
        tokenizer_sandbox.refuse_dangerous(tokenizer.backend_tokenizer.to_str().encode(), model)
    # Sentence transformers save what they were used with last: padding, and a cut at 128 tokens.
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.backend_tokenizer.no_truncation()
    return tokenizer


def _kinds(folder: Path, config: Any, model: str) -> list[type[PreTrainedTokenizerBase]]:
    """The classes of which transformers takes one. It would take whatever it has by the name that the settings say."""
    named = (_settings(folder / _SETTINGS[0]).get("tokenizer_class"), getattr(config, "tokenizer_class", None))
    names = [name for name in (*named, TOKENIZER_MAPPING_NAMES.get(config.model_type)) if isinstance(name, str)]
    kinds = [kind for kind in map(tokenizer_class_from_name, names) if kind is not None]
    if all(isinstance(kind, type) and issubclass(kind, PreTrainedTokenizerBase) for kind in kinds):
        return kinds
    raise BadCheckpoint(
        f"“{model}” names a tokenizer that is none this app reads ({', '.join(names)}). Choose another checkpoint."
    )


def _refuse_without(kinds: list[type[PreTrainedTokenizerBase]], folder: Path, model: str, any_of: bool = True) -> None:
    """Raises BadCheckpoint where none of the files of tokenizers is there, or unless ``any_of`` will do, not all."""
    files = dict.fromkeys(name for kind in kinds for name in kind.vocab_files_names.values())
    fast = any(issubclass(kind, PreTrainedTokenizerFast) for kind in kinds)
    files = {"tokenizer.json": None, **files} if fast else files
    absent = [name for name in files if not (folder / name).exists()]
    if absent and (len(absent) == len(files) or not any_of):
        raise BadCheckpoint(
            f"“{model}” lacks its tokenizer's files ({', '.join(absent)}), so its words cannot be read. Copy or "
            "download it again, or choose another checkpoint."
        )


def _refuse_other_inputs(tokenizer: Any, model: str) -> None:
    """Raises BadCheckpoint where a tokenizer gives its network more than tokens, or reads no plain text (TAPAS)."""
    made = {"input_ids", "token_type_ids", "attention_mask", "a table"}
    with suppress(Exception), tokenizer_sandbox.time_bounded():
        tokenizer.build_inputs_with_special_tokens([])
        made = {*tokenizer("The cat sat.")}
    if more := made - {"input_ids", "token_type_ids", "attention_mask"}:
        raise BadCheckpoint(
            f"“{model}” reads more than the tokens of a text ({', '.join(sorted(more))}), which this app cannot give "
            "it. Choose another model."
        )


def _refuse_files_elsewhere(folder: Path, model: str) -> None:
    """Raises BadCheckpoint where the tokenizer's settings name a file to read, which may lie anywhere."""
    for file in _SETTINGS:
        for key, value in _settings(folder / file).items():
            named = key in _NAMES_OF_FILES or (file == _SETTINGS[1] and key.endswith(("_file", "_spm")))
            if key.endswith("_kwargs") and isinstance(value, dict):  # MeCab's dictionary by its name, no path
                named = any(isinstance(entry, str) and not entry.isidentifier() for entry in value.values())
            if named and isinstance(value, str | dict):
                raise BadCheckpoint(
                    f"The {file} of “{model}” names a file to read the tokenizer from (“{key}”), which this app does "
                    "not do. Take that line out, or choose another checkpoint."
                )


def _settings(file: Path) -> dict[str, Any]:
    """What a file of settings says; empty where it is not there, or holds something else."""
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return settings if isinstance(settings, dict) else {}


def infer_missing_settings(folder: Path) -> dict[str, Any]:
    """What a vocabulary alone does not say, and transformers would take as BERT's: whether capitals are lowered. They
    are not where the vocabulary has words with capitals.
    """
    vocabulary = folder / "vocab.txt"
    if checkpoint.tokenizer_files(folder) or not vocabulary.is_file():
        return {}
    if "do_lower_case" in _settings(folder / _SETTINGS[0]):
        return {}
    words = vocabulary.read_text(encoding="utf-8", errors="replace").splitlines()
    return {"do_lower_case": all(word == word.lower() or _BRACKETED.fullmatch(word) for word in words)}
