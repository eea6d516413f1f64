"""Work in the background on the screen: asked for, begun when its models are here, watched, and stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import streamlit as st

from jobs import Job, worker_of
from model_zoo.errors import ModelZooError, NotDownloaded
from model_zoo.types import counted
from ui.messages import as_text, failures_as_messages, fragment, offer_download
from ui.tuned import short_name
from web.background import desk
from web.engine import engine

Kind = TypeVar("Kind", bound=Job)

SECONDS_BETWEEN_LOOKS = 1.0
_REQUESTED = "requested_job"


def running(kind: type[Job]) -> bool:
    """Whether a job of this kind is at work for this visitor, or waits for its turn."""
    job = desk().current(kind)
    return job is not None and job.running


def button(
    label: str,
    kind: type[Job],
    wanted: object,
    *,
    key: str,
    primary: bool,
    disabled: bool = False,
    help: str | None = None,
) -> None:
    """A button that asks for a job of this kind, which ``begin`` begins; while one is at work, the one that stops it
    stands in its place.

    What is ``wanted`` is remembered until then: a model may have to be downloaded first, and another click while it is
    loading starts the page over. What was asked for last counts.
    """

    def ask() -> None:
        st.session_state[_REQUESTED] = kind.__name__, wanted

    job = desk().current(kind)
    if job is not None and job.running:
        _stop(job)
        return
    st.button(
        label,
        key=key,
        on_click=ask,
        type="primary" if primary else "secondary",
        disabled=disabled,
        icon=":material/play_arrow:",
        help=help,
    )


def is_requested(kind: type[Job]) -> bool:
    """Whether a job of this kind was asked for and has not begun."""
    request = st.session_state.get(_REQUESTED)
    return request is not None and bool(request[0] == kind.__name__)


def begin(kind: type[Job], wanted: object, models: Iterable[str], make: Callable[[], Job]) -> None:
    """Begin the job of this kind that was asked for, once its models are here, and draw the page again. Where something
    else is ``wanted`` by now, forget it.

    A model that has to be downloaded first is offered. Why one of several cannot be had is for the job to say: it goes
    on with the others.
    """
    before = desk().current(kind)
    if not is_requested(kind):
        return
    if st.session_state[_REQUESTED][1] == wanted:
        with failures_as_messages():
            if not _all_here(list(models)):
                return
            desk().start(make())
    st.session_state[_REQUESTED] = None
    if desk().current(kind) is not before:
        st.rerun()


def _all_here(models: list[str]) -> bool:
    """Load models, offer to download those not here: False if there are any. Raises why a single one cannot be had."""
    here = True
    for model in models:
        try:
            with st.spinner(as_text(f"Loading {short_name(model)} …"), show_time=True):
                engine().info(model)
        except NotDownloaded as error:
            offer_download(error)
            here = False
        except ModelZooError:
            if len(models) == 1:
                raise
    return here


def start_button(
    label: str, make: Callable[[], Job], *, icon: str = ":material/play_arrow:", primary: bool = False, key: str = ""
) -> None:
    """A button that begins a job whose models are here."""
    st.button(
        label,
        key=key or None,
        on_click=lambda: desk().start(make()),
        type="primary" if primary else "secondary",
        icon=icon,
    )


def watch(job: Kind, more: Callable[[Kind], None] | None = None, *, stop: bool = True) -> None:
    """While a job is running how far it is, and with ``stop`` a button that stops it; ``more`` draws what else there is
    to say of that. Of one that has failed, why.

    The page is drawn again when there is more to see, and not in between: that would cost time.
    """
    if job.failure is not None:
        st.warning(as_text(job.failure), icon=":material/error:")
    if not job.running:
        return
    if stop:
        _stop(job)
    fragment(_watch, run_every=SECONDS_BETWEEN_LOOKS)(job, job.n_ended, more)


def _stop(job: Job) -> None:
    st.button(
        "Stopping …" if job.stopping else "Stop",
        key=f"stop {type(job).__name__}",  # two kinds can be at work at a time
        on_click=job.stop,
        disabled=job.stopping,
        icon=":material/stop:",
    )


def _watch(job: Kind, n_drawn: int, more: Callable[[Kind], None] | None) -> None:
    if job.n_ended != n_drawn or not job.running:
        st.rerun()
    worker = worker_of(job)
    n_ahead = worker.ahead(job) if job.waiting else 0
    st.progress(min(job.share, 1.0), f"Queued: {counted(n_ahead, 'job')} ahead" if n_ahead else job.progress)
    if more is not None:
        more(job)
    if worker.shared(job) and not n_ahead and not job.exclusive:
        st.caption("Other visitors' jobs take turns with yours, so this takes longer.")
