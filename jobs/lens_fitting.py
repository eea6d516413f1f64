"""A lens fitted to a model, and judged on other sentences: a job."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Final, TypeVar

import numpy as np

from analysis import lens_fit
from analysis.lens_fit import JudgedLens
from evidence.lens_sentences import MASKS, lens_sentences
from evidence.questions.lens import JudgeLens, ReadMasks
from jobs.job import StagedJob
from model_zoo.engine_interface import EngineInterface
from model_zoo.question import Streamed
from model_zoo.types import FittedLens, LensDistances, MaskVectors

Part = TypeVar("Part", MaskVectors, LensDistances)

_AT_ONCE: Final = 10  # sentences in a question: with four masks each, half a second of a small model


class LensFitting(StagedJob):
    """Reads the masks, fits layer by layer, judges. The ``judged_lens`` is there when all of it is done."""

    doing = "fitting a lens"
    unit = "sentence"

    def __init__(self, engine: EngineInterface, model: str, user_texts: Sequence[str] = ()) -> None:
        sentences = self.sentences = lens_sentences(user_texts)
        n = len(sentences.fitted) + len(sentences.templates) + len(sentences.judging)
        super().__init__(engine, n, "Reading masks")
        self.model, self.user_texts = model, tuple(user_texts)
        self.judged_lens: JudgedLens | None = None

    @property
    def n_ended(self) -> int:
        return self.judged_lens is not None

    def steps(self) -> Generator[None, None, None]:
        info, sentences = self._engine.info(self.model), self.sentences
        some = yield from self._ask(sentences.fitted, lambda texts: ReadMasks(self.model, texts, MASKS))
        alike = yield from self._ask(sentences.templates, lambda texts: ReadMasks(self.model, texts, 1))
        more = [replace(part, text_of=part.text_of + len(sentences.fitted)) for part in alike]
        read = MaskVectors.joined([*some, *more])
        del some, alike, more
        target, changes = read.vectors[:, -1], []
        for layer in range(read.vectors.shape[1] - 1):
            self.stage = f"Fitting layer {layer}"
            changes.append(lens_fit.fit(read.vectors[:, layer], target, read.text_of))
            yield
        average = target.mean(axis=0)
        lens = FittedLens.from_changes(info.id, info.revision, len(target), np.stack(changes), average)
        del read, target, changes
        self.stage = "Judging on other sentences"
        parts = yield from self._ask(sentences.judging, lambda texts: JudgeLens(self.model, texts, lens, MASKS))
        self.judged_lens = lens_fit.judged(lens, LensDistances.joined(parts), sentences.units)

    def _ask(
        self, texts: tuple[str, ...], ask: Callable[[tuple[str, ...]], Streamed[Part, Part]]
    ) -> Generator[None, None, list[Part]]:
        """The parts of the answers about all texts, some of them in a question, numbered through."""
        answers: list[Part] = []
        for start in range(0, len(texts), _AT_ONCE):
            some = texts[start : start + _AT_ONCE]
            parts: list[Part] = []
            yield from self._read(self._engine.stream(ask(some)), parts.append)
            answers += [replace(part, text_of=part.text_of + start) for part in parts]
            self.n_done += len(some)
        return answers
