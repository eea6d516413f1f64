"""Files that visitors upload: one control for all pages, and a bound on what the server holds of them.

Streamlit's manager of uploads is the only place that holds a file's bytes; sessions remember which file it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st
from streamlit import config
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile, UploadedFileRec

from model_zoo.errors import InvalidInput
from model_zoo.types import MB
from reading.text import check_size
from web.settings import settings

# BLiMP comes in 67 files.
MOST_FILES = 100

_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class File:
    """``name`` is fit for the screen: without control characters and signs that turn the line around, and not long."""

    name: str
    data: bytes = field(repr=False)


class Bounded(MemoryUploadedFileManager):
    """Streamlit's manager, which would hold whatever is sent until its sender leaves.

    What is held of a visitor is at most as large as one file may be, and ``MOST_FILES`` files; what is held of all is
    within the memory for uploads. The newest file stays; the oldest of its visitor go first, then those of the
    visitors who came first.
    """

    def add_file(self, session_id: str, file: UploadedFileRec) -> None:
        super().add_file(session_id, file)
        limit, memory = (size * MB for size in (settings().upload_mb, settings().upload_memory_mb))
        with self._lock:
            sessions = list(self.file_storage.items())
            held = list(self.file_storage[session_id].values())
        size = sum(len(file_.data) for file_ in held)
        for n_left, old in zip(range(len(held), 1, -1), held, strict=False):
            if size <= limit and n_left <= MOST_FILES:
                break
            size -= len(old.data)
            self.remove_file(session_id, old.file_id)
        for session, files in sessions:
            for old in list(files.values()):
                if self._total_bytes > memory and old.file_id != file.file_id:
                    self.remove_file(session, old.file_id)


def bound() -> None:
    """Hold this process to the settings; Streamlit makes its manager itself, so the one it made is turned into ours."""
    manager = _manager()
    if type(manager) is MemoryUploadedFileManager:
        config.set_option("server.maxUploadSize", settings().upload_mb)
        manager.__class__ = Bounded


def control(
    label: str, key: str, place: DeltaGenerator, *, several: bool = False, on_change: Callable[[], None] | None = None
) -> None:
    """A control alone, whose ``ids`` tell what is in it.

    It takes files of every kind: over a name that ends otherwise than it was told, Streamlit would stop the whole page,
    outside of the app's own messages. Readers say in a sentence what a file is instead.
    """
    place.file_uploader(
        label,
        key=key,
        accept_multiple_files=several,
        max_upload_size=settings().upload_mb,
        on_change=on_change or "rerun",
    )


def ask_file(label: str, key: str, place: DeltaGenerator) -> File | None:
    """A control for one file, and the file in it. Raises InvalidInput for one that is too large or no longer held."""
    control(label, key, place)
    uploaded = files(ids(key))
    return uploaded[0] if uploaded else None


def ask_files(label: str, key: str, place: DeltaGenerator) -> list[File]:
    """A control for files that are read together, and those in it. Raises InvalidInput where they are too many, too
    large together or no longer held.
    """
    control(label, key, place, several=True)
    return files(ids(key))


def ids(key: str) -> tuple[str, ...]:
    """What the server calls the files in the control of this key; none while it is not on the screen."""
    value = st.session_state.get(key)
    uploads = value if isinstance(value, list) else [value]
    return tuple(upload.file_id for upload in uploads if isinstance(upload, UploadedFile | DeletedFile))


def files(wanted: tuple[str, ...]) -> list[File]:
    """The visitor's files of these ids. Raises InvalidInput as ``several``."""
    context, manager = get_script_run_ctx(), _manager()
    if not wanted or context is None or manager is None:
        return []
    mb = settings().upload_mb
    if len(wanted) > MOST_FILES:
        raise InvalidInput(f"{len(wanted):,} files were uploaded; at most {MOST_FILES} are read. Remove some.")
    held = manager.get_files(context.session_id, wanted)
    if len(held) < len(wanted):
        raise InvalidInput(
            f"The server no longer has all uploaded files: it keeps up to {mb} MB for each visitor, and drops the "
            "oldest files first. Remove what is listed and upload it again."
        )
    return [File(_plain(record.name), check_size(record.data, _plain(record.name), mb * MB)) for record in held]


def pasted(typed: str, name: str = "The pasted text") -> File:
    """What was typed or pasted instead of a file, within the same limit. Raises InvalidInput."""
    data = typed.encode("utf-8", "replace")
    return File(name, check_size(data, name, settings().upload_mb * MB))


def _manager() -> MemoryUploadedFileManager | None:
    context = get_script_run_ctx()
    manager = context.uploaded_file_mgr if context is not None else None
    return manager if isinstance(manager, MemoryUploadedFileManager) else None


def _plain(name: str) -> str:
    printable = "".join(character for character in name if character.isprintable()).strip() or "The file"
    return printable if len(printable) <= _LONGEST_NAME else f"{printable[: _LONGEST_NAME - 1]}…"
