"""Results of one kind that came with the app, a compressed file a model.

One is handed out only where it was made of the weights and of the sentences that there are now.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from model_zoo.types import ModelInfo
from serving import wire
from ui.precomputed import EMBEDDED, FOLDER
from web.process import process_cache

Result = TypeVar("Result")


@dataclass(frozen=True)
class ByModel(Generic[Result]):
    """Of some ``models``; ``kind`` ends the names of their files, ``sentences`` gives the sentences' fingerprint."""

    kind: str
    models: tuple[str, ...]
    sentences: Callable[[], str]

    def find(self, info: ModelInfo) -> Result | None:
        """The result of a model, if it holds for its weights and the sentences."""
        if info.id not in self.models:
            return None
        entry = _read(self.file_of(info.id))
        return None if entry is None or entry[:2] != (info.revision, self.sentences()) else entry[2]

    def load(self, model: str) -> Result:
        """The result of a model, whether it holds or not."""
        result: Result = _unpack(self.file_of(model))[2]
        return result

    def file_of(self, model: str) -> Path:
        """Where a model's result lies."""
        return FOLDER / f"{model.replace('/', '-')}-{self.kind}.xz"

    def pack(self, revision: str, result: Result) -> bytes:
        """A file's content."""
        return lzma.compress(wire.pack((revision, self.sentences(), result)), preset=9)


def _unpack(file: Path) -> tuple[str, str, Any]:
    """The revision, the sentences' fingerprint, the result."""
    entry: tuple[str, str, Any] = wire.unpack(lzma.decompress(file.read_bytes()))
    return entry


@process_cache(most=4 * len(EMBEDDED))
def _read(file: Path) -> tuple[str, str, Any] | None:
    try:
        return _unpack(file)
    except (OSError, wire.BadMessage):  # what another version of the app has left
        return None
