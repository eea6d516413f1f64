"""Models that were tuned here: a folder each, under a name that nobody can guess, for as long as this process runs.

They are models like any other: their names go where names of models go. Beside a model may lie its archive, for who
saves it, and the state of a training that was stopped. Whoever made one forgets it; where all together take too much
room, those that were made first go first. For archives and states no model goes.
"""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from model_zoo.errors import DiskFull, UnknownModel
from model_zoo.machine import is_memory_backed, memory_left, memory_limit
from model_zoo.process_folder import ProcessFolder, made_private, remove
from model_zoo.types import megabytes

PREFIX = "tuned/"
_ID = re.compile(rf"{PREFIX}[0-9a-f]{{16}}")

_MOST_BYTES = 4_000_000_000  # for all of them together: forty of the size of the bundled BERT
_SHARE_OF_MEMORY = 0.2  # at most, where they lie in it
_RESERVE = 500_000_000  # never taken: the app itself and its logs write to the same disk
_RESERVE_OF_MEMORY = 0.1

_STOPPED, _ARCHIVE, _HALF = ".stopped", ".zip", ".half"
_HEADERS = 100_000  # bytes: far more than those of an archive


def new_id() -> str:
    """A name for a model that is about to be tuned."""
    return f"{PREFIX}{secrets.token_hex(8)}"


def is_id(model: str) -> bool:
    """Whether this is such a name. Looks at the name alone."""
    return _ID.fullmatch(model) is not None


OWN = ProcessFolder("look-inside-bert-tuned-")
_shared: Path | None = None
_most: int | None = None


def share(folder: Path) -> None:
    """Keep tuned models in a folder that other processes share, which stays when this one ends. Called at the start.
    Raises ModelZooError where it lies among temporary files and may be another user's.
    """
    global _shared
    _shared = folder
    _made_root()


def begin(most_bytes: int) -> None:
    """Bound the room of all of them together, and remove what killed processes have left. Called at the start."""
    global _most
    _most = most_bytes
    OWN.sweep()


def default_limit(root: Path | None = None) -> int:
    """Bytes for all of them together where nobody has set a bound: 4 GB, and a fifth of the memory at most where they
    lie in memory.
    """
    if is_memory_backed(root or Path(tempfile.gettempdir())):
        return min(_MOST_BYTES, int(_SHARE_OF_MEMORY * memory_limit()))
    return _MOST_BYTES


def _root() -> Path:
    """Where all of them lie; it need not exist."""
    return _shared or OWN.path


def _made_root() -> Path:
    """Where all of them lie; made anew where it was cleaned away, as folders for temporary files are."""
    if _shared is None:
        return OWN.made()
    if _shared.parent == Path(tempfile.gettempdir()):
        made_private(_shared)
    else:
        _shared.mkdir(parents=True, exist_ok=True, mode=0o700)
    return _shared


def _place(model: str) -> Path:
    if not is_id(model):
        raise ValueError(f"{model!r} is not the name of a tuned model")
    return _root() / model.removeprefix(PREFIX)


def folder(model: str) -> Path:
    """Where a tuned model lies. Raises UnknownModel where it does no more."""
    place = _place(model)
    if not (place / "config.json").is_file():
        raise UnknownModel(
            "This model was trained in a visit that is over, or had to make room for others. Train it again, or choose "
            "another model."
        )
    return place


def state_folder(model: str) -> Path:
    """Where the state of a training that was stopped is kept until it goes on; it need not exist."""
    return _place(model).with_suffix(_STOPPED)


def forget(model: str) -> None:
    """Remove a tuned model's files, its archive, and what was kept of its training."""
    for suffix in ("", _STOPPED, _ARCHIVE):
        remove(_place(model).with_suffix(suffix))


# Writing: one thing at a time, so that no two are promised the same room.

_writing = threading.Lock()
_counting = threading.Lock()
_being_read: Counter[Path] = Counter()  # archives, and by how many


def writing(model: str, n_bytes: int) -> AbstractContextManager[Path]:
    """An empty folder for a model of so many bytes, for which others make room, and for an archive of it, so that it
    can be saved; half of a model does not stay. Raises DiskFull.
    """
    message, advice = "The tuned model, with an archive to save it, takes", "Free some space, or tune a smaller model."
    return _write_folder(_place(model), 2 * n_bytes + _HEADERS, message, advice)


