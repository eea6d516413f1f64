"""The parts that the server is put together from, as ``st.App`` takes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Route
from streamlit.runtime.pages_manager import PagesManager

from jobs import READER, WORKER
from model_zoo import tuned
from model_zoo.allocator import keep_less
from web import app_session, logs, open_files, requests, sessions, sign_in, states
from web.background import VISITS
from web.engine import engine, warm_up
from web.headers import Headers
from web.health import Health
from web.metrics import metrics
from web.origins import OwnPages
from web.paths import UnknownPaths, start
from web.saved import ADDRESS, Saved
from web.settings import settings
from web.shell import Shell

# Streamlit's own figures, by the names of the functions whose results it keeps.
_INTERNAL = ("_stcore/metrics",)


def routes(rooms_problem: Callable[[], str] = str) -> list[BaseRoute]:
    """The addresses that are no pages. ``rooms_problem`` says what is wrong with the rooms of classes."""
    saved = Route(f"{start()}{ADDRESS}/{{name}}", Saved(engine))
    return [Route("/healthz", Health(engine, rooms=rooms_problem)), Route("/metrics", metrics), saved]


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """From the first moment to the last: what is logged, the default model, and the jobs."""
    logs.configure(settings().log_format, questions=settings().log_questions)
    open_files.allow_more()
    app_session.refuse_to_clear_caches()
    app_session.drop_inner_fragments()
    states.hold()
    kept = sessions.keep(VISITS.at_work)
    app_session.leave_sources_alone()
    keep_less()
    PagesManager.uses_pages_directory = False  # else pages/ is taken for an old-style app until the router has run once
    warm_up()
    looking = asyncio.create_task(kept.look_after())
    yield
    looking.cancel()
    for worker in (WORKER, READER):
        worker.stop()
    tuned.OWN.close()


def _hidden(path: str) -> bool:
    return (path in _INTERNAL and settings().hosted) or sign_in.leads_nowhere(path)


def parts(
    documents: Mapping[str, str], on_script_error: Callable[[Exception], bool], rooms_problem: Callable[[], str]
) -> dict[str, Any]:
    """What ``st.App`` takes beside the script. ``documents`` are the pages' by their paths, "" for the first one."""
    return {
        "routes": routes(rooms_problem),
        "middleware": [
            Middleware(Headers, embedded_by=settings().embedded_by, documents=documents.values()),
            Middleware(OwnPages),
            Middleware(requests.BinaryFrames),
            Middleware(UnknownPaths, pages=documents, hidden=_hidden),
            Middleware(Shell, documents=documents),
        ],
        "lifespan": lifespan,
        "on_script_error": on_script_error,
    }
