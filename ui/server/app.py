"""The parts that the server is put together from, as ``st.App`` takes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Route

from jobs.worker import WORKER
from model_zoo import tuned
from ui.allocator import keep_less
from ui.background import VISITS
from ui.engine import engine, warm_up
from ui.messages import on_script_error
from ui.save import ADDRESS
from ui.server import logs, requests, sessions, sources, states
from ui.server.headers import Headers
from ui.server.health import Health
from ui.server.metrics import metrics
from ui.server.origins import OwnPages
from ui.server.paths import UnknownPaths, start
from ui.server.saved import Saved
from ui.settings import settings

# Streamlit's own figures, by the names of the functions whose results it keeps.
_INTERNAL = ("_stcore/metrics",)


def routes() -> list[BaseRoute]:
    """The addresses that are no pages."""
    saved = Route(f"{start()}{ADDRESS}/{{name}}", Saved(engine))
    return [Route("/healthz", Health(engine)), Route("/metrics", metrics), saved]


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """From the first moment to the last: what is logged, the default model, and the jobs."""
    logs.configure(settings().log_format, questions=settings().log_questions)
    requests.refuse()
    states.hold()
    kept = sessions.keep(VISITS.at_work)
    sources.leave_alone()
    keep_less()
    warm_up()
    looking = asyncio.create_task(kept.look_after())
    yield
    looking.cancel()
    WORKER.stop()
    tuned.OWN.close()


def parts(pages: Sequence[str]) -> dict[str, Any]:
    """What ``st.App`` takes beside the script. ``pages`` are the names of the pages' files, the start page first."""
    return {
        "routes": routes(),
        "middleware": [
            Middleware(Headers, embedded_by=settings().embedded_by),
            Middleware(OwnPages),
            Middleware(UnknownPaths, pages=["", *pages[1:]], hidden=_INTERNAL if settings().hosted else ()),
        ],
        "lifespan": lifespan,
        "on_script_error": on_script_error,
    }