def writing_state(model: str, n_bytes: int) -> AbstractContextManager[Path]:
    """As ``writing``, for the state of a training that was stopped, in the place of an earlier one."""
    message = "The training was stopped, and nothing of it could be kept: what it had learned takes"
    return _write_folder(state_folder(model), n_bytes, message, "Free some space, then train again.")


@contextmanager
def _write_folder(place: Path, n_bytes: int, message: str, advice: str) -> Iterator[Path]:
    with _writing:
        remove(place)
        _make_room(place, n_bytes, message, advice)
        place.mkdir()
        try:
            yield place
        except BaseException as error:
            remove(place)
            if isinstance(error, OSError):
                why = error.strerror or error
                raise DiskFull(
                    f"{message} {megabytes(n_bytes)}, which could not be written ({why}). {advice}"
                ) from error
            raise


@contextmanager
def archive(model: str, write: Callable[[Path, Path], object]) -> Iterator[Path]:
    """A tuned model as one file, which stays while it is read: as long as the block lasts.

    Where it is not there yet, ``write(folder, file)`` has to make it. Raises UnknownModel and DiskFull.
    """
    place = _place(model).with_suffix(_ARCHIVE)
    with _writing:
        if not place.is_file():
            source, half = folder(model), place.with_suffix(_HALF)
            message, advice = "The archive of the model takes", "Try again in a minute, or tune a smaller model."
            _make_room(place, _size(source) + _HEADERS, message, advice)
            try:
                write(source, half)
                half.replace(place)
            except OSError as error:
                folder(model)  # says so where it was forgotten meanwhile
                raise DiskFull(f"The archive could not be written ({error.strerror or error}). Try again.") from error
            finally:
                remove(half)
        with _counting:
            _being_read[place] += 1
    try:
        yield place
    finally:
        with _counting:
            _being_read[place] -= 1
            if not _being_read[place]:
                del _being_read[place]


def _make_room(place: Path, n_bytes: int, message: str, advice: str) -> None:
    """Have others make room for so many bytes at a place: archives, then what was made first, and models for a model
    alone; nothing goes where that is not enough. Needs the lock.

    Raises DiskFull, which begins with ``message`` and ends with ``advice``.
    """
    root = _made_root()
    most = default_limit(root) if _most is None else _most
    there = {entry: _size(entry) for entry in root.iterdir()}
    taken, free = sum(there.values()), room_left(root)
    going = []
    others = [entry for entry in there if entry.stem != place.stem and not _being_read[entry]]
    may_go = [entry for entry in others if entry.suffix or not place.suffix]
    for entry in sorted(may_go, key=lambda entry: (entry.suffix != _ARCHIVE, _age(entry))):
        if taken + n_bytes <= most and n_bytes <= free:
            break
        going.append(entry)
        taken, free = taken - there[entry], free + there[entry]
    if taken + n_bytes > most:
        left = f"{megabytes(max(0, most - taken))} of the {megabytes(most)} that all tuned models may take are left"
        raise DiskFull(f"{message} {megabytes(n_bytes)}, and {left} for it. {advice}")
    if n_bytes > free:
        where = "memory, where its files would lie," if is_memory_backed(root) else "disk"
        left = f"the {where} has {megabytes(max(0, free))} left"
        raise DiskFull(f"{message} {megabytes(n_bytes)}, and {left} for it. {advice}")
    for entry in going:
        remove(entry)


def room_left(root: Path) -> int:
    """Bytes that may be taken where a folder lies, on a disk or in memory: the app itself needs some."""
    free = shutil.disk_usage(root).free
    if not is_memory_backed(root):
        return free - _RESERVE
    return min(free, memory_left()) - min(_RESERVE, int(_RESERVE_OF_MEMORY * memory_limit()))


def memory_taken() -> int:
    """Bytes of memory that all of them take: 0 where they lie on a disk."""
    root = _root()
    return _size(root) if is_memory_backed(root) else 0


def _size(place: Path) -> int:
    """Bytes of a file, or of all in a folder; of what goes meanwhile, none."""
    total = 0
    for file in (place, *place.rglob("*")):
        with suppress(OSError):
            total += file.stat().st_size if file.is_file() else 0
    return total


def _age(place: Path) -> float:
    """When it was made: the smaller, the earlier."""
    try:
        return place.stat().st_mtime
    except OSError:
        return 0.0
