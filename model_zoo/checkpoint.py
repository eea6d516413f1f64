"""A checkpoint's folder: ordinary files of the size that such files have, the headers of its weights, a fingerprint.

Nothing here opens a file before it is known to be an ordinary one: opening a pipe would wait forever.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path

from safetensors import safe_open

from model_zoo import named_pooling
from model_zoo.errors import BadCheckpoint
from model_zoo.types import MB, megabytes

# All but the weights is read whole and taken apart, which needs many times its size. The largest there are: 33 MB
# (tokenizer.json of 256,000 tokens), 1.2 MB (tokenizer_config.json with reserved tokens), 1 MB (config.json with names
# of 21,000 labels), 5 MB (index of a checkpoint in 100 parts).
_MOST_BYTES = {
    "config.json": 4 * MB,
    "tokenizer_config.json": 8 * MB,
    "*.index.json": 16 * MB,
    "*.json": 64 * MB,
    "*.txt": 64 * MB,
    "*.model": 64 * MB,
    "*.spm": 64 * MB,
    "*.codes": 64 * MB,
    "*.tokenizer": 64 * MB,
    "*.jinja": MB,
    "vocab*": 64 * MB,
    "tokenizer*": 64 * MB,
    "*.safetensors": math.inf,
    "pytorch_model*.bin": math.inf,
    "adapter_model.bin": math.inf,
}
# The header of a checkpoint of 1,000 tensors takes 0.1 MB.
_MOST_HEADER_BYTES = 16 * MB

# What transformers has not saved, by the names of files: what it is, and what to do.
_EXPORT = "Choose the checkpoint that it was made from."
_SAVE = "Open it with transformers{}, save it with save_pretrained(folder), and choose that folder."
_FORMS = (
    (r"(pytorch_)?model\.(?!safetensors|bin)[\w-]+\.(safetensors|bin)", "of a variant", _SAVE.format(" (variant=…)")),
    (r".*\.h5|.*\.ckpt[-\d]*\.index", "for TensorFlow", _SAVE.format(" 4 (from_tf=True)")),
    (r".*\.msgpack", "for Flax", _SAVE.format(" 4 (from_flax=True)")),
    (r".*\.onnx", "for ONNX", _EXPORT),
    (r"openvino.*\.xml", "for OpenVINO", _EXPORT),
    (r".*\.gguf", "for llama.cpp (GGUF)", _EXPORT),
    (r".*\.ot", "for Rust", _EXPORT),
    (r"consolidated.*", "in its makers' layout", "Choose the checkpoint that was converted for transformers."),
)
_MOST_NAMES = 10_000


@dataclass(frozen=True, slots=True)
class Headers:
    """What the headers of weights say, before a number is read: tensors, numbers in them, and their names."""

    n_tensors: int
    n_parameters: int
    names: tuple[str, ...]


def refuse_unusable(folder: Path, model: str) -> None:
    """Raises BadCheckpoint where a folder is no checkpoint, or holds what is no ordinary file (a pipe, a device), a
    link to somewhere else, or a file that is too large for what it is.
    """
    if not (folder / "config.json").exists():
        raise BadCheckpoint(
            other_form(model, names(folder))
            or f"The folder “{model}” holds no config.json, so it is not a transformers checkpoint. Choose the "
            "folder that save_pretrained wrote."
        )
    refuse_files(folder, model)


def refuse_files(folder: Path, model: str) -> None:
    """Raises BadCheckpoint as ``refuse_unusable``, for the files that there are."""
    for file in _files(folder):
        _refuse_file(file, folder, model)


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """What lies in a folder, and in those below from which transformers and ``named_pooling`` read."""
    home = named_pooling.home(folder)
    for place in {folder, folder / "additional_chat_templates", home, *home.glob("*_Pooling")}:
        if place.is_dir():
            with os.scandir(place) as entries:
                yield from entries


def _refuse_file(file: os.DirEntry[str], folder: Path, model: str) -> None:
    try:
        status = file.stat()
    except OSError:  # a link to nothing: as good as not there
        return
    is_read = _is_read(file.name)
    if not stat.S_ISREG(status.st_mode) and (is_read or not stat.S_ISDIR(status.st_mode)):
        raise BadCheckpoint(
            f"“{file.name}” of “{model}” is not an ordinary file, so this app does not open it. Replace it, or choose "
            "another checkpoint."
        )
    if is_read and file.is_symlink() and not _is_within(Path(os.path.realpath(file.path)), folder):
        raise BadCheckpoint(
            f"“{file.name}” of “{model}” is a link to a file in another folder, which this app does not follow. Copy "
            "the file itself into the folder, or choose another checkpoint."
        )
    refuse_size(file.name, status.st_size, model)


def _is_read(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _MOST_BYTES)


def _is_within(target: Path, folder: Path) -> bool:
    """Whether a file is in a folder, or where the hub's cache keeps what its folders of links show."""
    if target.is_relative_to(os.path.realpath(folder)):
        return True
    return target.parent.name == "blobs" and target.parent.parent.name.startswith("models--")


