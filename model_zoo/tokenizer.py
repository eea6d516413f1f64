"""The tokenizer of a checkpoint: of whatever files it is made, and as its authors meant it where they did not say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from model_zoo import checkpoint, tokenizer_sandbox
from model_zoo.errors import BadCheckpoint

# Tokens with a meaning of their own, in capitals in every vocabulary.
_BRACKETED = re.compile(r"\[.*\]|<.*>")

# What transformers takes for a file where the settings have a text: any file of this machine, whose lines would be the
# words on screen. Beside them ``…_file``, which it takes from the second file alone.
_NAMES_OF_FILES = ("vocab", "merges", "gguf_file")
_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json")


def read(folder: Path, config: Any, model: str, *, listed: bool) -> Any:
    """A fast tokenizer of transformers that neither pads nor cuts. One that is not of a listed model is tried first.

    Raises BadCheckpoint, and whatever transformers does.
    """
    saved = [] if listed else checkpoint.tokenizer_files(folder)
    for rules in saved:
        tokenizer_sandbox.refuse_dangerous(rules.read_bytes(), model)
    _refuse_files_elsewhere(folder, model)
    tokenizer = AutoTokenizer.from_pretrained(
        folder, config=config, trust_remote_code=False, local_files_only=True, **unsaid(folder)
    )
    # Without its files transformers makes up a tokenizer that knows no word.
    files = ("tokenizer.json", *tokenizer.vocab_files_names.values())
    if not any((folder / name).exists() for name in files):
        raise BadCheckpoint(
            f"“{model}” has none of its tokenizer's files ({', '.join(dict.fromkeys(files))}), so its words cannot be "
            "read. Copy or download it again, or choose another checkpoint."
        )
    if not tokenizer.is_fast:
        raise BadCheckpoint(
            f"“{model}” has no fast tokenizer (tokenizer.json), so its tokens cannot be traced back to the text. "
            "Save one with AutoTokenizer(...).save_pretrained, or choose another checkpoint."
        )
    if not listed and not saved:  # made from a vocabulary, or from sentencepiece's file
        tokenizer_sandbox.refuse_dangerous(tokenizer.backend_tokenizer.to_str().encode(), model)
    # Sentence transformers save what they were used with last: padding, and a cut at 128 tokens.
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.backend_tokenizer.no_truncation()
    return tokenizer


def _refuse_files_elsewhere(folder: Path, model: str) -> None:
    """Raises BadCheckpoint where the tokenizer's settings name a file to read, which may lie anywhere."""
    for file in _SETTINGS:
        for key, value in _settings(folder / file).items():
            named = key in _NAMES_OF_FILES or (file == _SETTINGS[1] and key.endswith("_file"))
            if named and isinstance(value, str):
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
