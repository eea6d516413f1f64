"""What heads do on the built-in treebank, measured before the app was given out; ``python -m pages.corpus`` does it.

A result is handed out only where it was measured on the weights and the sentences that there are now.
"""

from __future__ import annotations

import hashlib
import lzma
from pathlib import Path
from typing import Final

from analysis.corpus.reading import built_in
from analysis.corpus.results import Results
from analysis.corpus.sentences import Corpus
from model_zoo import registry
from model_zoo.types import ModelInfo
from serving import wire
from ui.precomputed import EMBEDDED, FOLDER
from web.process import kept

MODELS: Final = tuple(model for model in EMBEDDED if registry.MODELS[model].heads)
"""The models that there are results of: those that ship with the app and have heads."""


def of(info: ModelInfo) -> Results | None:
    """What came with the app of a model's heads on the built-in sentences, if it holds for both."""
    if info.id not in MODELS:
        return None
    found = _stored(info.id)
    return None if found is None or found[:2] != (info.revision, _built_in()) else found[2]


@kept()
def _built_in() -> str:
    return fingerprint(built_in())


def file_of(model: str) -> Path:
    """Where a model's results lie."""
    return FOLDER / f"{model.replace('/', '-')}-heads.xz"


def fingerprint(corpus: Corpus) -> str:
    """Tells sentences with their words and trees from any others."""
    digest = hashlib.sha256()
    for sentence in corpus:
        digest.update(repr((sentence.text, sentence.spans, sentence.deprel, sentence.heads)).encode())
    return f"sha256:{digest.hexdigest()[:12]}"


def packed(revision: str, results: Results) -> bytes:
    """A file's content."""
    return lzma.compress(wire.pack((revision, _built_in(), results)), preset=9)


def unpacked(data: bytes) -> tuple[str, str, Results]:
    """A file's content again: the revision, the sentences' fingerprint, the results."""
    found: tuple[str, str, Results] = wire.unpack(lzma.decompress(data))
    return found


@kept(most=len(MODELS))
def _stored(model: str) -> tuple[str, str, Results] | None:
    try:
        return unpacked(file_of(model).read_bytes())
    except (OSError, wire.BadMessage):  # what another version of the app has left
        return None
