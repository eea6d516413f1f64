"""The engine: answers the questions of pages and of other people's scripts, with one memory of models and of answers.

Importing this module imports no torch; the first model that runs does. What can be asked by name stands in ``asking``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from model_zoo import registry, sources
from model_zoo.asking import Asking
from model_zoo.downloading import Download, Downloads
from model_zoo.errors import InvalidInput, NotDownloaded
from model_zoo.memory import ModelMemory
from model_zoo.question import Comparison, Question, Streamed
from model_zoo.results import Results
from model_zoo.types import DTYPES, DType, HeldModel, ModelStatus

if TYPE_CHECKING:
    import torch

    from model_zoo.loading import LoadedModel
    from model_zoo.sources import Source

Result = TypeVar("Result")
Part = TypeVar("Part")

RESULT_BYTES = 128 * 2**20

# Stands for a result that is not remembered: None may be one.
_NOTHING = object()


class Engine(Asking):
    """Loads models, keeps them within a budget, runs them. Safe for many threads.

    ``device`` is "cuda", "mps" or "cpu" (default: the first there is). ``dtype`` is the number format that models are
    held in and run with: "float32", "bfloat16" or "float16" (default: half precision on a GPU, float32 on a CPU; a few
    networks run in float32 alone, see ``ModelInfo.dtype``). Results are float32 in any case, but no more exact than
    this. ``model_bytes`` and ``result_bytes`` bound the memory for models and for results; the default for models
    follows the machine. Equal questions are answered once, also where they are asked at the same moment.
    A model on the hub is downloaded when it is first used; with ``ask_before_download`` every call for it raises
    NotDownloaded instead, until ``download`` has fetched it. ``download_bytes`` bounds the disk for all models from the
    hub; the default is what is free.
    """

    def __init__(
        self,
        device: str | None = None,
        *,
        dtype: DType | None = None,
        model_bytes: int | None = None,
        result_bytes: int = RESULT_BYTES,
        ask_before_download: bool = False,
        download_bytes: int | None = None,
    ) -> None:
        if dtype is not None and dtype not in DTYPES:
            raise InvalidInput(f"There is no number format {dtype!r} here. Choose {', '.join(DTYPES)}.")
        self._device = device
        self._dtype = dtype
        self._asks = ask_before_download
        self._download_bytes = download_bytes
        self._downloads = Downloads(self._source)
        self._model_bytes = model_bytes
        self._started: tuple[torch.device, ModelMemory[Source, LoadedModel]] | None = None
        self._lock = threading.RLock()
        self._results = Results(result_bytes)

    @property
    def started(self) -> bool:
        """Whether torch is loaded and the device known."""
        return self._started is not None

    def _start(self) -> tuple[torch.device, ModelMemory[Source, LoadedModel]]:
        """Load torch and choose the device, once."""
        with self._lock:
            if self._started is None:
                import torch

                from model_zoo import loading

                device = torch.device(self._device) if self._device else loading.best_device()
                memory: ModelMemory[Source, LoadedModel] = ModelMemory(
                    self._model_bytes or loading.default_budget(device),
                    self._agreed_source,
                    lambda source: loading.load(source, device, self._dtype),
                )
                self._started = device, memory
            return self._started

    @property
    def device(self) -> str:
        """Where models run: "cuda", "mps" or "cpu". The first access loads torch."""
        return str(self._start()[0])

    @property
    def _memory(self) -> ModelMemory[Source, LoadedModel]:
        return self._start()[1]

    @property
    def model_budget(self) -> int:
        """Bytes the models may take together."""
        return self._memory.budget

    def _source(self, model: str) -> Source:
        """What ``model`` stands for. A download that would fit neither into memory nor on the disk is refused."""
        from model_zoo import loading

        device, memory = self._start()
        source = sources.find(model, loading.dtype_for(device, self._dtype).itemsize)
        if source.folder is None:
            memory.refuse_if_too_large(model, source.n_bytes)
            sources.refuse_without_disk(source, self._download_bytes, self._downloads.coming)
        return source

    def _agreed_source(self, model: str) -> Source:
        """What is about to be loaded; raises NotDownloaded where it is for somebody to agree to the download."""
        source = self._source(model)
        if source.folder is None and self._asks:
            raise NotDownloaded(
                f"{model} is not on this machine: {sources.megabytes(source.download_bytes)} to download from the hub "
                f"(free disk: {sources.free_disk() / 1e9:,.1f} GB). Download it, or choose another model.",
                model,
                source.download_bytes,
            )
        return source

    def download(self, model: str) -> Download:
        """Begin to fetch a model from the hub, or join a download of it under way; returns at once.

        Nothing is fetched where the model is on this machine already. What goes wrong is the download's ``error``,
        and raised by its ``wait``: what ``model_zoo.sources`` raises for models that cannot be had, OutOfMemory and
        DiskFull for those too large.
        """
        return self._downloads.start(model)

    def downloading(self, model: str) -> Download | None:
        """The download of a model that is under way, or the last one if it failed."""
        return self._downloads.of(model)

    def models(self) -> list[ModelStatus]:
        """Every known model, and whether it can be used here and now (or why not)."""
        return [_status(spec) for spec in registry.MODELS.values()]

    def ask(self, question: Question[Result]) -> Result:
        with self._memory.lease(question.model) as loaded:
            if not question.remembered:
                return question.answer(loaded)
            found: Result = self._results.of(_key(question, loaded), lambda: question.answer(loaded))
            return found

    def ask_all(self, questions: Sequence[Question[Result]]) -> list[Result]:
        found: dict[Question[Result], Result] = {}
        for group in _together(questions):
            with self._memory.lease(group[0].model) as loaded:
                keys = {question: _key(question, loaded) for question in group}
                answered = self._all_of(questions, group, keys, loaded)
                found |= {question: answered[key] for question, key in keys.items()}
        return [found[question] for question in questions]

    def _all_of(
        self,
        questions: Sequence[Question[Result]],
        group: Sequence[Question[Result]],
        keys: dict[Question[Result], Hashable],
        loaded: LoadedModel,
    ) -> dict[Hashable, Result]:
        """The answers, by key, to a group of the questions that are answered together."""
        asked = {key: question for question, key in keys.items()}

        def compute(missing: Sequence[Hashable]) -> Iterator[tuple[int, Result]]:
            return _answers(questions, [asked[key] for key in missing], loaded)

        if group[0].remembered:
            return self._results.all_of(list(asked), compute)
        every = list(asked)
        return {every[place]: answer for place, answer in compute(every)}

    def stream(self, question: Streamed[Part, Any] | Comparison[Part]) -> Generator[Part, None, None]:
        if isinstance(question, Comparison):
            yield from question.parts(self._memory.lease)
            return
        with self._memory.lease(question.model) as loaded:
            key = _key(question, loaded)
            known = self._results.get(key, _NOTHING) if question.remembered else _NOTHING
            if known is not _NOTHING:
                yield from question.again(known)
                return
            parts = []
            for part in question.parts(loaded):
                parts.append(part)
                yield part
            if question.remembered:
                self._results.keep(key, question.whole(parts))

    def stream_all(
        self, questions: Sequence[Question[Result]], *, remember: bool = True
    ) -> Generator[tuple[int, Result], None, None]:
        places: dict[Question[Result], list[int]] = {}
        for place, question in enumerate(questions):
            places.setdefault(question, []).append(place)
        for group in _together(questions):
            with self._memory.lease(group[0].model) as loaded:
                keep = remember and group[0].remembered
                missing = []
                for question in group:
                    known: Any = self._results.get(_key(question, loaded), _NOTHING) if keep else _NOTHING
                    if known is _NOTHING:
                        missing.append(question)
                    else:
                        yield from ((place, known) for place in places[question])
                for which, answer in _answers(questions, missing, loaded):
                    if keep:
                        self._results.keep(_key(missing[which], loaded), answer)
                    yield from ((place, answer) for place in places[missing[which]])

    def derived(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        """What is computed from answers, remembered as they are: within the same budget, and once however many ask.

        ``key`` says what it is and what it is computed from, models with their revisions. ``compute`` may ask further
        questions. Raises what ``compute`` does.
        """
        found: Result = self._results.of(("derived", key), compute)
        return found

    def held(self) -> list[HeldModel]:
        """The models in memory, most recently used first; empty before the first one is loaded."""
        if not self.started:
            return []
        return [HeldModel(h.model.info, h.n_bytes, h.idle_seconds, h.in_use) for h in self._memory.held()]

    def close(self) -> None:
        """Forget all results and every model that is not in use. The engine can be used again."""
        self._results.clear()
        if self.started:
            self._memory.clear()


def _key(question: Question[Any], loaded: LoadedModel) -> Hashable:
    """What an answer is remembered by: another model in the same folder has its own."""
    return question.settled(loaded), loaded.info.revision


def _together(questions: Sequence[Question[Result]]) -> list[list[Question[Result]]]:
    """The questions in groups that are answered together, each question once."""
    groups: dict[Hashable, list[Question[Result]]] = {}
    for question in dict.fromkeys(questions):
        groups.setdefault((type(question), question.model, question.together), []).append(question)
    return list(groups.values())


def _answers(
    questions: Sequence[Question[Result]], missing: Sequence[Question[Result]], loaded: LoadedModel
) -> Iterator[tuple[int, Result]]:
    """The answers to those that are missing, which are of one group; a failure that is about one of several
    ``questions`` names it.
    """
    if not missing:
        return
    try:
        yield from type(missing[0]).answer_all(loaded, missing)
    except InvalidInput as error:
        if error.which is None or len(questions) == 1:
            raise
        place = questions.index(missing[error.which])
        raise InvalidInput(f"Text {place + 1}: {error}", place) from error


def _status(spec: registry.ModelSpec) -> ModelStatus:
    if spec.hub_id is None:
        return ModelStatus(spec, True, "Lies in this app.")
    if sources.downloaded(spec.hub_id):
        return ModelStatus(spec, True, "Downloaded.")
    size = f"{spec.parameters * 4 / 1e6:,.0f} MB"
    if sources.hub_reachable():
        return ModelStatus(spec, True, f"Will be downloaded from the hub (about {size}).")
    return ModelStatus(spec, False, f"Would be downloaded ({size}), but the hub cannot be reached from here.")
