"""Where a model's files are: in this repository, in a folder, in the hub's local cache, or on the hub.

Finding a source reads names, sizes and shapes only; no weights and no torch. Only safetensors are accepted:
pickles can run code when they are opened.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlparse

from cachetools import TTLCache, cached
from huggingface_hub import HfApi, ModelInfo, constants, snapshot_download, try_to_load_from_cache
from huggingface_hub.errors import (
    GatedRepoError,
    HFValidationError,
    HTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
)
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.utils import filter_repo_objects, tqdm, validate_repo_id

from model_zoo import checkpoint, machine, registry, tuned
from model_zoo.errors import BadCheckpoint, DiskFull, HubUnreachable, OutOfMemory, UnknownModel
from model_zoo.registry import UNTRAINED
from model_zoo.types import megabytes

WEIGHTS = Path(__file__).parent / "weights"

_HUB_SECONDS = 10.0
# Never taken by a download: the app itself, its logs and everybody else on this machine write to the same disk.
DISK_RESERVE = 500_000_000
# Half a file that nobody has written to for so long belongs to a process that was killed.
_ABANDONED_SECONDS = 3600.0
_NEEDED_FILES = [
    "config.json",
    "model*.safetensors",
    "model.safetensors.index.json",
    "tokenizer*",
    "vocab*",
    "merges.txt",
    "*.model",
    "special_tokens_map.json",
    "added_tokens.json",
]

# How a system says that a folder may not be written to; a file in its place is the last.
_UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR)


@dataclass(frozen=True, slots=True)
class Source:
    """Files that can become a model. ``folder`` is None while they are still on the hub, and ``download_bytes`` of
    them not here yet. ``untrained`` takes all from them but the weights, which are drawn at random. ``stamp`` tells
    whether the files are those that were looked at: see ``checkpoint.stamp``.
    """

    id: str
    folder: Path | None
    revision: str
    n_parameters: int
    bytes_per_parameter: int = 4
    download_bytes: int = 0
    untrained: bool = False
    n_tensors: int = 0
    stamp: tuple[object, ...] = field(default=(), compare=False, repr=False)

    @property
    def n_bytes(self) -> int:
        """Memory the weights will take once loaded."""
        return self.n_parameters * self.bytes_per_parameter


def embedded_folder(model: str) -> Path:
    """Where an embedded model lies: "embedded/bert" is weights/embedded-bert."""
    return WEIGHTS / model.replace("/", "-")


def is_listed(model: str) -> bool:
    """Whether a model is one of the registry, with its weights or untrained. Looks at the name alone."""
    return registry.find(model.removeprefix(UNTRAINED)) is not None


def find(model: str, bytes_per_parameter: int = 4, *, listed_only: bool = False) -> Source:
    """What ``model`` stands for: an id of the registry, a hub id or a local folder, or one of these after UNTRAINED.

    With ``listed_only`` a name that is not the registry's is refused before anything is looked at: no file, no hub.
    Raises UnknownModel, HubUnreachable, BadCheckpoint or OutOfMemory with a message fit for the screen.
    """
    if listed_only and not is_listed(model) and not tuned.is_id(model):
        raise UnknownModel(f"“{model[:100]}” is not in this app's list of models. Choose a model from the list.")
    if model.startswith(UNTRAINED):
        return replace(_find(model.removeprefix(UNTRAINED), bytes_per_parameter), untrained=True)
    return _find(model, bytes_per_parameter)


def _find(model: str, bytes_per_parameter: int) -> Source:
    spec = registry.find(model)
    if spec is not None and spec.hub_id is None:
        return _in_folder(model, embedded_folder(model), None, bytes_per_parameter)
    folder = tuned.folder(model) if tuned.is_id(model) else _existing_folder(model)
    if folder is not None:
        return _in_folder(model, folder, None, bytes_per_parameter)
    try:
        validate_repo_id(model)
    except HFValidationError as error:
        raise UnknownModel(
            f"“{model[:100]}” is neither a model of this app, nor an existing folder, nor a Hugging Face id "
            "such as google-bert/bert-base-uncased. Check the spelling."
        ) from error
    cached_folder = downloaded(model)
    if cached_folder is not None:
        return _in_folder(model, cached_folder, cached_folder.name, bytes_per_parameter)
    return _on_hub(model, bytes_per_parameter)


def _existing_folder(name: str) -> Path | None:
    try:
        path = os.path.expanduser(name)
    except ValueError:  # a NUL or half of a surrogate pair after "~"
        return None
    return Path(path) if os.path.isdir(path) else None


def downloaded(hub_id: str) -> Path | None:
    """The folder of an earlier, complete download, if there is one."""
    try:
        folder = Path(snapshot_download(hub_id, local_files_only=True, allow_patterns=_NEEDED_FILES))
    except LocalEntryNotFoundError:  # also where a download was interrupted
        return None
    return folder if (folder / "config.json").exists() and checkpoint.weight_files(folder) else None


def download(source: Source, report: Callable[[int], None] | None = None) -> Source:
    """Fetch the files of a source on the hub; ``report`` is told the bytes that have come so far, from any thread.

    A broken connection is taken up again a few times. What is given up leaves whole files only: they are no model
    until the last one is there, and need not come again. Raises DiskFull or HubUnreachable.
    """
    refuse_without_disk(source)
    _sweep(source.id)
    try:
        # Not by commit: only what was fetched by the name of the branch is found again without the hub.
        folder = Path(snapshot_download(source.id, allow_patterns=_NEEDED_FILES, tqdm_class=_counter(report)))
    except GatedRepoError as error:
        raise HubUnreachable(_gated(source.id)) from error
    except (HTTPError, OSError, RuntimeError) as error:  # RuntimeError: hf_xet's, for whatever it stumbles over
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise DiskFull(_disk_full(source)) from error
        if isinstance(error, OSError) and error.errno in _UNWRITABLE:
            raise HubUnreachable(
                f"{source.id} cannot be downloaded: {constants.HF_HUB_CACHE} cannot be written to. Choose an embedded "
                "model, or have HF_HOME set to a folder that can be."
            ) from error
        raise HubUnreachable(
            f"The download of {source.id} broke off ({type(error).__name__}). Try again: the files that are whole "
            "need not come again."
        ) from error
    try:
        return _in_folder(source.id, folder, folder.name, source.bytes_per_parameter)
    except BadCheckpoint as error:
        for file in checkpoint.weight_files(folder):
            stored = file.resolve()
            file.unlink()
            stored.unlink(missing_ok=True)
        raise HubUnreachable(
            f"The weights of {source.id} arrived damaged and were thrown away. Try again; if that does not help, they "
            "are damaged on the hub: choose another model."
        ) from error


def refuse_without_disk(source: Source, most: int | None = None, coming: int = 0) -> None:
    """Raises DiskFull where the hub's local cache has no room for what is to be downloaded, or may not take it:
    ``most`` bytes of downloads are allowed together, of which ``coming`` are on their way.
    """
    if source.download_bytes > _room_on_disk():
        raise DiskFull(_disk_full(source))
    if most is not None:
        left = max(0, most - coming - downloaded_bytes())
        if source.download_bytes > left:
            raise DiskFull(
                f"{source.id} is a download of {megabytes(source.download_bytes)}, and of the {megabytes(most)} that "
                f"downloaded models may take here, {megabytes(left)} are left. Choose a smaller model."
            )


def downloaded_bytes() -> int:
    """Bytes of all models in the hub's local cache, with what has come of those not complete."""
    found = 0
    for file in Path(constants.HF_HUB_CACHE).glob("models--*/blobs/*"):
        with suppress(OSError):  # removed, or renamed when its last byte came
            found += file.stat().st_size
    return found


