"""The desks of all visitors, where their work in the background lies, kept until their visits end."""

from __future__ import annotations

from typing import Final

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from jobs import Desk, Visits

_DESK = "desk"


def connected(session: str) -> bool:
    try:
        return runtime.get_instance().is_active_session(session)
    except RuntimeError:  # no server, or none any more
        return False


VISITS: Final = Visits(connected)


def desk() -> Desk:
    """This visitor's, kept until the visit ends."""
    desk_: Desk = st.session_state.setdefault(_DESK, Desk())
    context = get_script_run_ctx()
    if context is not None:
        VISITS.seen(desk_, context.session_id)
    return desk_
