"""The engine as a web process sees it where the models stand on a cluster: the same questions, over HTTP.

Imports no torch, no transformers and no Ray. Questions are pure, so one that meets a replica that dies is asked once
more. Answers are remembered here, too; a run of attention stays where it was made, and what is looked at is fetched.
"""

from __future__ import annotations

import logging
import threading
import time
import zlib
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import urllib3
from cachetools import LRUCache

from model_zoo import registry, tracing, tuned
from model_zoo.answer_cache import NOTHING
from model_zoo.downloading import Download
from model_zoo.edited import EditedEngine
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import Busy, ModelZooError, NotSupported, UnknownModel, Unreachable
from model_zoo.fair_queue import leaving_turns
from model_zoo.question import Comparison, Question, Streamed
from model_zoo.questions.attend import Attend
from model_zoo.types import MB, AttentionRun, FloatArray, HeldModel, MapsLayer, ModelStatus, QueryKeyLayer
from model_zoo.types.recording import Edit
from serving import wire
from serving.messages import Failed, Progress, ReadLayers, ReadNorms, ReplicaState, Reply, RunSketch

_log = logging.getLogger(__name__)

Result = TypeVar("Result")
Piece = TypeVar("Piece")

RESULT_BYTES = 32 * MB

# A model may have to be loaded, or a replica to be started, before a question is answered.
_SECONDS = 120.0
_SECONDS_TO_CONNECT = 3.0

# Between two looks at a cluster that did not answer; a replica that says nothing for so long counts as gone.
SECONDS_BETWEEN_LOOKS = 2.0
_SECONDS_A_STATE_IS_GOOD = 60.0

# Who has looked at more heads than these will look at all of them: a view of all heads asks for each.
_FEW_HEADS = 3

# So long a question that was not answered waits before it is asked once more.
_SECONDS_BEFORE_AGAIN = 0.2

_CONNECTIONS = 64

# More model runs than these waiting at every replica that has a model is a reason to have it on another one.
_FEW_WAIT = 4


class Unforeseen(RuntimeError):
    """Something went wrong inside the cluster that nobody foresaw; its log says more, under the question's id."""


@dataclass(slots=True)
class Counts:
    """What happened on the way since the start, for who watches."""

    requests: int = 0
    retries: int = 0
    unreachable: int = 0
    busy: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0


