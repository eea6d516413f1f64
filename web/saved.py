"""Tuned models as files to save, each at an address of its own that nobody can guess (``ui.save.model``): written to
the disk once, and sent from there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from model_zoo import tuned
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import ModelZooError, UnknownModel
from training.finetuning.folder import zipped

ADDRESS: Final = "saved"


@dataclass(frozen=True)
class DownloadOffer:
    """A tuned model that its visitor may save; ``name`` is that of the file without its ending."""

    model: str
    name: str


OFFERS: Final[WeakValueDictionary[str, DownloadOffer]] = WeakValueDictionary()
"""By the last part of their addresses, which end with the visit: it alone holds what is offered."""

_OVER = "There is nothing at this address any more, since that session is over. Train the model again."


class Saved:
    """The address of all of them. A file is sent whole or in parts, and stays on the disk meanwhile."""

    def __init__(self, engine: Callable[[], EngineInterface]) -> None:
        self._engine = engine

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with ExitStack() as stays:
            response = await self._answer(Request(scope), stays)
            await response(scope, receive, send)

    async def _answer(self, request: Request, stays: ExitStack) -> Response:
        if request.method not in ("GET", "HEAD"):
            return Response(status_code=405)
        wanted = OFFERS.get(request.path_params["name"])
        if wanted is None:
            return PlainTextResponse(_OVER, 404)
        try:
            file = await run_in_threadpool(self._written, wanted, stays)
        except ModelZooError as error:
            return PlainTextResponse(str(error), 404 if isinstance(error, UnknownModel) else 503)
        headers = {"Cache-Control": "no-store"}
        return FileResponse(file, media_type="application/zip", filename=f"{wanted.name}.zip", headers=headers)

    def _written(self, wanted: DownloadOffer, stays: ExitStack) -> Path:
        self._engine().tuned_folder(wanted.model)  # fetched, where models stand on a cluster
        return stays.enter_context(tuned.archive(wanted.model, partial(zipped, name=wanted.name)))