def _room_on_disk() -> int:
    """Bytes that downloads may take."""
    return max(0, free_disk() - DISK_RESERVE)


def _disk_full(source: Source) -> str:
    left = megabytes(_room_on_disk())
    return (
        f"{source.id} is a download of {megabytes(source.download_bytes)}, and the disk has {left} left for it "
        f"(in {constants.HF_HUB_CACHE}). Free some space, or choose a smaller model."
    )


def free_disk() -> int:
    """Bytes that are free where the hub's files are kept."""
    folder = Path(constants.HF_HUB_CACHE)
    return shutil.disk_usage(next(place for place in (folder, *folder.parents) if place.exists())).free


def _counter(report: Callable[[int], None] | None) -> type[tqdm]:
    """The class that huggingface_hub makes its progress bars of: draws nothing, and reports what they count. It ends
    the download, as a full disk would, where something else fills the disk meanwhile.

    It has one bar for files and two for bytes: those that came over the network, and those on the disk. Where they
    differ the one ahead is reported, and never less than before.
    """
    most = 0

    class Counter(tqdm):
        def __init__(self, *args: object, unit: str = "it", **options: object) -> None:
            super().__init__(*args, unit=unit, **options | {"disable": True})
            self.counts_bytes = unit == "B"

        def update(self, n: float | None = 1) -> None:
            nonlocal most
            self.n += n or 0
            if self.counts_bytes and self.n > most:
                most = int(self.n)
                if report is not None:
                    report(most)
                if free_disk() < DISK_RESERVE // 2:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return Counter


