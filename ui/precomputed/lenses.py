"""Lenses fitted before the app was given out, and how far they are from the final prediction on other sentences;
``python -m pages.masked_words`` fits them.

One is handed out only where it was fitted to the weights and on the sentences that there are now.
"""

from __future__ import annotations

import hashlib
import lzma
from pathlib import Path
from typing import Final

from analysis.lens_fit import JudgedLens
from evidence.lens_sentences import lens_sentences
from model_zoo import registry
from model_zoo.types import ModelInfo
from serving import wire
from ui.precomputed import EMBEDDED, FOLDER
from web.process import kept

MODELS: Final = tuple(model for model in EMBEDDED if registry.MODELS[model].mlm)
"""The models that there are lenses of: those that ship with the app and fill masks."""


def of(info: ModelInfo) -> JudgedLens | None:
    """The lens that came with the app for a model, if it holds for its weights."""
    if info.id not in MODELS:
        return None
    found = _stored(info.id)
    return None if found is None or found[:2] != (info.revision, fingerprint()) else found[2]


def file_of(model: str) -> Path:
    """Where a model's lens lies."""
    return FOLDER / f"{model.replace('/', '-')}-lens.xz"


@kept()
def fingerprint() -> str:
    """Tells the sentences from any others."""
    return f"sha256:{hashlib.sha256(repr(lens_sentences()).encode()).hexdigest()[:12]}"


def packed(found: JudgedLens) -> bytes:
    """A file's content."""
    return lzma.compress(wire.pack((found.lens.revision, fingerprint(), found)), preset=9)


def unpacked(data: bytes) -> tuple[str, str, JudgedLens]:
    """A file's content again: the revision, the sentences' fingerprint, the lens."""
    found: tuple[str, str, JudgedLens] = wire.unpack(lzma.decompress(data))
    return found


@kept(most=len(MODELS))
def _stored(model: str) -> tuple[str, str, JudgedLens] | None:
    try:
        return unpacked(file_of(model).read_bytes())
    except (OSError, wire.BadMessage):  # what another version of the app has left
        return None
