"""A file of the visitor's or what they paste instead, as the data of a page; and the one way in which pages read it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, Final, TypeVar, cast

import streamlit as st
from cachetools import LRUCache

import reading
from jobs.reading import Reading
from model_zoo.types import MB
from reading import Choices
from reading.items import MinimalPair
from reading.reader import unpacks
from ui import how_read, work
from ui.field import Field
from ui.messages import Unfinished, as_text, caption
from web import uploads
from web.background import desk
from web.process import register_clear
from web.settings import settings
from web.uploads import File

Data = TypeVar("Data")
Key = tuple[Hashable, ...]

_MOST_AT_ONCE: Final = 300_000  # bytes, which take half a second where most is made of them
_BYTES_A_CHARACTER: Final = 30  # of a list of frequencies; of a corpus one or two
# What was read of the files that visitors brought last, and of how many characters.
_READ: Final[LRUCache[Hashable, tuple[Any, int]]] = LRUCache(
    settings().upload_memory_mb * MB, getsizeof=lambda kept: _BYTES_A_CHARACTER * kept[1]
)
_HELD: Final = "read_files"
_LOCK: Final = Lock()
register_clear(_READ.clear)


def read(files: Sequence[File], call: partial[Data]) -> Data:
    """What ``call()`` reads of these files: at once where they are small, else by a job. Each is read once, for all who
    bring it. ``call`` is of a function of a module; neither it nor what it returns is changed by anybody.

    Raises Unfinished while the job is at work or was stopped, and InvalidInput.
    """
    key = _identity(call)
    mine: dict[Hashable, tuple[Hashable, Data]] = st.session_state.setdefault(_HELD, {})
    before, data = mine.get(key[0], (None, None))
    if before == key:
        return cast(Data, data)
    with _LOCK:
        kept = _READ.get(key)
    if kept is None:
        n_bytes = sum(len(file.data) for file in files)
        small = n_bytes <= _MOST_AT_ONCE and not any(unpacks(file.data) for file in files)
        kept = (call(), n_bytes) if small else _read_apart(files, call, key)
        with _LOCK:
            if _READ.getsizeof(kept) <= _READ.maxsize:
                _READ[key] = kept
    mine[key[0]] = key, kept[0]  # as long as the visit, so that no other visitor's file takes its place
    return cast(Data, kept[0])


def read_pairs(files: Sequence[File], most: int, choices: Field[Choices]) -> reading.Data:
    """The minimal pairs of files, at most so many. Raises as ``read``."""
    contents = [(file.name, file.data) for file in files]
    return read(files, partial(reading.read_files, contents, "minimal pairs", choices.value, most=most))


def minimal_pairs(data: reading.Data) -> tuple[MinimalPair, ...]:
    """What was read, as the pairs that it is."""
    return tuple(pair for pair in data.items if isinstance(pair, MinimalPair))


def _identity(value: Any) -> Any:
    """What tells a call, or an argument of it, from any other: of bytes their digest."""
    if isinstance(value, partial):
        function = f"{value.func.__module__}.{value.func.__qualname__}"
        return function, _identity(value.args), _identity(tuple(sorted(value.keywords.items())))
    if isinstance(value, bytes):
        return hashlib.sha256(value).digest()
    return tuple(map(_identity, value)) if isinstance(value, list | tuple) else value


def _read_apart(files: Sequence[File], call: partial[Data], key: Key) -> tuple[Data, int]:
    names = ", ".join(file.name for file in files)

    def new() -> Reading:
        n_bytes, most = sum(len(file.data) for file in files), settings().unpacked_mb
        return Reading(key, call, names, n_bytes, seconds=30 + 6 * most, n_memory=(256 + 16 * most) * MB)

    jobs = desk()
    job = jobs.current(Reading)
    if job is None or job.key != key:
        if job is not None and job.running and job.key[0] != key[0]:  # else two of a page would end each other for ever
            raise Unfinished(partial(caption, f"Next to be read: {names}."))
        job = new()
        jobs.start(job)
    if job.running:
        raise Unfinished(partial(work.watch, job))
    if job.stopping:
        raise Unfinished(partial(_stopped, new, names))
    return cast(Data, job.take()), job.n_done


def _stopped(new: Callable[[], Reading], names: str) -> None:
    st.info(as_text(f"You stopped reading {names}."), icon=":material/stop:")
    work.start_button("Read it again", new, key="read-again")


@dataclass(frozen=True, slots=True)
class OwnFile:
    """``upload`` is the key of its control. Which file is in use is remembered under ``in_use`` in the session, because
    the control forgets it when another page is opened; of ``several`` files, which. ``pasted`` holds what is typed
    instead. ``ready`` are files of the app's own that can be used like an uploaded one, by their names. ``choices`` of
    how to read a file are forgotten when another takes its place.
    """

    upload: str
    in_use: str
    pasted: Field[str]
    several: bool = False
    ready: Mapping[str, Callable[[], File]] = field(default_factory=dict)
    choices: Field[Choices] | None = None

    def uploaded(self) -> bool:
        """Whether a file is in use: the one uploaded last, or one of those ready, until it is removed."""
        return st.session_state.get(self.in_use) is not None

    def use(self, name: str) -> None:
        """Use one of the files that are ready from now on."""
        st.session_state[self.in_use] = name

    def draw(self) -> File | None:
        """The controls, and what they hold; None for nothing. Raises InvalidInput."""
        return next(iter(self.draw_all()), None)

    def draw_all(self) -> list[File]:
        """As ``draw``, of several files."""
        files = self._files()
        typed = st.text_area("or paste it here", **self.pasted.bound, height=160, disabled=bool(files))
        return files if files or not typed.strip() else [uploads.pasted(typed, "The pasted data")]

    def _files(self) -> list[File]:
        def keep() -> None:
            ids = uploads.ids(self.upload)
            if self.choices is not None and st.session_state.get(self.in_use) is not None:
                how_read.forget(self.choices)
            st.session_state[self.in_use] = (ids if self.several else ids[0]) if ids else None

        def forget() -> None:
            st.session_state[self.in_use] = None
            if self.choices is not None:
                how_read.forget(self.choices)

        label = "Upload files" if self.several else "Upload a file"
        uploads.control(label, self.upload, st.container(), several=self.several, on_change=keep)
        in_use: str | tuple[str, ...] | None = st.session_state.get(self.in_use)
        if in_use is None:
            return []
        wanted = in_use if isinstance(in_use, tuple) else (in_use,)
        listed = set(wanted) <= set(uploads.ids(self.upload))
        name, remove = st.empty(), st.container()
        if not listed:
            remove.button("Remove", on_click=forget, icon=":material/close:")
        files = [self.ready[id_]() for id_ in wanted if id_ in self.ready] or uploads.files(wanted)
        if not listed:
            name.markdown(f"In use: **{as_text(', '.join(file.name for file in files))}**")
        return files
