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
    the control forgets it when another page is opened. ``pasted`` holds what is typed instead. ``ready`` are files of
    the app's own that can be used like an uploaded one, by their names.
    """

    upload: str
    in_use: str
    pasted: Field[str]
    ready: Mapping[str, Callable[[], File]] = field(default_factory=dict)

    def uploaded(self) -> bool:
        """Whether a file is in use: the one uploaded last, or one of those ready, until it is removed."""
        return st.session_state.get(self.in_use) is not None

    def use(self, name: str) -> None:
        """Use one of the files that are ready from now on."""
        st.session_state[self.in_use] = name

    def draw(self) -> File | None:
        """The controls, and what they hold; None for nothing. Raises InvalidInput."""
        file = self._file()
        typed = st.text_area("or paste it here", **self.pasted.bound, height=160, disabled=file is not None)
        return uploads.pasted(typed, "The pasted data") if file is None and typed.strip() else file

    def _file(self) -> File | None:
        def keep() -> None:
            st.session_state[self.in_use] = next(iter(uploads.ids(self.upload)), None)

        def forget() -> None:
            st.session_state[self.in_use] = None

        uploads.control("Upload a file", self.upload, st.container(), on_change=keep)
        in_use: str | None = st.session_state.get(self.in_use)
        if in_use is None:
            return None
        listed = in_use in uploads.ids(self.upload)
        name, remove = st.empty(), st.container()
        if not listed:
            remove.button("Remove", on_click=forget, icon=":material/close:")
        if in_use in self.ready:
            file = self.ready[in_use]()
        else:
            (file,) = uploads.files((in_use,))
        if not listed:
            name.markdown(f"In use: **{as_text(file.name)}**")
        return file
