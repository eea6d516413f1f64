"""Whether the app can answer a question: it asks one, of the model that ships with it."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from model_zoo import DEFAULT_MODEL
from model_zoo.engine_interface import EngineInterface
from model_zoo.questions.probe_health import ProbeHealth

_log = logging.getLogger(__name__)

# Seconds an answer may take, waiting in line included; how long one is good for.
PATIENCE = 20.0
FRESH = 5.0


@dataclass(slots=True)
class _Check:
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    outcome: Future[str] = field(default_factory=Future)
    """What is wrong, in a sentence; "" where the question was answered."""
    rooms: str = ""
    """What is wrong with the rooms: said, but no reason to start the app anew, which would not help."""


class Health:
    """The address that says so: 200, or 503 with a sentence. One check at a time, on a thread of its own, since the
    first one may have to load torch; it serves all who ask while it lasts and for a few seconds after. ``rooms`` says
    what is wrong with where rooms are kept.
    """

    def __init__(
        self,
        engine: Callable[[], EngineInterface],
        patience: float = PATIENCE,
        fresh: float = FRESH,
        rooms: Callable[[], str] = str,
    ) -> None:
        self._engine, self._rooms = engine, rooms
        self._patience, self._fresh = patience, fresh
        self._check: _Check | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._answer() if Request(scope).method in ("GET", "HEAD") else Response(status_code=405)
        await response(scope, receive, send)

    async def _answer(self) -> Response:
        check = self._current()
        left = max(0.0, check.began + self._patience - time.monotonic())
        if not check.outcome.done():
            await asyncio.wait({asyncio.wrap_future(check.outcome)}, timeout=left)
        if check.outcome.done():
            wrong, seconds = check.outcome.result(), (check.ended or check.began) - check.began
        else:
            wrong, seconds = f"{DEFAULT_MODEL} has not answered within {self._patience:g} seconds.", self._patience
        return JSONResponse(
            {"healthy": not wrong, "seconds": round(seconds, 3)}
            | ({"why": wrong} if wrong else {})
            | ({"rooms": check.rooms} if check.rooms else {}),
            status_code=503 if wrong else 200,
            headers={"Cache-Control": "no-store"},
        )

    def _current(self) -> _Check:
        """The check under way, or the last one while it is fresh. No lock: only the event loop calls this."""
        check = self._check
        if check is None or (check.ended is not None and time.monotonic() - check.ended >= self._fresh):
            check = self._check = _Check()
            check.outcome.set_running_or_notify_cancel()  # who stops waiting does not take it from the others
            threading.Thread(target=self._ask, args=(check,), name="health", daemon=True).start()
        return check

    def _ask(self, check: _Check) -> None:
        wrong, check.rooms = "", self._rooms()
        try:
            self._engine().ask(ProbeHealth.example(DEFAULT_MODEL))
        except Exception as error:
            wrong = f"{DEFAULT_MODEL} could not answer: {type(error).__name__}."
            _log.error("the check of the app's health failed", exc_info=error)
        check.ended = time.monotonic()
        check.outcome.set_result(wrong)
