"""What an engine is: what can be asked of models, and of the engine itself about what it holds and does."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from model_zoo.answer_cache import AnswerCache
from model_zoo.downloading import Download, Downloads
from model_zoo.edited import EditedEngine
from model_zoo.engine_methods import EngineMethods
from model_zoo.types import EngineState, HeldModel, ModelStatus
from model_zoo.types.recording import Edit

Result = TypeVar("Result")


class EngineInterface(EngineMethods):
    """What can be asked of models and of the engine that holds them."""

    def __init__(self, result_bytes: int, fetch: Callable[[Download], None]) -> None:
        """Answers that take ``result_bytes`` together are remembered; ``fetch`` makes a download."""
        self._results = AnswerCache(result_bytes)
        self._downloads = Downloads(fetch)

    def derived(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        """A value that is computed from answers, remembered like them: within the same budget, and computed once
        however many ask.

        ``key`` says what it is and what it is computed from, models with their revisions. ``compute`` may ask further
        questions. Raises what ``compute`` does.
        """
        return self._results.get_or_compute(("derived", key), compute)

    def edit(self, edits: Mapping[str, Edit]) -> EditedEngine:
        """The engine while activations are edited: whatever it is asked is answered with these edits, in the same
        words, and not remembered.

        ``edits`` are by the names of ``record``. Each is a function, or what is put in the place of the activations:
        numbers that can be broadcast to their shape. A function is given a torch tensor of its own, with the rows of
        the pass before the shape that ``record`` names (most questions run one row, some a row for every masked copy of
        the text), and returns one of that shape, or None if it has changed the one it was given. A run whose weights
        were edited shows those. Asking raises InvalidInput for a name without a place and for an edit that fails,
        NotSupported where a family's own code computes attention and more than its weights is to be edited, or they are
        in windows (Longformer). An edit cannot ask the engine.
        """
        return EditedEngine(self, edits)

    @abstractmethod
    def models(self) -> list[ModelStatus]:
        """Every known model, and whether it can be used here and now (or why not)."""

    @abstractmethod
    def has(self, model: str) -> bool:
        """Whether a model's files are where models run: bundled, or downloaded. Does not ask the hub."""

    @abstractmethod
    def revision(self, model: str) -> str:
        """Which weights a model's name stands for, without loading them. Raises what finding it raises."""

    def download(self, model: str) -> Download:
        """Begin to download a model from the hub, or join a download of it under way; returns at once.

        Nothing is downloaded where the model is there already. A failure is the download's ``error``, and is raised by
        its ``wait``: what ``model_zoo.sources`` raises for models that cannot be had, OutOfMemory and DiskFull for
        those too large.
        """
        return self._downloads.start(model)

    def downloading(self, model: str) -> Download | None:
        """The download of a model that is under way, or the last one if it failed."""
        return self._downloads.get(model)

    @abstractmethod
    def tuned_folder(self, model: str) -> Path:
        """The folder of a tuned model's files on this machine. Raises UnknownModel when they are gone."""

    @abstractmethod
    def forget_tuned(self, models: Iterable[str]) -> None:
        """Remove the files of tuned models, and what was kept of their training."""

    @property
    @abstractmethod
    def started(self) -> bool:
        """Whether models have been run yet: torch is loaded, and the device known."""

    @property
    @abstractmethod
    def device(self) -> str:
        """Where models run: "cuda", "mps" or "cpu"."""

    @property
    @abstractmethod
    def model_budget(self) -> int:
        """Bytes the models may take together."""

    @abstractmethod
    def held(self) -> list[HeldModel]:
        """The models in memory, most recently used first; empty before the first one is loaded."""

    def state(self) -> EngineState:
        """What it is doing now. Loads neither torch nor a model."""
        results = self._results
        return EngineState(
            **self._doing(), n_remembered=len(results), result_bytes=results.n_bytes, result_budget=results.budget
        )

    @abstractmethod
    def _doing(self) -> dict[str, Any]:
        """The fields of its state, but for those of what is remembered."""

    @abstractmethod
    def close(self) -> None:
        """Forget all results and every model that is not in use. It can be asked again."""
