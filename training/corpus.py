"""The corpus: reading it, keeping documents out of training by their hash, and its tokens as arrays on disk.

A corpus is an xz-compressed file with one JSON object per line: ``source`` (where the text is from, as
"group:title"), ``ordered`` (whether neighbouring sentences are running text) and ``sentences``.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt
from transformers import PreTrainedTokenizerFast

from model_zoo.errors import InvalidInput
from model_zoo.types import BoolArray, FloatArray, IntArray
from training.files import write_atomically

HELD_OUT_ONE_IN = 50
"""One document in this many is never trained on."""

SENTENCES_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class Document:
    """One text of the corpus. ``group`` is the part of its source before the colon."""

    source: str
    ordered: bool
    sentences: tuple[str, ...]

    @property
    def group(self) -> str:
        return self.source.partition(":")[0]

    @property
    def held_out(self) -> bool:
        """Whether the document is kept for evaluation; a function of its sentences alone."""
        digest = hashlib.sha256("\n".join(self.sentences).encode()).digest()
        return int.from_bytes(digest[:8], "big") % HELD_OUT_ONE_IN == 0


def _document(line: str, place: str) -> Document:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{place} is not JSON ({error}). Each line must hold one document as a JSON object."
        ) from error
    sentences = record.get("sentences") if isinstance(record, dict) else None
    if not (isinstance(sentences, list) and sentences and all(isinstance(text, str) for text in sentences)):
        raise InvalidInput(f'{place} has no "sentences": a document needs a list of texts under that name.')
    if not isinstance(record.get("source"), str) or not isinstance(record.get("ordered"), bool):
        raise InvalidInput(f'{place} lacks "source" (a text) or "ordered" (true where its sentences are running text).')
    return Document(record["source"], record["ordered"], tuple(sentences))


def read_documents(path: Path) -> Iterator[Document]:
    """The documents of a corpus file in their order. Raises InvalidInput naming the file and the line."""
    if not path.is_file():
        raise InvalidInput(f"There is no corpus file {path}. Give the path of a .jsonl.xz file with --corpus.")
    number = 0
    try:
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                yield _document(line, f"Line {number} of {path}")
    except (EOFError, lzma.LZMAError) as error:
        raise InvalidInput(
            f"{path} cannot be decompressed after line {number} ({error}): "
            "it is not an xz file, or its end is missing. Copy it again."
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text after line {number}. Convert it to UTF-8.") from error
    if number == 0:
        raise InvalidInput(f"{path} holds no documents. Give a corpus with one JSON document per line.")


def held_out_documents(path: Path) -> list[Document]:
    """The documents of a corpus that are never trained on. Raises InvalidInput when there are none."""
    documents = [document for document in read_documents(path) if document.held_out]
    if not documents:
        raise InvalidInput(
            f"{path} holds no held-out document: one in {HELD_OUT_ONE_IN} is held out, by its hash. "
            "Give a larger corpus."
        )
    return documents


@dataclass(frozen=True, slots=True)
class TokenCorpus:
    """The training documents as tokens.

    ``ids`` holds all tokens in a row; sentence i is ``ids[sentences[i]:sentences[i + 1]]``; document j
    consists of the sentences ``documents[j]`` to ``documents[j + 1] - 1``; it is from ``groups[group[j]]``.
    """

    ids: npt.NDArray[np.uint16] | npt.NDArray[np.uint32]
    sentences: IntArray
    documents: IntArray
    ordered: BoolArray
    group: IntArray
    groups: tuple[str, ...]

    @property
    def document_lengths(self) -> IntArray:
        """Tokens of each document."""
        return np.diff(self.sentences[self.documents])

    @property
    def sentence_counts(self) -> IntArray:
        """Sentences of each document."""
        return np.diff(self.documents)

    def log_unigram(self, vocabulary: int) -> FloatArray:
        """Log of each token's frequency, one added to every count."""
        counts = np.bincount(self.ids, minlength=vocabulary) + 1.0
        return np.log(counts / counts.sum()).astype(np.float32)


def _tokenize(documents: Iterator[Document], tokenizer: PreTrainedTokenizerFast) -> TokenCorpus:
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()  # a tokenizer saved after truncated use keeps its truncation
    backend.no_padding()
    small = len(tokenizer) <= np.iinfo(np.uint16).max + 1
    pieces: list[npt.NDArray[np.unsignedinteger]] = []
    sentence_lengths: list[int] = []
    sentence_counts: list[int] = []
    ordered: list[bool] = []
    names: list[str] = []
    waiting: list[Document] = []

    def flush() -> None:
        texts = [sentence for document in waiting for sentence in document.sentences]
        encoded = iter(backend.encode_batch_fast(texts, add_special_tokens=False))
        for document in waiting:
            sentences = [ids for ids in (next(encoded).ids for _ in document.sentences) if ids]
            if not sentences:
                continue
            pieces.extend(np.asarray(ids, dtype=np.uint16 if small else np.uint32) for ids in sentences)
            sentence_lengths.extend(map(len, sentences))
            sentence_counts.append(len(sentences))
            ordered.append(document.ordered)
            names.append(document.group)
        waiting.clear()

    n_waiting = 0
    for document in documents:
        waiting.append(document)
        n_waiting += len(document.sentences)
        if n_waiting >= SENTENCES_AT_ONCE:
            flush()
            n_waiting = 0
            if len(pieces) > 1:
                pieces[:] = [np.concatenate(pieces)]
    flush()
    if not pieces:
        raise InvalidInput("The corpus holds no text outside the held-out documents. Give a larger corpus.")
    groups = tuple(sorted(set(names)))
    return TokenCorpus(
        ids=np.concatenate(pieces),
        sentences=np.concatenate([[0], np.cumsum(sentence_lengths)]).astype(np.int64),
        documents=np.concatenate([[0], np.cumsum(sentence_counts)]).astype(np.int64),
        ordered=np.asarray(ordered, dtype=np.bool_),
        group=np.asarray([groups.index(name) for name in names], dtype=np.int64),
        groups=groups,
    )


def file_digest(path: Path) -> str:
    """sha256 of a file as hexadecimal digits. Raises InvalidInput when it is not there."""
    if not path.is_file():
        raise InvalidInput(f"There is no corpus file {path}. Give the path of a .jsonl.xz file with --corpus.")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tokenized(path: Path, tokenizer: PreTrainedTokenizerFast, cache: Path) -> TokenCorpus:
    """The training documents of a corpus as tokens, read from ``cache`` where they were tokenized before.

    The cache's file is named by a hash of corpus and tokenizer, so a change to either has it tokenized again.
    """
    key = hashlib.sha256(f"{file_digest(path)} {tokenizer.backend_tokenizer.to_str()} {HELD_OUT_ONE_IN}".encode())
    file = cache / f"tokens-{key.hexdigest()[:16]}.npz"
    if not file.is_file():
        training = (document for document in read_documents(path) if not document.held_out)
        corpus = _tokenize(training, tokenizer)
        save: Callable[..., None] = np.savez
        arrays = {column.name: np.asarray(getattr(corpus, column.name)) for column in fields(corpus)}
        write_atomically(file, lambda handle: save(handle, **arrays))
        return corpus
    with np.load(file) as stored:
        return TokenCorpus(
            **{name: stored[name] for name in ("ids", "sentences", "documents", "ordered", "group")},
            groups=tuple(str(name) for name in stored["groups"]),
        )
