"""Which sentences stand in the text that the bundled models were pretrained on, told by hashes of its sentences.

``pretraining.xz`` holds the hashes; ``python -m tools.hash_sentences`` makes it.
"""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from analysis.corpus.sentences import alike

MORE_WORDS_THAN: Final = 5
"""Shorter sentences are not compared: people write the same ones everywhere."""

FILE: Final = Path(__file__).with_name("pretraining.xz")

Hashes = npt.NDArray[np.uint32]


def hashes(texts: Iterable[str]) -> Hashes:
    """A number for each text of more than five words, in their order; equal for texts that are ``alike``."""
    compared = (text for text in texts if len(text.split()) > MORE_WORDS_THAN)
    return np.fromiter((zlib.crc32(alike(text).encode("utf-8", "surrogatepass")) for text in compared), np.uint32)


def write(texts: Iterable[str], file: Path = FILE) -> None:
    """Writes the hashes of a pretraining text. Of 40,000 other sentences, one or so has the hash of one in it."""
    gaps = np.diff(np.unique(hashes(texts)), prepend=np.uint32(0)).astype("<u4")
    file.write_bytes(lzma.compress(gaps.view(np.uint8).reshape(-1, 4).T.tobytes(), preset=9))  # high bytes are alike


def read(file: Path = FILE) -> Hashes:
    """The hashes that ``write`` wrote, in ascending order."""
    planes = np.frombuffer(lzma.decompress(file.read_bytes()), np.uint8).reshape(4, -1)
    return np.cumsum(np.ascontiguousarray(planes.T).view("<u4").ravel(), dtype=np.uint32)


def n_pretrained(texts: Iterable[str]) -> tuple[int, int]:
    """How many texts stand in the bundled models' pretraining text, and of how many: those of more than five words.

    That text's novels, textbooks and WordNet are left out; the documents held out from training are, too.
    """
    compared = hashes(texts)
    return int(np.isin(compared, _bundled()).sum()), len(compared)


@cache
def _bundled() -> Hashes:
    return read()
