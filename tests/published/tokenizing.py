"""Tokenizers as they are published: a real sentencepiece model, vocabularies in the order that the published have."""

import io
import json
import tempfile
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import sentencepiece
import transformers
from checkpoints import SENTENCES
from checkpoints.tokenizing import tokenizer_of
from transformers import AutoTokenizer, PreTrainedTokenizerBase

_TABLES = tomllib.loads((Path(__file__).parent / "tokenizers.toml").read_text(encoding="utf-8"))
SENTENCEPIECE: dict[str, tuple[str, dict[str, Any]]] = _TABLES["sentencepiece"]
_ORDER: dict[str, tuple[list[str], list[str]]] = _TABLES["order"]


@cache
def sentencepiece_model(kind: str) -> tuple[str, bytes]:
    """The file that sentencepiece trains for a class of tokenizers in ``SENTENCEPIECE``, after its name."""
    name, options = SENTENCEPIECE[kind]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=model,
        vocab_size=160,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
        **options,
    )
    return name, model.getvalue()


@cache
def published_tokenizer(kind: str, model_type: str, cased: bool = False) -> PreTrainedTokenizerBase:
    """The tokenizer of a published model, trained on a few sentences."""
    if kind in SENTENCEPIECE:
        name, model = sentencepiece_model(kind)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, name).write_bytes(model)
            Path(folder, "config.json").write_text(json.dumps({"model_type": model_type}))
            return AutoTokenizer.from_pretrained(folder)
    tokenizer = tokenizer_of(kind)
    if cased:
        return _cased(tokenizer)
    if kind not in _ORDER:
        return tokenizer
    described = parts(tokenizer)
    first, last = _ORDER[kind]
    between = [token for token in described["vocab"] if token not in first + last]
    vocabulary = {token: number for number, token in enumerate([*first, *between, *last])}
    merges = {"merges": [tuple(merge) for merge in described["merges"]]} if "merges" in described else {}
    return getattr(transformers, kind)(vocab=vocabulary, **merges)


def _cased(tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    """BERT's with capitals, each letter of which is a piece; and those words that the sentences begin with."""
    vocabulary = list(parts(tokenizer)["vocab"])
    letters = {letter for sentence in SENTENCES for letter in sentence if letter.isupper()}
    words = {sentence.split()[0] for sentence in SENTENCES if sentence.split()[0].isalpha()}
    new = sorted({*letters, *(f"##{letter}" for letter in letters), *words})
    vocabulary += [token for token in new if token not in vocabulary]
    ids = {token: number for number, token in enumerate(vocabulary)}
    return transformers.BertTokenizer(vocab=ids, do_lower_case=False)


def parts(tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
    """The model inside a tokenizer: its vocabulary, in the order of ids, and its merges."""
    model: dict[str, Any] = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    if isinstance(model["vocab"], dict):
        model["vocab"] = dict(sorted(model["vocab"].items(), key=lambda item: item[1]))
    return model


def written(tokenizer: PreTrainedTokenizerBase, kind: str, names: tuple[str, ...], changes: Any) -> dict[str, bytes]:
    """The files of a tokenizer that have these names."""
    full = json.loads(tokenizer.backend_tokenizer.to_str())
    merges = [" ".join(merge) for merge in full["model"].get("merges", ())]
    if merges:
        full["model"]["merges"] = merges  # two words in one string, as they were written for years
    added = {token["content"]: token["id"] for token in full["added_tokens"]}
    vocabulary = parts(tokenizer)["vocab"]
    known = {
        "tokenizer.json": lambda: _json(full | changes),
        "vocab.txt": lambda: "".join(f"{token}\n" for token in vocabulary).encode(),
        "vocab.json": lambda: _json(vocabulary),
        "merges.txt": lambda: "\n".join(["#version: 0.2", *merges, ""]).encode(),
        "special_tokens_map.json": lambda: _json(tokenizer.special_tokens_map),
        "added_tokens.json": lambda: _json({tokenizer.mask_token: added[str(tokenizer.mask_token)]}),
    }
    if kind in SENTENCEPIECE:
        name, model = sentencepiece_model(kind)
        known[name] = lambda: model
    return {file: known[file]() for file in names}


def _json(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=1).encode()
