"""The page "Status": one sentence that says whether all is well, the figures behind it, and emptying the caches."""

from __future__ import annotations

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from pages.status import emptying, words
from ui import fragment
from web.monitoring import Figures, look

_SECONDS_BETWEEN_LOOKS = 2.0
_BEFORE = "status_previous"
_BOXES = {"well": st.success, "busy": st.info, "trouble": st.warning}
_ICONS = {"well": ":material/check_circle:", "busy": ":material/hourglass:", "trouble": ":material/warning:"}


def draw() -> None:
    """Looks again every two seconds; the button is apart, so that nobody's typing is disturbed."""
    fragment(_figures, run_every=_SECONDS_BETWEEN_LOOKS)()
    st.caption(words.THRESHOLDS)
    fragment(emptying.draw)()


def _figures() -> None:
    now = look()
    before: Figures | None = st.session_state.get(_BEFORE)
    st.session_state[_BEFORE] = now
    verdict = words.verdict(now)
    _BOXES[verdict.level](verdict.text, icon=_ICONS[verdict.level])
    with st.container(horizontal=True, gap="medium"):
        st.metric("Visitors", f"{now.visitors:,}", help="Browser tabs open now, including yours.", width="content")
        st.metric("Visitors waiting", f"{words.waiting(now):,}", width="content")
        st.metric(
            "Processors in use",
            words.processors(before, now),
            help="By this app, since the last refresh.",
            width="content",
        )
        st.metric(
            "Errors",
            f"{now.n_errors:,}",
            help="Errors inside the app that visitors have seen since it started. See the server's log for details.",
            width="content",
        )
    st.progress(min(now.memory / now.memory_limit, 1.0), f"Memory of the app: {words.memory(now)}")
    st.caption(words.kept(now))
    turns, models = st.columns([2, 3])
    turns.markdown(words.turns(now))
    if now.models:
        models.markdown(words.models(now))
    st.caption(" ".join(filter(None, (words.cluster(now), words.history(now, _zone())))))


def _zone() -> tzinfo:
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
