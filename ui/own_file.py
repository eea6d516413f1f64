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

from jobs.reading import Reading
from model_zoo.types import MB
from ui import work
from ui.field import Field
from ui.messages import Unfinished, as_text
from web import uploads
from web.background import desk
from web.process import forgotten_by
from web.settings import settings
from web.uploads import File

Data = TypeVar("Data")

_SECONDS_AT_ONCE: Final = 0.3
# What was read of the files that visitors brought last, of as many characters as these may have bytes.
_READ: Final[LRUCache[Hashable, tuple[Any, int]]] = LRUCache(
    settings().upload_memory_mb * MB, getsizeof=lambda kept: kept[1]
)
_LOCK: Final = Lock()
forgotten_by(_READ.clear)


def read(files: Sequence[File], reader: Callable[..., Data], *how: Hashable) -> Data:
    """What ``reader(files, *how)`` returns: at once where that is quick, else by a job. Each file is read once, for
    everybody who brings it; ``reader`` is a function of a module.

    Raises Unfinished while the job is at work or was stopped, and what the reader raises.
    """
    contents = tuple((file.name, hashlib.sha256(file.data).digest()) for file in files)
    key = reader.__module__, reader.__qualname__, how, contents
    with _LOCK:
        kept = _READ.get(key)
    if kept is not None:
        return cast(Data, kept[0])

    def new() -> Reading:
        n_bytes = sum(len(file.data) for file in files)
        return Reading(key, partial(reader, files, *how), n_bytes)

    jobs = desk()
    job = jobs.current(Reading)
    if job is None or job.key != key:
        job = new()
        job.advance_for(_SECONDS_AT_ONCE)
        if job.running:
            jobs.start(job)
    if job.running:
        raise Unfinished(partial(work.watch, job))
    if job.stopping:
        raise Unfinished(partial(_stopped, new, files))
    data = job.take()
    with _LOCK:
        if job.n_done < _READ.maxsize:
            _READ[key] = data, job.n_done
    return cast(Data, data)


def _stopped(new: Callable[[], Reading], files: Sequence[File]) -> None:
    names = ", ".join(file.name for file in files)
    st.info(as_text(f"You stopped reading {names}."), icon=":material/stop:")
    work.start_button("Read it again", new, key="read again")


@dataclass(frozen=True, slots=True)
class OwnFile:
    """``upload`` is the key of its control. Which file is in use is remembered under ``in_use`` in the session, because
    the control forgets it when another page is opened; of ``several`` files, which. ``pasted`` holds what is typed
    instead. ``ready`` are files of the app's own that can be used like an uploaded one, by their names.
    """

    upload: str
    in_use: str
    pasted: Field[str]
    several: bool = False
    ready: Mapping[str, Callable[[], File]] = field(default_factory=dict)

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
            found = uploads.ids(self.upload)
            st.session_state[self.in_use] = (found if self.several else found[0]) if found else None

        def forget() -> None:
            st.session_state[self.in_use] = None

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
        files = [self.ready[one]() for one in wanted if one in self.ready] or uploads.files(wanted)
        if not listed:
            name.markdown(f"In use: **{as_text(', '.join(file.name for file in files))}**")
        return files
