"""The engine on Ray Serve: ``serve run look_inside_bert.serving.app:app``, or ``python -m serving`` for one machine.

One deployment answers questions. A question goes to a replica that has its model; each has the default model. Replicas
come and go with the requests that wait. Fine-tuning has an actor of its own (``tuning``).
"""

# Annotations have to be types here and not words: Serve reads from them what the arguments of ``app`` are.
import asyncio
import logging
import os
import tempfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

# Read where Ray is started, which may be after this file was imported. Nothing is sent home.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

from pydantic import ConfigDict, Field, model_validator
from ray import cloudpickle, serve
from ray.serve import metrics
from ray.serve.config import RequestRouterConfig
from starlette.requests import Request
from starlette.responses import Response

import look_inside_bert
from model_zoo import DEFAULT_MODEL, Engine, tuned
from model_zoo.engine_settings import EngineSettings
from serving import routing
from serving.service import Service
from serving.tuning import trained_by_an_actor

# Serve's proxies route, too, and have none of our files.
cloudpickle.register_pickle_by_value(routing)

ROOT = Path(look_inside_bert.__file__).parents[1]

TOKEN = "INSIDE_BERT_ENGINE_TOKEN"

_log = logging.getLogger("ray.serve")

_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)


# Defaults of a replica's engine that differ from those of an engine in a web process.
_OF_A_REPLICA = {"any_model": False, "result_memory_mb": 128, "pickles": "listed", "runs": 2, "threads": 1}


class Arguments(EngineSettings):
    """What the application can be told: ``serve run look_inside_bert.serving.app:app max_replicas=2``, or ``args`` of a
    config file. The engine's settings are those of each replica.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_replicas: int = Field(default=1, ge=1, le=1_000, description="Replicas that are always there.")
    max_replicas: int = Field(default=1, ge=1, le=1_000, description="Replicas at most.")
    cpus: float = Field(default=1, ge=0.01, le=1_000, description="Processors a replica counts for.")
    gpus: float = Field(default=0, ge=0, le=100, description="GPUs a replica has; 0.25 lets four share one.")
    busy: float = Field(
        default=8, ge=0.01, le=1_000, description="Requests at a replica, with those that wait, to add another at."
    )
    at_once: int = Field(
        default=64, ge=1, le=1_000, description="Requests that a replica takes in; more wait before it."
    )
    queue: int = Field(
        default=200, ge=1, le=100_000, description="Requests that wait before replicas; more are refused."
    )
    tuned_folder: str = Field(
        default="", description="Where tuned models lie; of several machines a folder that all of them share."
    )
    training_cpus: float = Field(default=1, ge=0.01, le=1_000, description="Processors a fine-tuning counts for.")
    training_gpus: float = Field(default=0, ge=0, le=100, description="GPUs a fine-tuning has.")

    @model_validator(mode="before")
    @classmethod
    def _fill_defaults(cls, settings: dict[str, Any]) -> dict[str, Any]:
        return _OF_A_REPLICA | settings

    @property
    def folder(self) -> Path:
        """Where tuned models lie."""
        return Path(self.tuned_folder or Path(tempfile.gettempdir(), f"look-inside-bert-cluster-{os.getuid()}"))


@serve.deployment(name="models", logging_config={"enable_access_log": False})
class Models:
    """A replica: an engine of its own behind ``Service``."""

    def __init__(self, arguments: Arguments) -> None:
        token = os.environ.get(TOKEN, "").strip()  # as the app's settings do
        if not token:
            raise RuntimeError(f"{TOKEN} is not set where replicas run. Set it to the same secret as for the app.")
        for room in ("model_zoo", "serving"):
            logging.getLogger(f"look_inside_bert.{room}").handlers = _log.handlers
        logging.getLogger("look_inside_bert.model_zoo").setLevel(logging.INFO)
        tuned.share(arguments.folder)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._engine = Engine(**arguments.arguments(), on_change=self._models_changed, ask_before_download=True)
        self._seconds = metrics.Histogram(
            "inside_bert_answer_seconds", "Time of an answer in its replica.", boundaries=_SECONDS, tag_keys=("kind",)
        )
        self._bytes = metrics.Gauge("inside_bert_models_bytes", "Memory of the models of a replica.")
        self._waiting = metrics.Gauge("inside_bert_runs_waiting", "Runs that wait for their turn in a replica.")
        self._service = Service(
            self._engine,
            token,
            at_once=arguments.at_once,
            train=trained_by_an_actor(arguments.folder, arguments.training_cpus, arguments.training_gpus),
            name=serve.get_replica_context().replica_id.unique_id,
            observe=self._observe,
        )
        self._engine.info(DEFAULT_MODEL)

    def _observe(self, kind: str, seconds: float) -> None:
        self._seconds.observe(seconds, tags={"kind": kind})
        state = self._engine.state()
        self._bytes.set(state.model_bytes)
        self._waiting.set(state.waiting)

    @serve.multiplexed(max_num_models_per_replica=-1)
    async def registered(self, model: str) -> str:
        """Tell Serve that a model is here, so that questions for it come here. Our own memory bounds them, in bytes."""
        return model

    def _models_changed(self) -> None:
        """Called by the engine, on any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._let_go)

    def _let_go(self) -> None:
        """Have Serve forget the models that have left the memory: its list counts models, and knows no bytes.

        There is no public way to take one out of it.
        """
        wrapper: Any = getattr(self, "__serve_multiplex_wrapper", None)
        registered: OrderedDict[str, Any] = OrderedDict() if wrapper is None else wrapper.models
        here = {held.info.id for held in self._engine.held()}
        for model in [model for model in registered if model not in here]:
            del registered[model]
            wrapper._push_multiplexed_replica_info = True

    async def _ready(self, model: str) -> None:
        """Loads a model before a question to it, and registers it. Raises what loading it raises."""
        await self._service.beside(lambda: self._engine.info(model))
        await self.registered(model)

    async def check_health(self) -> None:
        """Asked by Serve now and then: that this is reached says enough. The first time is before the first question,
        and the default model, which was loaded for it, is registered; later it would push others out of the memory.
        """
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            await self._ready(DEFAULT_MODEL)

    async def __call__(self, request: Request) -> Response:
        return await self._service.respond(request, self._ready)


def app(arguments: Arguments) -> serve.Application:
    """The application, as ``serve run`` and config files build it."""
    environment = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": str(arguments.threads)}
    deployment = Models.options(  # type: ignore[attr-defined]
        max_ongoing_requests=arguments.at_once,
        max_queued_requests=arguments.queue,
        autoscaling_config={
            "min_replicas": arguments.min_replicas,
            "max_replicas": max(arguments.min_replicas, arguments.max_replicas),
            "target_ongoing_requests": arguments.busy,
            "upscale_delay_s": 5,
            "downscale_delay_s": 300,
        },
        ray_actor_options={
            "num_cpus": arguments.cpus,
            "num_gpus": arguments.gpus,
            "runtime_env": {"env_vars": environment},
        },
        # A stream may take minutes; a replica that leaves ends what it has begun.
        graceful_shutdown_timeout_s=120,
        graceful_shutdown_wait_loop_s=0.5,
        health_check_period_s=5,
        request_router_config=RequestRouterConfig(request_router_class=routing.ByModelAndText),
    )
    return deployment.bind(arguments)
