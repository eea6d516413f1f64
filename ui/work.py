"""Work in the background on the screen: how far a job is, and the button that stops it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from jobs import WORKER, Job
from ui.messages import fragment

Kind = TypeVar("Kind", bound=Job)

_SECONDS_BETWEEN_LOOKS = 1.0


def watch(job: Kind, more: Callable[[Kind], None] | None = None) -> None:
    """A button that stops a job that is running, and how far it is; ``more`` draws what else there is to say of that.

    The page is drawn again when there is more to see, and not in between: that would cost time.
    """
    st.button(
        "Stopping …" if job.stopping else "Stop",
        key=f"stop {type(job).__name__}",  # two kinds can be at work at a time
        on_click=job.stop,
        disabled=job.stopping,
        icon=":material/stop:",
    )
    fragment(_watch, run_every=_SECONDS_BETWEEN_LOOKS)(job, job.n_ended, more)


def _watch(job: Kind, n_drawn: int, more: Callable[[Kind], None] | None) -> None:
    if job.n_ended != n_drawn or not job.running:
        st.rerun()
    n_ahead = WORKER.ahead(job) if job.waiting else 0
    st.progress(min(job.share, 1.0), f"Waiting for its turn: {n_ahead} ahead of it" if n_ahead else job.progress)
    if more is not None:
        more(job)
    if WORKER.shared(job) and not n_ahead and not job.exclusive:
        st.caption("Other visitors' work takes turns with yours, so it takes longer.")
