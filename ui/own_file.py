"""A file of the visitor's or what they paste instead, as the data of a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import streamlit as st

from ui.field import Field
from ui.messages import as_text
from web import uploads
from web.uploads import File


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