def _sweep(hub_id: str) -> None:
    """Remove what downloads left behind that were killed: no later one goes on with it."""
    blobs = Path(constants.HF_HUB_CACHE, repo_folder_name(repo_id=hub_id, repo_type="model"), "blobs")
    for file in blobs.glob("*.incomplete"):
        with suppress(OSError):  # another process was quicker
            if time.time() - file.stat().st_mtime > _ABANDONED_SECONDS:
                file.unlink()


@cached(TTLCache(maxsize=1, ttl=60))
def hub_reachable() -> bool:
    """Whether the hub answers from here; asked once a minute, within a second."""
    address = urlparse(constants.ENDPOINT)
    if constants.HF_HUB_OFFLINE or address.hostname is None:
        return False
    try:
        with socket.create_connection((address.hostname, address.port or 443), timeout=1):
            return True
    except OSError:
        return False


def _in_folder(model: str, folder: Path, revision: str | None, bytes_per_parameter: int) -> Source:
    """What a folder holds. Raises BadCheckpoint, and OutOfMemory before it reads all of what no memory holds."""
    stamp = checkpoint.stamp(folder)
    files = checkpoint.refuse_unusable(folder, model)
    headers = checkpoint.read_headers(files, model)
    source = Source(model, folder, "", headers.n_parameters, bytes_per_parameter, n_tensors=headers.n_tensors)
    total = machine.memory_limit()
    if source.n_bytes > total:
        raise OutOfMemory(
            f"{model} needs {megabytes(source.n_bytes)}, more than the {megabytes(total)} of this machine. "
            "Choose a smaller model."
        )
    return replace(source, revision=revision or checkpoint.fingerprint(files), stamp=stamp)


def _gated(model: str) -> str:
    return (
        f"{model} is gated: its owner gives it out on request only. Ask for access on the hub and log in "
        "with `hf auth login`, or choose another model."
    )


@cached(TTLCache(maxsize=256, ttl=60), condition=threading.Condition())
def _hub_info(model: str) -> ModelInfo:
    """What the hub says of a model; remembered for a minute, since a class asks for one model all at once."""
    info = HfApi().model_info(model, files_metadata=True, timeout=_HUB_SECONDS)
    if info.gated:  # everybody may read about it; whether the files are given out is another question
        HfApi().auth_check(model)
    return info


def _on_hub(model: str, bytes_per_parameter: int) -> Source:
    try:
        info = _hub_info(model)
    except GatedRepoError as error:
        raise HubUnreachable(_gated(model)) from error
    except RepositoryNotFoundError as error:
        raise UnknownModel(
            f"The hub knows no public model {model}. Check the spelling (owner/name, capitals count)."
        ) from error
    except (
        HTTPError,
        OSError,
        ValueError,
    ) as error:  # ValueError: a page in the hub's place, such as a Wi-Fi's login
        raise HubUnreachable(
            f"{model} is not on this machine, and the hub that has it cannot be reached. Check the network, "
            "or choose a model that is embedded in this app."
        ) from error
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
    if not sizes.keys() & {"model.safetensors", "model.safetensors.index.json"}:
        raise BadCheckpoint(checkpoint.no_weights(model, list(sizes)))
    if "config.json" not in sizes:
        raise BadCheckpoint(
            f"“{model}” has no config.json on the hub, so it is no transformers checkpoint. Choose another model."
        )
    needed = list(filter_repo_objects(sizes, allow_patterns=_NEEDED_FILES))
    for name in needed:
        checkpoint.refuse_size(name, sizes[name], model)
    revision = info.sha or "main"
    missing = [name for name in needed if not isinstance(try_to_load_from_cache(model, name, revision=revision), str)]
    # Without the hub's own count: few checkpoints take less than half precision, so this is rarely too small.
    weights = sum(sizes[name] for name in needed if name.endswith(".safetensors"))
    return Source(
        model,
        None,
        revision,
        info.safetensors.total if info.safetensors else weights // 2,
        bytes_per_parameter,
        download_bytes=sum(sizes[name] for name in missing),
    )
