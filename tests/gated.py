"""A study whose encoder waits for a permission for each text, to be watched and stopped."""

import threading
from collections.abc import Generator, Iterator, Sequence

import builders
import numpy as np
from patience import PATIENCE

from analysis.probing import TASKS, Settings
from jobs import Job
from jobs.study import Finished, Key, Study
from model_zoo.errors import OutOfMemory
from model_zoo.types import HiddenStates

INFO = builders.info()


class Gate:
    """An encoder of random vectors that waits for a permission for each text, and may fail at one."""

    def __init__(self, fails_at: str | None = None) -> None:
        self.open = threading.Event()
        self.reached = threading.Event()
        self.fails_at = fails_at
        self.order: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Iterator[tuple[int, HiddenStates]]:
        for index, text in enumerate(texts):
            self.reached.set()
            assert self.open.wait(PATIENCE)
            if self.fails_at is not None and self.fails_at in text:
                raise OutOfMemory("The model was unloaded. Choose it again.")
            states = np.random.default_rng(len(text) + index).normal(size=(3, 3, 8)).astype(np.float32)
            encoding = builders.encoding(["x"], text=text, offsets=((0, 0), (0, len(text)), (0, 0)))
            yield index, HiddenStates(encoding, states)


class Endless(Job):
    """Work without an end."""

    doing = "waiting"
    share, progress, n_ended = 0.0, "", 0

    def steps(self) -> Generator[None, None, None]:
        while True:
            yield


SETTINGS = Settings(sentences=40, bootstrap_draws=20)


def study(gate: Gate, *names: str, results: dict[Key, Finished] | None = None) -> Study:
    tasks = {Key("m", name, SETTINGS): TASKS[name] for name in names}
    titles = {name: TASKS[name].title for name in names}
    return Study(INFO, gate, gate, tasks, titles, SETTINGS, {} if results is None else results)
