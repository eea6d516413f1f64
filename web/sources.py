"""Source files, which Streamlit looks up for visitors who come back though nobody watches them."""

from __future__ import annotations

from streamlit import config
from streamlit.runtime.app_session import AppSession

REGISTER = "register_file_watchers"


def leave_alone() -> None:
    """From now on a session that is resumed watches no source files, unless new ones do (``server.fileWatcherType``).

    Streamlit heeds that setting for new sessions alone. In one that is resumed it looks up the files of all modules
    when its next page is drawn, on the event loop: with torch and transformers in memory nobody else is heard for some
    0.4 s. Raises AttributeError where Streamlit calls that something else.
    """
    getattr(AppSession, REGISTER)
    if config.get_option("server.fileWatcherType") == "none":
        setattr(AppSession, REGISTER, lambda _session: None)