class RemoteEngine(EngineInterface):
    """Asks a cluster at ``address`` ("http://127.0.0.1:8000") that runs ``serving.app``, with its ``token``.

    What is remembered here takes at most ``result_bytes``. Safe for many threads.
    """

    def __init__(self, address: str, token: str, *, result_bytes: int = RESULT_BYTES) -> None:
        super().__init__(result_bytes, self._follow)
        self.address = address.rstrip("/")
        self._headers = {
            "Authorization": f"Bearer {token}".encode().decode("latin-1"),
            wire.VERSION: wire.version(),
            "Content-Type": wire.MESSAGE,
        }
        self._http = urllib3.PoolManager(
            maxsize=_CONNECTIONS, retries=False, timeout=urllib3.Timeout(connect=_SECONDS_TO_CONNECT, read=_SECONDS)
        )
        self._lock = threading.Lock()
        self._states: dict[str, tuple[ReplicaState, float]] = {}
        self._revisions: LRUCache[str, str] = LRUCache(1000)
        self.counts = Counts()
        self._reachable = True
        self._opening = threading.Lock()
        self._looking, self._looked = threading.Lock(), float("-inf")

    # ---- questions ----------------------------------------------------------------------------------------------

    def ask(self, question: Question[Result]) -> Result:
        def compute() -> Any:
            return self._received(question, self._post("ask", question, question.model))

        if not question.remembered:
            return compute()
        return self._remembered(question, question.model, compute)

    def _remembered(self, request: Hashable, model: str, compute: Callable[[], Any]) -> Any:
        key = self._key(request, model)
        answer = self._results.get_or_compute(key, compute)
        if (now := self._key(request, model)) != key:  # the answer told of a revision that was not known before
            self._results.keep(now, answer)
        return answer

    def ask_all(self, questions: Sequence[Question[Result]]) -> list[Result]:
        known = self._all_known(questions)
        if known is not None:
            return known
        answers = self._post("ask_all", list(questions), questions[0].model)
        results = [self._received(*both) for both in zip(questions, answers, strict=True)]
        for question, answer in zip(questions, results, strict=True):
            if question.remembered:
                self._results.keep(self._key(question, question.model), answer)
        return results

    def edit(self, edits: Mapping[str, Edit]) -> EditedEngine:  # noqa: ARG002 (none can be)
        raise NotSupported("Functions cannot be sent to where models run. Edit with an Engine of your own process.")

    def stream(self, question: Streamed[Piece, Any] | Comparison[Piece]) -> Generator[Piece, None, None]:
        model = ", ".join(question.models[:1]) if isinstance(question, Comparison) else question.model
        return self._streamed("stream", question, model)

    def stream_all(
        self, questions: Sequence[Question[Result]], *, remember: bool = True
    ) -> Generator[tuple[int, Result], None, None]:
        if remember and (known := self._all_known(questions)) is not None:
            yield from enumerate(known)
        elif questions:
            for place, answer in self._streamed("stream_all", (list(questions), remember), questions[0].model):
                result = self._received(questions[place], answer)
                if remember and questions[place].remembered:
                    self._results.keep(self._key(questions[place], questions[place].model), result)
                yield place, result

    def _all_known(self, questions: Sequence[Question[Result]]) -> list[Result] | None:
        """The answers to all of them, where all are remembered: a failure tells the place among all that were asked."""
        known: list[Any] = [self._results.get(self._key(question, question.model)) for question in questions]
        return None if any(result is NOTHING for result in known) else known

    def _key(self, request: Hashable, model: str) -> Hashable:
        """What an answer is remembered by: a model that has changed on the cluster has other answers."""
        return request, self._revisions.get(model, "")

    def _received(self, question: Question[Any], answer: Any) -> Any:
        """The answer, or the run that it sketches."""
        if not isinstance(answer, RunSketch):
            return answer
        assert isinstance(question, Attend)
        seen: set[tuple[int, int | None]] = set()
        return RemoteRun(
            encoding=answer.encoding,
            model=answer.model,
            layers=tuple(RemoteLayer(heads, self, question, layer, seen) for layer, heads in enumerate(answer.heads)),
            stack=answer.stack,
            source=answer.source,
            hidden_states=answer.states,
            attend=question,
            engine=self,
        )

    def read(self, request: ReadLayers | ReadNorms) -> Any:
        """The arrays of a run that is held on the cluster."""
        model = request.attend.model
        return self._remembered(request, model, lambda: self._post("read", request, model))

    def known(self, request: ReadLayers) -> Any:
        """What is remembered of it here; NOTHING where it would have to be fetched."""
        return self._results.get(self._key(request, request.attend.model))

    # ---- the cluster --------------------------------------------------------------------------------------------

    def models(self) -> list[ModelStatus]:
        return self._post("models", None)

    def has(self, model: str) -> bool:
        spec = registry.find(model)
        if spec is not None and spec.hub_id is None:
            return True
        return self._post("has", model)

    def revision(self, model: str) -> str:
        return self._results.get_or_compute(("revision", model), lambda: self._post("revision", model))

    def _follow(self, download: Download) -> None:
        """Note how far the cluster is with a download, until it is over."""
        for now in self._streamed("download", download.model, download.model):
            assert isinstance(now, Progress)
            download.n_bytes, download.done, download.error = now.n_bytes, now.done, now.error

    def forget_tuned(self, models: Iterable[str]) -> None:
        # In a thread: this is called when a visitor leaves, also where the cluster is gone.
        threading.Thread(target=self._forget, args=(list(models),), name="forget", daemon=True).start()

    def _forget(self, models: list[str]) -> None:
        for model in filter(tuned.is_id, models):
            tuned.forget(model)  # what was fetched
        try:
            self._post("forget", models)
        except (ModelZooError, Unforeseen):
            return

    def tuned_folder(self, model: str) -> Path:
        """Where the files of a tuned model lie, once they were fetched from the cluster."""
        with self._opening:
            try:
                return tuned.folder(model)
            except UnknownModel:
                pass
            pieces = self._streamed("open", model, model)
            first = next(pieces)  # how many bytes there are in all
            with tuned.writing(model, first) as folder:
                for name, piece in pieces:
                    with (folder / Path(name).name).open("ab") as file:
                        file.write(piece)
            return folder

    @property
    def n_replicas(self) -> int:
        """How many replicas have answered of late."""
        return len(self._recent_states())

    @property
    def reachable(self) -> bool:
        """Whether the last question was answered. Asks nobody."""
        return self._reachable

    def look(self) -> bool:
        """Whether the cluster is there. It is asked now and then, however many threads want to know."""
        with self._looking:
            if time.monotonic() - self._looked >= SECONDS_BETWEEN_LOOKS:
                try:
                    self._post("look", None)  # which is no question, and not counted as one
                except (ModelZooError, Unforeseen):
                    self._reachable = False
                self._looked = time.monotonic()
            return self._reachable

    @property
    def started(self) -> bool:
        return bool(self._states)

    @property
    def device(self) -> str:
        return ", ".join(sorted({state.device for state in self._recent_states() if state.device})) or "cluster"

    @property
    def model_budget(self) -> int:
        """Bytes that models may take together on one replica; a whole terabyte before any has answered."""
        return min((s.engine.model_budget for s in self._recent_states() if s.engine.model_budget), default=2**40)

    def _recent_states(self) -> list[ReplicaState]:
        """The replicas that have answered of late, as they were then."""
        oldest = time.monotonic() - _SECONDS_A_STATE_IS_GOOD
        with self._lock:
            return [state for state, at in self._states.values() if at >= oldest]

    def _crowded(self, model: str) -> bool:
        """Whether questions wait wherever a model is: then any replica will do, which loads it, too."""
        there = [state for state in self._recent_states() if any(held.info.id == model for held in state.held)]
        return bool(there) and min(state.engine.waiting for state in there) > _FEW_WAIT

    def held(self) -> list[HeldModel]:
        return sorted(
            (held for state in self._recent_states() for held in state.held), key=lambda held: held.idle_seconds
        )

    def _doing(self) -> dict[str, Any]:
        """What the replicas heard of did when they last answered, together."""
        engines = [state.engine for state in self._recent_states()]
        counts = ("running", "waiting", "n_answered", "n_runs", "model_bytes", "model_budget")
        totals: dict[str, Any] = {name: sum(getattr(engine, name) for engine in engines) for name in counts}
        return totals | {"moved": tuple(sorted({model for engine in engines for model in engine.moved}))}

    def close(self) -> None:
        """Forget all results, here and on one of the replicas, and there every model that is not in use."""
        self._results.clear()
        try:
            self._post("close", None)
        except (ModelZooError, Unforeseen):
            return

    # ---- the way there ------------------------------------------------------------------------------------------

    def _post(self, name: str, sent: object, model: str = "") -> Any:
        """The value of a reply."""
        with leaving_turns():
            data = self._answer(name, sent, model, buffered=True).data
        self.counts.received_bytes += len(data)
        return self._value(wire.unpack(data))

    def _streamed(self, name: str, sent: object, model: str) -> Generator[Any, None, None]:
        """The parts of a stream. Raises Unreachable, and says after how many, where it breaks off."""
        n = 0
        with leaving_turns():
            response = self._answer(name, sent, model, buffered=False)
        try:
            received = wire.frames(self._pieces(response))
            if response.headers.get("Content-Length"):  # refused before it began
                self._value(wire.unpack(response.read()))
            while True:
                try:
                    with leaving_turns():
                        frame = next(received, None)
                except (urllib3.exceptions.HTTPError, OSError, wire.BadMessage):
                    frame = None
                if frame is None:
                    self.counts.unreachable += 1
                    self._reachable = False
                    raise Unreachable(
                        f"The answer stopped after {n:,} of its parts, because the cluster that holds the models was "
                        "interrupted. What had arrived is kept. Start it again."
                    )
                kind, value = frame
                if kind == "part":
                    n += 1
                    yield value
                else:
                    self._value(value)
                    return
        finally:
            response.close()  # who stops reading ends it on the other side
            response.release_conn()

    def _pieces(self, response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
        for piece in response.stream(2**20, decode_content=False):
            self.counts.received_bytes += len(piece)
            yield piece

    def _value(self, message: Any) -> Any:
        """What was said, and who said it noted."""
        if isinstance(message, Failed):
            if message.error is not None:
                raise message.error
            raise Unforeseen(f"{message.unforeseen} on the cluster, in question {message.question}")
        assert isinstance(message, Reply)
        self._note(message.state)
        return message.value

    def _note(self, state: ReplicaState) -> None:
        with self._lock:
            self._states[state.name] = state, time.monotonic()
            for held in state.held:
                self._revisions[held.info.id] = held.info.revision
            oldest = time.monotonic() - 10 * _SECONDS_A_STATE_IS_GOOD
            for name in [name for name, (_, at) in self._states.items() if at < oldest]:
                del self._states[name]

    def _answer(self, name: str, sent: object, model: str, *, buffered: bool) -> urllib3.BaseHTTPResponse:
        """An answer of the service itself, ``buffered`` or still to be read.

        Asked twice where nobody could say that the question was answered. Raises Busy and Unreachable.
        """
        number = tracing.question_id.get() or tracing.new_id()
        body = wire.pack(sent)
        headers = {**self._headers, wire.ID: number}
        attend = sent if isinstance(sent, Attend) else getattr(sent, "attend", None)
        if attend is not None:  # what is asked of a run goes where the run is
            headers[wire.TEXT] = f"{zlib.crc32(wire.pack(attend)):x}"
        if model and not self._crowded(model):
            headers["serve_multiplexed_model_id"] = model.encode("ascii", "backslashreplace").decode()
        counts = Counts() if name == "look" else self.counts
        counts.requests += 1
        _log.info("question %s goes to the cluster: %s, %s bytes", number, name, len(body))
        counts.sent_bytes += len(body)
        busy = False
        for again in (False, True):
            if again:
                counts.retries += 1
                time.sleep(_SECONDS_BEFORE_AGAIN)
            try:
                response = self._http.request(
                    "POST", f"{self.address}/{name}", body=body, headers=headers, preload_content=buffered
                )
            except urllib3.exceptions.ReadTimeoutError:
                break  # somebody may still be at it
            except urllib3.exceptions.HTTPError:
                busy = False
                continue
            if response.headers.get("Content-Type", "") == wire.MESSAGE:
                self._reachable = True
                return response
            busy = response.status == 503  # what Ray Serve says, not the service
            response.drain_conn()
            response.release_conn()
        if busy:
            counts.busy += 1
            raise Busy(
                "The cluster that holds the models has more questions waiting than it takes in. Try again in a few "
                "seconds."
            )
        counts.unreachable += 1
        self._reachable = False
        raise Unreachable(
            "The cluster that holds the models does not answer. What you typed is kept, and the page goes on by itself "
            "when the cluster is back."
        )


@dataclass(frozen=True, slots=True)
class RemoteLayer:
    """One layer of a run on the cluster; a head is fetched when it is opened, and its matrix is computed here.

    One head costs its queries and keys: 2 n d numbers, where its matrix would be n². After a few heads, those of all
    layers are fetched at once: a request costs more than they do. ``seen`` are the heads of the run that were looked
    at, by (layer, head); a layer as a whole as (layer, None).
    """

    n_heads: int
    engine: RemoteEngine = field(repr=False, compare=False)
    attend: Attend = field(repr=False)
    layer: int
    seen: set[tuple[int, int | None]] = field(repr=False, compare=False)

    @property
    def n_bytes(self) -> int:
        """It is 0: its arrays lie on the cluster."""
        return 0

    def weights(self, head: int | slice, queries: slice = slice(None)) -> FloatArray:
        every = ReadLayers(self.attend)
        only_head = None if isinstance(head, slice) else head
        run: Any = self.engine.known(every)
        self.seen.add((self.layer, only_head))
        n_complete = sum(head is None for _, head in self.seen)
        if run is NOTHING and (len(self.seen) > _FEW_HEADS or n_complete > 1):
            run = self.engine.read(every)
        if run is not NOTHING:
            return run[self.layer].weights(head, queries)
        part: QueryKeyLayer | MapsLayer = self.engine.read(ReadLayers(self.attend, self.layer, only_head))
        return part.weights(head if only_head is None else 0, queries)

    def load(self) -> QueryKeyLayer | MapsLayer:
        return self.engine.read(ReadLayers(self.attend, self.layer, values=True))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RemoteRun(AttentionRun):
    """A run that is held on the cluster. ``attend`` is the question that made it."""

    attend: Attend
    engine: RemoteEngine = field(compare=False)

    def here(self) -> AttentionRun:
        """The same run with all its arrays, which does not need the cluster any more."""
        return AttentionRun(
            encoding=self.encoding,
            model=self.model,
            layers=self.engine.read(ReadLayers(self.attend, values=True)),
            stack=self.stack,
            source=self.source,
            hidden_states=self.hidden_states,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return self.here().__reduce__()

    def value_norms(self, layer: int) -> FloatArray:
        self._layer(layer)
        return self.engine.read(ReadNorms(self.attend, layer))

    def norms_of_sum(self, layer: int, heads: Sequence[int] | None = None) -> FloatArray:
        self._layer(layer)
        chosen = None if heads is None else tuple(heads)
        return self.engine.read(ReadNorms(self.attend, layer, summed=True, heads=chosen))
