"""An index of the vectors that a layer gives to the tokens of a corpus: a job. Also the folder of such indices."""

from __future__ import annotations

import errno
import secrets
from collections.abc import Generator
from contextlib import closing, suppress
from itertools import islice
from typing import Final

from analysis.corpus.nearest import Index
from analysis.corpus.sentences import Corpus
from jobs.job import StagedJob
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import ModelZooError
from model_zoo.process_folder import ProcessFolder
from model_zoo.questions.encode_states import EncodeStates
from model_zoo.tuned import room_left
from model_zoo.types import HiddenStates, counted

FOLDER: Final = ProcessFolder("inside-bert-index-")
_AT_ONCE: Final = 128  # sentences between two looks at the disk
_STEP: Final = 16  # sentences between two chances to stop


class Indexing(StagedJob):
    """Reads the sentences of a corpus in their order until the index is full; what was read stays when it is stopped.

    ``layer`` counts from 0, after the embeddings. The index is removed when its visitor has left or begins another.
    """

    doing = "indexing a corpus"
    unit = "sentence"

    def __init__(self, engine: EngineInterface, model: str, corpus: Corpus, layer: int) -> None:
        super().__init__(engine, len(corpus), "Reading")
        self.model, self.corpus, self.layer = model, corpus, layer
        self.index: Index | None = None

    @property
    def n_sentences(self) -> int:
        """How many are in the index."""
        return 0 if self.index is None else self.index.n_sentences

    @property
    def share(self) -> float:
        return 0.0 if self.index is None else max(super().share, len(self.index) / self.index.most)

    def steps(self) -> Generator[None, None, None]:
        FOLDER.sweep()  # of processes that were killed
        try:
            for start in range(0, len(self.corpus), _AT_ONCE):
                if room_left(FOLDER.made()) <= 0:
                    raise self._full()
                yield from self._add(range(start, min(start + _AT_ONCE, len(self.corpus))))
                if self.index is not None and self.index.full:
                    return
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise self._full() from error
            raise

    def _full(self) -> ModelZooError:
        total = counted(len(self.corpus), "sentence")
        held = f"{self.n_sentences:,} of {total} did" if self.n_sentences else "nothing did"
        return ModelZooError(
            f"The index of this layer does not fit on the disk; {held}. Free some space, then try again."
        )

    def _add(self, numbers: range) -> Generator[None, None, None]:
        """Read some sentences, shorter ones first."""
        questions = [EncodeStates(self.model, self.corpus.texts[number], layers=(self.layer,)) for number in numbers]
        stream = self._engine.stream_all(questions, remember=False)

        def note(some: list[tuple[int, HiddenStates]]) -> None:
            for place, encoded in some:
                if self.index is None:
                    file = FOLDER.made() / f"{secrets.token_hex(8)}.f16"
                    self.index = Index(file, encoded.states.shape[-1])
                if not self.index.full:
                    self.index.add(self.corpus.sentence(numbers[place]), encoded.encoding, encoded.states[0])
            self.n_done = self.n_sentences

        def batches() -> Generator[list[tuple[int, HiddenStates]], None, None]:
            with closing(stream):
                while some := list(islice(stream, _STEP)):
                    yield some

        yield from self._read(batches(), note)

    def forget(self) -> None:
        if self.index is not None:
            with suppress(OSError):
                self.index.remove()
