"""What Streamlit's sessions do otherwise here. Raises AttributeError where Streamlit has other names for it."""

from __future__ import annotations

from streamlit import config
from streamlit.runtime.app_session import AppSession

CLEAR_CACHE = "_handle_clear_cache_request"
CLEAR_QUEUE = "_clear_queue"
REGISTER = "register_file_watchers"


def refuse_to_clear_caches() -> None:
    """From now on a browser's request to empty Streamlit's caches, which are everybody's, does nothing."""
    getattr(AppSession, CLEAR_CACHE)
    setattr(AppSession, CLEAR_CACHE, lambda _session: None)


def drop_inner_fragments() -> None:
    """From now on what has not been sent of a fragment's last run is dropped together with what has not been sent of
    the fragments inside it, when the fragment runs again.

    Streamlit drops the one and keeps the other: a browser that is then told to put something at place nine of a
    container with seven places ends the page. It takes two clicks before the first is answered.
    """
    clear = getattr(AppSession, CLEAR_QUEUE)

    def clear_all(session: AppSession, fragment_ids_this_run: list[str] | None = None) -> None:
        running = fragment_ids_this_run
        if running:
            waiting = {message.delta.fragment_id for message in session._browser_queue._queue}
            inside = (fragment for fragment in waiting if session._fragment_storage.has_ancestor_in(fragment, running))
            running = [*running, *inside]
        clear(session, running)

    setattr(AppSession, CLEAR_QUEUE, clear_all)


def leave_sources_alone() -> None:
    """From now on a session that is resumed watches no source files, unless new ones do (``server.fileWatcherType``).

    Streamlit heeds that setting for new sessions alone. In one that is resumed it looks up the files of all modules
    when its next page is drawn, on the event loop: with torch and transformers in memory nobody else is heard for some
    0.4 s.
    """
    getattr(AppSession, REGISTER)
    if config.get_option("server.fileWatcherType") == "none":
        setattr(AppSession, REGISTER, lambda _session: None)
