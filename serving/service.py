"""Answers over HTTP what an engine can be asked: an ASGI application, on Ray Serve or behind any server.

Every request is a POST of one message (``wire``) with the version and the token in its headers. The engine's queue and
batches do their work here as they do in one process. Nothing that is sent is run.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import os
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from model_zoo import Engine, tuned
from model_zoo.errors import InvalidInput, ModelZooError, OtherVersion
from model_zoo.machine import resident
from model_zoo.question import Comparison, Question, Streamed
from model_zoo.questions.attend import Attend
from model_zoo.tracing import question_id
from model_zoo.types import AttentionRun
from serving import wire
from serving.messages import Failed, Progress, ReadLayers, ReadNorms, ReplicaState, Reply, RunSketch
from training.finetuning.finetune import Finetune

Result = TypeVar("Result")

LARGEST_REQUEST = 64 * 2**20
"""Bytes of a message: a visitor's own data to train on are a few megabytes."""

_SECONDS_BETWEEN_LOOKS = 0.5
_MORE_THREADS = 8
_SECONDS_BETWEEN_WARNINGS = 60.0

_OTHER_TOKEN = (
    "The cluster that holds the models does not accept this app's token. Whoever runs the app should set the same "
    "engine_token on both sides."
)
_OTHER_VERSION = (
    "This app is version {}, the cluster that holds the models {}. Whoever runs the app should bring both to the same "
    "version."
)

_log = logging.getLogger(__name__)

Observe = Callable[[str, float], None]

Train = Callable[[Any], Generator[Any, None, None]]
"""Streams a fine-tuning from where it is done."""


