"""Weights that are published as pickles: converted once, in a confined process, into safetensors that are kept.

A pickle can run any code when it is opened, so this process never opens one. What is converted lies beside the hub's
cache under the digest of the pickles, and is there whole or not at all.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from cachetools import LRUCache
from huggingface_hub import constants

from model_zoo import checkpoint, confined
from model_zoo.errors import BadCheckpoint, DiskFull
from model_zoo.process_folder import remove_abandoned
from model_zoo.types import Pickles, megabytes

# Before this version a pickle could run code although only weights were asked for.
_SAFE = (2, 10)

# To read 440 MB and write them again takes 4 seconds on one core, and 1.2 times their size of memory.
_SECONDS, _BYTES_A_SECOND = 30, 10_000_000
_MEMORY_SHARE, _MEMORY = 2.5, 2**28
# A tensor that shares memory with others is written as one of its own.
_FILE_SHARE, _FILE = 2, 2**20

_converting = threading.Lock()
_refused: LRUCache[str, str] = LRUCache(256)


def root() -> Path:
    """Where converted weights are kept: beside the hub's cache."""
    cache = Path(constants.HF_HUB_CACHE)
    return cache.with_name(f"{cache.name}-safetensors")


def is_converted(file: Path) -> bool:
    """Whether weights were converted here."""
    return file.parent.parent == root()


def refuse_forbidden(model: str, pickles: Pickles, listed: bool) -> None:
    """Raises BadCheckpoint where the pickles of a model are not to be converted here."""
    why = "a pickle can run any code when it is opened"
    if pickles == "never":
        raise BadCheckpoint(
            f"“{model}” has its weights as pickles only, and {why}. This app is set to read safetensors alone: choose "
            "another model, or convert the checkpoint with save_pretrained."
        )
    if pickles == "listed" and not listed:
        raise BadCheckpoint(
            f"“{model}” has its weights as pickles only, and {why}. This app converts those of the models in its list: "
            "choose one of them, or a model with safetensors."
        )
    if tuple(int(part) for part in version("torch").split(".")[:2]) < _SAFE:
        raise BadCheckpoint(
            f"“{model}” has its weights as pickles only, and {why}. They are read safely from torch "
            f"{'.'.join(map(str, _SAFE))} on, and this is {version('torch')}: update torch, or choose another model."
        )


def converted(files: Sequence[Path], model: str) -> list[Path]:
    """The safetensors that hold what the pickles of a checkpoint hold, converted where they have not been before.

    Raises BadCheckpoint where they hold more than tensors, are damaged, or cost more than any; DiskFull.
    """
    with _converting:  # one process at a time, however many ask
        key = checkpoint.digest(files)
        if key in _refused:
            raise BadCheckpoint(_refused[key])
        target = root() / key
        if not target.is_dir():
            _convert(files, target, model)
        return sorted(target.glob("*.safetensors"))


def _convert(files: Sequence[Path], target: Path, model: str) -> None:
    n_bytes = sum(file.stat().st_size for file in files)
    largest = max(file.stat().st_size for file in files)
    try:
        root().mkdir(parents=True, exist_ok=True)
        remove_abandoned(root().glob("half-*"))
        free = shutil.disk_usage(root()).free
        if n_bytes > free:
            raise DiskFull(_disk_full(model, n_bytes, free))
        half = Path(tempfile.mkdtemp(prefix="half-", dir=root()))
    except OSError as error:
        raise BadCheckpoint(
            f"The weights of “{model}” have to be converted, and {root()} cannot be written to. Have HF_HOME set to a "
            "folder that can be, or choose another model."
        ) from error
    try:
        outcome = confined.run(
            "convert_pickle",
            str(half),
            *(os.path.abspath(file) for file in files),
            package="torch",
            seconds=_SECONDS + n_bytes / _BYTES_A_SECOND,
            n_bytes=int(_MEMORY_SHARE * largest) + _MEMORY,
            file_bytes=_FILE_SHARE * largest + _FILE,
        )
        if outcome.failure is not None:
            raise _failed(outcome, files, model, n_bytes)
        try:
            half.rename(target)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
    finally:
        shutil.rmtree(half, ignore_errors=True)


def _failed(outcome: confined.Outcome, files: Sequence[Path], model: str, n_bytes: int) -> BadCheckpoint | DiskFull:
    """What a failed conversion is told as. What the pickle itself is to blame for is remembered."""
    answer: dict[str, str] = {}
    with suppress(ValueError, IndexError, TypeError):
        answer = dict(json.loads(outcome.message.splitlines()[-1]))
    name = files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more"
    start = f"The weights of “{model}” ({name}) were not opened"
    reasons = {
        "code": f"the pickle holds more than tensors (it asks for {answer.get('asked') or 'code'})",
        "no table": "the pickle holds something other than a table of tensors with names",
        "format": "the pickle holds tensors that are sparse or quantized",
        "archive": "the pickle is an archive of compressed files, which torch never writes",
        "damaged": "the file is damaged, or is not a pickle that torch wrote",
        "start": "no process could be started to read them",
        "time": "reading them takes longer than any such file should",
        "memory": "reading them takes more memory than such a file needs, or than is left",
    }
    if outcome.failure == "disk":
        return DiskFull(_disk_full(model, n_bytes, shutil.disk_usage(root()).free))
    why = answer.get("refused") or ("damaged" if outcome.failure == "error" else str(outcome.failure))
    advice = "None of it was run. Choose another model, or one with safetensors."
    if why == "damaged":
        advice = "Copy or download it again, or choose another model."
    message = f"{start}: {reasons[why]}. {advice}"
    if "refused" in answer:  # it will not be another one next time
        _refused[checkpoint.digest(files)] = message
    return BadCheckpoint(message)


def _disk_full(model: str, n_bytes: int, free: int) -> str:
    return (
        f"The weights of “{model}” have to be converted, which takes {megabytes(n_bytes)} on the disk, and there are "
        f"{megabytes(free)} left (in {root()}). Free some space, or choose another model."
    )