def refuse_size(name: str, n_bytes: int, model: str) -> None:
    """Raises BadCheckpoint for a file that is too large for what its name says it is."""
    most = next((most for pattern, most in _MOST_BYTES.items() if fnmatchcase(name, pattern)), math.inf)
    if n_bytes > most:
        raise BadCheckpoint(
            f"“{name}” of “{model}” has {megabytes(n_bytes)}, and no such file needs more than "
            f"{most / MB:,.0f} MB. Choose another checkpoint."
        )


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a checkpoint; empty if there are none or a part is missing."""
    return _whole_or_parts(folder, "model.safetensors")


def pickle_files(folder: Path) -> list[Path]:
    """The pickles of a checkpoint; empty if there are none or a part is missing."""
    return _whole_or_parts(folder, "pytorch_model.bin")


def _whole_or_parts(folder: Path, name: str) -> list[Path]:
    single = folder / name
    if single.is_file():
        return [single]
    index = folder / f"{name}.index.json"
    if not index.is_file():
        return []
    try:
        names = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        files = [folder / name for name in sorted(names)]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return []
    return files if all(file.parent == folder and file.is_file() for file in files) else []


def tokenizer_files(folder: Path) -> list[Path]:
    """The tokenizers as they are saved whole; transformers may take one of another name than tokenizer.json."""
    return sorted(file for file in folder.glob("tokenizer*.json") if file.name != "tokenizer_config.json")


def is_adapter(folder: Path) -> bool:
    """Whether a folder holds an adapter (PEFT), and no network."""
    return (folder / "adapter_config.json").exists() and not (weight_files(folder) or pickle_files(folder))


def read_headers(files: Sequence[Path], model: str) -> Headers:
    """Raises BadCheckpoint for weights that are damaged, or lie about their size."""
    names: list[str] = []
    n_parameters, why = 0, ""
    try:
        for file in files:
            with file.open("rb") as start:
                n_bytes = int.from_bytes(start.read(8), "little")
            if n_bytes > _MOST_HEADER_BYTES:
                why = f" (a header of {megabytes(n_bytes)})"
                raise ValueError(why)
            with safe_open(file, "np") as tensors:
                for name in tensors.keys():  # noqa: SIM118 (it is no mapping)
                    names.append(name)
                    tensor = tensors.get_slice(name)
                    if "F" in tensor.get_dtype():  # whole numbers are places, and no weights
                        n_parameters += math.prod(tensor.get_shape())
    except Exception as error:  # safetensors' own error class is not exported
        raise BadCheckpoint(
            f"The weights of “{model}” cannot be read{why}. The file may be damaged: copy or download it again."
        ) from error
    return Headers(len(names), n_parameters, tuple(names))


def stamp(folder: Path) -> tuple[object, ...]:
    """Changes whenever a file that makes the model is written, replaced, added or removed."""
    try:
        entries = [(entry.path, entry.stat()) for entry in _files(folder) if _is_read(entry.name)]
    except OSError:  # one of them went away meanwhile
        return ()
    return tuple(sorted((path, file.st_ino, file.st_size, file.st_mtime_ns) for path, file in entries))


def names(folder: Path) -> list[str]:
    """The names of what lies in a folder and in the folders in it, as paths from there; not of all where there is no
    end of them.
    """
    paths = islice(chain(folder.glob("*"), folder.glob("*/*")), _MOST_NAMES)
    return [path.relative_to(folder).as_posix() for path in paths]


def other_form(model: str, names: Sequence[str]) -> str:
    """What is said of files of these names, as what they are and what to do; empty where they are nothing known."""
    if any("model.safetensors.index" in name or "pytorch_model.bin.index" in name for name in names):
        return (
            f"A part of the weights of “{model}” is missing: its index names files that are not there. Copy or "
            "download it again."
        )
    kinds = ("model*.safetensors", "pytorch_model*.bin")
    inside = sorted(
        place
        for place in (name.removesuffix("/config.json") for name in names if name.endswith("/config.json"))
        if any(fnmatchcase(name, f"{place}/{kind}") for name in names for kind in kinds)
    )
    if inside:
        folders = ", ".join(f"“{place}”" for place in inside[:5]) + " and others" * (len(inside) > 5)
        return (
            f"“{model}” is no checkpoint itself; there are some in folders in it: {folders}. Choose one of these "
            "folders."
        )
    for pattern, form, advice in _FORMS:
        file = next((name for name in names if re.fullmatch(pattern, name.rpartition("/")[2])), None)
        if file is not None:
            return (
                f"“{model}” has weights {form} only ({file}), and this app reads what transformers saves for PyTorch "
                f"(model.safetensors or pytorch_model.bin). {advice}"
            )
    return ""


def no_weights(model: str, names: Sequence[str]) -> str:
    """What is said of a checkpoint, whose files have these names, that has no weights."""
    return other_form(model, names) or (
        f"“{model}” has no weights that this app reads: neither model.safetensors nor pytorch_model.bin is there. "
        "Choose another checkpoint, or copy or download this one again."
    )


def fingerprint(files: Sequence[Path]) -> str:
    """The revision of weights that have none: the beginning of their digest."""
    return f"sha256:{digest(files)[:12]}"


def digest(files: Sequence[Path]) -> str:
    """A digest of files, in order, as 64 hexadecimal digits. A file is read once, as long as nobody writes to it."""
    checksum = hashlib.sha256()
    for file in files:
        now = file.stat()
        checksum.update(_digest(file.resolve(), now.st_ino, now.st_size, now.st_mtime_ns))
    return checksum.hexdigest()


@lru_cache(1000)
def _digest(file: Path, *_state: int) -> bytes:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()
