"""A checkpoint whose tokenizer settings name a file elsewhere: it is not read, or its lines would stand on screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from model_zoo import Engine
from model_zoo.errors import BadCheckpoint

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write(file: Path, more: dict[str, Any]) -> None:
    known = json.loads(file.read_text("utf-8")) if file.exists() else {}
    file.write_text(json.dumps({**known, **more}), "utf-8")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file that is none of a checkpoint's, with a word that no other vocabulary has."""
    file = tmp_path / "secret"
    file.write_text("\n".join([*SPECIAL, "hunter2"]), "utf-8")
    return file


def without_rules(folder: Path) -> None:
    """A vocabulary alone, as checkpoints of before had it."""
    rules = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("\n".join(rules["model"]["vocab"]), "utf-8")


@pytest.mark.parametrize(
    ("file", "key"),
    [
        ("tokenizer_config.json", "vocab"),
        ("tokenizer_config.json", "merges"),
        ("tokenizer_config.json", "gguf_file"),
        ("special_tokens_map.json", "vocab"),
        ("special_tokens_map.json", "vocab_file"),
        ("special_tokens_map.json", "tokenizer_file"),
    ],
)
def test_no_file_elsewhere_is_read(file: str, key: str, copied: Path, secret: Path) -> None:
    without_rules(copied)
    write(copied / file, {key: str(secret)})
    with pytest.raises(BadCheckpoint, match=f"The {file} of .* names a file to read the tokenizer from \\(“{key}”\\)"):
        Engine().attend(str(copied), "hunter2")


@pytest.mark.parametrize("key", ["vocab_file", "tokenizer_file", "special_tokens_map_file", "name_or_path"])
def test_where_a_tokenizer_lay_when_it_was_saved_is_no_matter(key: str, copied: Path, secret: Path) -> None:
    """Published checkpoints say so; transformers does not read from there."""
    without_rules(copied)
    write(copied / "tokenizer_config.json", {key: str(secret)})
    assert "hunter2" not in Engine().attend(str(copied), "hunter2").encoding.tokens