class Service:
    """Answers with ``engine``, ``at_once`` requests at a time. ``token`` is what a request has to know.

    ``train`` streams a question that learns; by default the engine does. ``name`` tells this replica from others.
    ``observe`` is told of every request that was answered: its kind, and the seconds it took.
    """

    def __init__(
        self,
        engine: Engine,
        token: str,
        *,
        at_once: int = 64,
        train: Train | None = None,
        name: str = "",
        observe: Observe = lambda _kind, _seconds: None,
    ) -> None:
        self.engine = engine
        self._token = token.encode()
        self._train = train
        self._observe = observe
        self._n_refused, self._warned = 0, float("-inf")
        self._name = name or f"process {os.getpid()}"
        # Some more than requests: who looks whether this replica lives must not wait for them.
        self._threads = ThreadPoolExecutor(at_once + _MORE_THREADS, thread_name_prefix="answer")
        self._answers: dict[str, Callable[[Any], Any]] = {
            "ask": lambda question: self._prepare(engine.ask(_checked(question, Question))),
            "ask_all": self._ask_all,
            "read": self._read,
            "models": lambda _: engine.models(),
            "forget": self._forget,
            "close": lambda _: engine.close(),
            "look": lambda _: None,
            "has": lambda model: engine.has(str(model)),
            "revision": lambda model: engine.revision(str(model)),
        }
        self._streams: dict[str, Callable[[Any], Generator[Any, None, None]]] = {
            "stream": self._stream,
            "stream_all": self._stream_all,
            "download": self._download,
            "open": self._open,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope, receive)
            await (await self.respond(request))(scope, receive, send)

    async def respond(self, request: Request, ready: Callable[[str], Awaitable[object]] | None = None) -> Response:
        """The answer to a request. ``ready`` is awaited with the name of the model that it is about, before."""
        name = request.url.path.rstrip("/").rpartition("/")[2]
        if request.method == "GET" and name == "ready":
            return PlainTextResponse("ready")
        if not self._knows_token(request):
            return self._message(Failed(OtherVersion(_OTHER_TOKEN)), 401)
        if (theirs := request.headers.get(wire.VERSION, "")) != wire.version():
            return self._message(Failed(OtherVersion(_OTHER_VERSION.format(theirs[:40] or "unknown", wire.version()))))
        if request.method != "POST" or name not in self._answers | self._streams:
            return PlainTextResponse("There is nothing at this address.", 404)
        data = bytearray()
        async for chunk in request.stream():
            data += chunk
            if len(data) > LARGEST_REQUEST:
                return self._message(Failed(InvalidInput("This is more than the cluster reads at once. Send less.")))
        number = request.headers.get(wire.ID, "")[:64]
        question_id.set(number)
        try:
            sent = wire.unpack(bytes(data))
            if ready is not None and (model := _model_of(sent)):
                await ready(model)
            if name in self._streams:
                return StreamingResponse(self._frames(self._streams[name], sent, number), media_type=wire.MESSAGE)
            return self._message(Reply(await self.beside(partial(self._answered, name, sent)), self.state()))
        except wire.BadMessage as error:
            return PlainTextResponse(f"This is {error}.", 400)
        except Exception as error:
            return self._message(_failed(error))

    def _knows_token(self, request: Request) -> bool:
        """Where not, that is a line of the log, once a minute at most."""
        sent = request.headers.get("Authorization", "").removeprefix("Bearer ").encode("latin-1")
        if hmac.compare_digest(sent, self._token):
            return True
        self._n_refused += 1
        if time.monotonic() - self._warned >= _SECONDS_BETWEEN_WARNINGS:
            _log.warning("requests that did not know the token were refused: %s", self._n_refused)
            self._n_refused, self._warned = 0, time.monotonic()
        return False

    @staticmethod
    def _message(value: object, status: int = 200) -> Response:
        return Response(wire.pack(value), status, media_type=wire.MESSAGE)

    async def beside(self, work: Callable[[], Result]) -> Result:
        """Do work on one of the threads, in the same context."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, copy_context().run, work)

    def _answered(self, name: str, sent: Any) -> Any:
        began = time.perf_counter()
        try:
            return self._answers[name](sent)
        finally:
            self._observe(name, time.perf_counter() - began)

    def state(self) -> ReplicaState:
        """What the engine does now; loads nothing."""
        engine = self.engine
        return ReplicaState(
            name=self._name,
            device=engine.device if engine.started else None,
            engine=engine.state(),
            held=tuple(engine.held()),
            memory=resident(),
        )

    def _prepare(self, result: Any) -> Any:
        """A run stays here: what is looked at of it is asked for."""
        if not isinstance(result, AttentionRun):
            return result
        heads = tuple(layer.n_heads for layer in result.layers)
        return RunSketch(result.encoding, result.model, heads, result.stack, result.source, result.hidden_states)

    def _ask_all(self, questions: Any) -> list[Any]:
        return [
            self._prepare(answer)
            for answer in self.engine.ask_all([_checked(question, Question) for question in questions])
        ]

    def _read(self, request: Any) -> Any:
        checked = _checked(request, (ReadLayers, ReadNorms))
        run: AttentionRun = self.engine.ask(_checked(checked.attend, Attend))
        if isinstance(checked, ReadNorms):
            return run.norms_of_sum(checked.layer, checked.heads) if checked.summed else run.value_norms(checked.layer)
        layers = run.layers if checked.layer is None else (run.layers[checked.layer],)
        parts = tuple(layer.load().select_head(checked.head, values=checked.values) for layer in layers)
        return parts if checked.layer is None else parts[0]

    def _forget(self, models: Any) -> None:
        self.engine.forget_tuned([model for model in models if tuned.is_id(str(model))])

    def _stream(self, question: Any) -> Generator[Any, None, None]:
        if self._train is not None and isinstance(question, Finetune):
            return self._train(question)
        return self.engine.stream(_checked(question, (Streamed, Comparison)))

    def _stream_all(self, sent: Any) -> Generator[Any, None, None]:
        questions, remember = sent
        checked = [_checked(question, Question) for question in questions]
        with closing(self.engine.stream_all(checked, remember=remember)) as answers:
            for place, result in answers:
                yield place, self._prepare(result)

    def _download(self, model: Any) -> Generator[Any, None, None]:
        download = self.engine.download(str(model))
        while True:
            over = not download.running
            yield Progress(download.n_bytes, download.done, download.error)
            if over:
                return
            time.sleep(_SECONDS_BETWEEN_LOOKS)

    def _open(self, model: Any) -> Generator[Any, None, None]:
        """How many bytes the files of a tuned model are, and then each in pieces, with its name."""
        files = sorted(self.engine.tuned_folder(str(model)).iterdir())
        yield sum(file.stat().st_size for file in files)
        for file in files:
            with file.open("rb") as opened:
                for piece in iter(partial(opened.read, 2**20), b""):
                    yield file.name, piece

    async def _frames(
        self, stream: Callable[[Any], Generator[Any, None, None]], sent: Any, number: str
    ) -> AsyncIterator[bytes]:
        """The parts of a stream as they are done, then its end; nothing is computed before it is wanted.

        Who goes away closes the stream, as soon as the part at work is done.
        """
        question_id.set(number)
        parts: Generator[Any, None, None] | None = None
        began = time.perf_counter()

        def take() -> tuple[bytes, bool]:
            """The next frame, and whether it is the last."""
            nonlocal parts
            try:
                if parts is None:
                    parts = stream(sent)
                for part in parts:
                    return wire.framed(("part", part)), False
            except Exception as error:
                return wire.framed(("failed", _failed(error))), True
            return wire.framed(("end", Reply(None, self.state()))), True

        try:
            over = False
            while not over:
                frame, over = await self.beside(take)
                yield frame
        finally:
            if parts is not None:
                # Not awaited: whoever was to wait may be gone. A part at work ends first.
                self._threads.submit(_close, parts)
            self._observe("stream", time.perf_counter() - began)


def _close(parts: Generator[Any, None, None]) -> None:
    while True:
        try:
            parts.close()
        except ValueError:  # another thread computes its next part
            time.sleep(_SECONDS_BETWEEN_LOOKS / 10)
        else:
            return


def _failed(error: Exception) -> Failed:
    if isinstance(error, ModelZooError):
        return Failed(error)
    # An exception's own words can hold what was typed.
    kind, frames = type(error).__name__, "".join(traceback.format_tb(error.__traceback__))
    _log.error("unforeseen failure of question %s: %s\n%s", question_id.get(), kind, frames)
    return Failed(None, kind, question_id.get())


def _checked(value: Any, kind: type[Any] | tuple[type[Any], ...]) -> Any:
    if not isinstance(value, kind):
        raise wire.BadMessage(f"no question of the kind that is asked here: {type(value).__name__}")
    return value


def _model_of(sent: Any) -> str:
    """The model that a message is about, the first one of several; "" where it is about none."""
    if isinstance(sent, list | tuple) and sent:
        return _model_of(sent[0])
    if isinstance(sent, ReadLayers | ReadNorms):
        return sent.attend.model
    if isinstance(sent, Comparison):
        return next(iter(sent.models), "")
    return sent.model if isinstance(sent, Question) else ""
