"""The tokenizer of a checkpoint: of whatever files it is made, and as its authors meant it where they did not say."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer, PreTrainedTokenizer
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name
from transformers.tokenization_utils_base import PreTrainedTokenizerBase

from model_zoo import checkpoint, tokenizer_sandbox
from model_zoo.encoding import encode
from model_zoo.errors import BadCheckpoint, ModelZooError

# Tokens with a meaning of their own, in capitals in every vocabulary.
_BRACKETED = re.compile(r"\[.*\]|<.*>")

# What transformers takes for a file where the settings have a text: any file of this machine, whose lines would be the
# words on screen. Beside them ``…_file``, which it takes from the second file alone.
_NAMES_OF_FILES = ("vocab", "merges", "gguf_file")
_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json")


def read(folder: Path, config: Any, model: str, *, listed: bool) -> Any:
    """A tokenizer of transformers that neither pads nor cuts: a fast one, or one written in Python where there is none
    for the kind. One that is not of a listed model is tried first.

    Raises BadCheckpoint, and whatever transformers does.
    """
    classes = _classes(folder, config, model)
    slow = any(issubclass(each, PreTrainedTokenizer) for each in classes)
    saved = [] if listed else checkpoint.tokenizer_files(folder)
    for rules in saved:
        tokenizer_sandbox.refuse_dangerous(rules.read_bytes(), model)
    if not listed and (slow or not saved):
        for pieces in (*folder.glob("*.model"), *folder.glob("*.spm")):
            tokenizer_sandbox.refuse_dangerous(pieces.read_bytes(), model, "sentencepiece")
    _refuse_files_elsewhere(folder, model)
    try:
        with tokenizer_sandbox.time_bounded(model, slow):
            tokenizer = AutoTokenizer.from_pretrained(
                folder,
                config=config,
                trust_remote_code=False,
                local_files_only=True,
                **({} if slow else unsaid(folder)),
            )
    except ImportError as error:
        raise BadCheckpoint(
            f"The tokenizer of “{model}” needs the Python package {_package(error)}, which is not installed here. "
            "Install it, or choose another model."
        ) from error
    except Exception as error:
        lacking = [name for each in classes for name in _needed(each) if not (folder / name).exists()]
        if not slow or not lacking or isinstance(error, ModelZooError):
            raise
        raise BadCheckpoint(_unreadable(model, "lacks some", lacking)) from error
    # Without its files transformers makes up a tokenizer that knows no word; bytes and characters need no file.
    files = ("tokenizer.json", *tokenizer.vocab_files_names.values())
    if (tokenizer.is_fast or len(files) > 1) and not any((folder / name).exists() for name in files):
        raise BadCheckpoint(_unreadable(model, "has none", files))
    if not tokenizer.is_fast:
        with tokenizer_sandbox.time_bounded(model):
            _refuse_other_inputs(tokenizer, model)
        return tokenizer
    if not listed and not saved:  # made from a vocabulary, or from sentencepiece's file
        tokenizer_sandbox.refuse_dangerous(tokenizer.backend_tokenizer.to_str().encode(), model)
    # Sentence transformers save what they were used with last: padding, and a cut at 128 tokens.
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.backend_tokenizer.no_truncation()
    return tokenizer


def _classes(folder: Path, config: Any, model: str) -> list[type[PreTrainedTokenizerBase]]:
    """The classes of which transformers takes one; it would take any of its classes that the settings name."""
    named = (_settings(folder / _SETTINGS[0]).get("tokenizer_class"), getattr(config, "tokenizer_class", None))
    names = [name for name in (*named, TOKENIZER_MAPPING_NAMES.get(config.model_type)) if isinstance(name, str)]
    classes = [found for name in names if (found := tokenizer_class_from_name(name)) is not None]
    for found in classes:
        if not (isinstance(found, type) and issubclass(found, PreTrainedTokenizerBase)):
            raise BadCheckpoint(
                f"The {_SETTINGS[0]} of “{model}” names a tokenizer that this app does not read: "
                f"{found.__name__}. Choose another checkpoint."
            )
    return classes


def _package(error: BaseException) -> str:
    """The package that is missing: what could not be imported, or else as transformers words it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ImportError) and cause.name:
            return cause.name
        cause = cause.__cause__ or cause.__context__
    worded = re.search(r"(?:requires the|install) (\S+)", str(error))
    return worded[1] if worded else "that its class imports"


def _needed(kind: type[PreTrainedTokenizerBase]) -> list[str]:
    """The files that a class cannot be made without."""
    parameters = inspect.signature(kind).parameters
    return [
        name
        for key, name in kind.vocab_files_names.items()
        if key in parameters and parameters[key].default is inspect.Parameter.empty
    ]


def _unreadable(model: str, lacks: str, files: Iterable[str]) -> str:
    return (
        f"“{model}” {lacks} of its tokenizer's files ({', '.join(dict.fromkeys(files))}), so its words cannot be "
        "read. Copy or download it again, or choose another checkpoint."
    )


def _refuse_other_inputs(tokenizer: Any, model: str) -> None:
    """Raises BadCheckpoint where a tokenizer, as it is called by itself, gives its network more than this app reads."""
    for texts in (("The cat sat.", None), ("The cat sat.", "It was late.")):
        made: dict[str, Any] = {}
        read = None
        with suppress(TypeError, AssertionError, ValueError):  # TAPAS reads tables
            own = encode(tokenizer, texts[0], texts[1], 10**6)
            made = dict(tokenizer(*texts, return_token_type_ids=True, return_attention_mask=False))
            read = {"input_ids": list(own.ids), "token_type_ids": list(own.type_ids or ())}
        if made != read:
            more = ", ".join(made.keys() - {"input_ids", "token_type_ids"}) or "other tokens, or no plain text"
            raise BadCheckpoint(
                f"“{model}” reads more than the tokens of a text ({type(tokenizer).__name__}: {more}), which this app "
                "does not give it. Choose another model."
            )


def _refuse_files_elsewhere(folder: Path, model: str) -> None:
    """Raises BadCheckpoint where the tokenizer's settings name a file to read, which may lie anywhere."""
    for file in _SETTINGS:
        for key, value in _settings(folder / file).items():
            named = key in _NAMES_OF_FILES or (file == _SETTINGS[1] and key.endswith(("_file", "_spm")))
            if key.endswith("_kwargs") and isinstance(
                value, dict
            ):  # MeCab's or Sudachi's: a dictionary's name, no path
                named = any(isinstance(each, str) and not each.isidentifier() for each in value.values())
            if named and isinstance(value, str | dict):
                raise BadCheckpoint(
                    f"The {file} of “{model}” names a file to read the tokenizer from (“{key}”), which this app does "
                    "not do. Take that line out, or choose another checkpoint."
                )


def _settings(file: Path) -> dict[str, Any]:
    """What a file of settings says; empty where it is not there, or holds something else."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return found if isinstance(found, dict) else {}


def unsaid(folder: Path) -> dict[str, Any]:
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
