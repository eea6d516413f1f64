"""Fragments inside fragments, whose messages Streamlit keeps where those around them are dropped."""

from __future__ import annotations

from streamlit.runtime.app_session import AppSession

CLEAR_QUEUE = "_clear_queue"


def drop_what_is_inside() -> None:
    """From now on what has not been sent of a fragment's last run is dropped together with what has not been sent of
    the fragments inside it, when the fragment runs again.

    Streamlit drops the one and keeps the other: a browser that is then told to put something at place nine of a
    container with seven places ends the page. It takes two clicks before the first is answered.
    Raises AttributeError where Streamlit calls that something else.
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
