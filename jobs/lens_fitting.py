"""A lens fitted to a model, and judged on other sentences: a job."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Final, TypeVar

import numpy as np

from analysis import lens_fit
from analysis.lens_fit import JudgedLens
from evidence.lens_sentences import MASKS, lens_sentences
from evidence.questions.judge_lens import JudgeLens
from evidence.questions.read_masks import ReadMasks
from jobs.job import Job, time_left
from model_zoo.engine_interface import EngineInterface
from model_zoo.question import Streamed
from model_zoo.types import FittedLens, LensDistances, MaskVectors, counted

Part = TypeVar("Part", MaskVectors, LensDistances)

_AT_ONCE: Final = 10  # sentences in a question: with four masks each, half a second of a small model


class LensFitting(Job):
    """Reads the masks, fits layer by layer, judges. What it has ``found`` is there when all of it is done."""

    doing = "fitting a lens"

    def __init__(self, engine: EngineInterface, model: str, own: Sequence[str] = ()) -> None:
        super().__init__()
        self.model, self.own = model, tuple(own)
        self.sentences = lens_sentences(own)
        self.found: JudgedLens | None = None
        self._engine = engine
        self._doing = "Reading masks"
        self._n_done = 0
        self._began: float | None = None

    @property
    def _n_all(self) -> int:
        return len(self.sentences.fitted) + len(self.sentences.templates) + len(self.sentences.judging)

    @property
    def share(self) -> float:
        return self._n_done / self._n_all

    @property
    def progress(self) -> str:
        passed = 0.0 if self._began is None else time.monotonic() - self._began
        of = f"{self._n_done:,} of {counted(self._n_all, 'sentence')}"
        return f"{self._doing}: {of}{time_left(passed, self.share)}."

    @property
    def n_ended(self) -> int:
        return self.found is not None

    def steps(self) -> Generator[None, None, None]:
        self._began = time.monotonic()
        info, sentences = self._engine.info(self.model), self.sentences
        some = yield from self._asked(sentences.fitted, lambda texts: ReadMasks(self.model, texts, MASKS))
        alike = yield from self._asked(sentences.templates, lambda texts: ReadMasks(self.model, texts, 1))
        more = [replace(part, text_of=part.text_of + len(sentences.fitted)) for part in alike]
        read = MaskVectors.joined([*some, *more])
        del some, alike, more
        target, changes = read.vectors[:, -1], []
        for layer in range(read.vectors.shape[1] - 1):
            self._doing = f"Fitting layer {layer}"
            changes.append(lens_fit.fit(read.vectors[:, layer], target, read.text_of))
            yield
        average = target.mean(axis=0)
        lens = FittedLens.from_changes(info.id, info.revision, len(target), np.stack(changes), average)
        del read, target, changes
        self._doing = "Judging on other sentences"
        parts = yield from self._asked(sentences.judging, lambda texts: JudgeLens(self.model, texts, lens, MASKS))
        self.found = lens_fit.judged(lens, LensDistances.joined(parts), sentences.units)

    def _asked(
        self, texts: tuple[str, ...], ask: Callable[[tuple[str, ...]], Streamed[Part, Part]]
    ) -> Generator[None, None, list[Part]]:
        """The parts of the answers about all texts, some of them in a question, numbered through."""
        found: list[Part] = []
        for start in range(0, len(texts), _AT_ONCE):
            some = texts[start : start + _AT_ONCE]
            with closing(self._engine.stream(ask(some))) as parts:
                for part in parts:
                    found.append(replace(part, text_of=part.text_of + start))
                    yield
            self._n_done += len(some)
        return found
