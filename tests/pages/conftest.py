"""``open_page("pages/attention/page.py", layer="3")`` runs the whole app and goes to one page, without a browser; two
models to compare, and passes that take no time to be timed.
"""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.util import calc_hash

from jobs import Job
from model_zoo import Engine, timing
from pages import PAGES
from training import evaluation_sets
from training.evaluation_sets import written_set

ROOT = Path(__file__).parents[2]


class Opened(AppTest):
    """The app as a visitor has it open: a run that ends in an exception fails the test at once."""

    def _run(self, *args: Any, **kwargs: Any) -> AppTest:
        super()._run(*args, **kwargs)
        assert not self.exception
        return self


@pytest.fixture
def open_page(just_started: None) -> Callable[..., AppTest]:  # noqa: ARG001
    """All pages share the session's engine, as all visitors of the app do."""

    def start(path: str, **query: str) -> AppTest:
        app = Opened(ROOT / "app.py", default_timeout=PATIENCE)
        if path != PAGES[0].path:  # which has no name in the address
            app._page_hash = calc_hash(Path(path).parent.name)  # AppTest finds pages by their names only after a run
        for name, value in query.items():
            app.query_params[name] = value
        return app.run()

    return start


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> MemoryUploadedFileManager:
    """One manager of uploads for all runs, as a server has it; AppTest makes one for every run."""
    manager = MemoryUploadedFileManager("/mock/upload")
    monkeypatch.setattr(local_script_runner, "MemoryUploadedFileManager", lambda _endpoint: manager)
    return manager


@pytest.fixture
def two(checkpoint: Callable[[str], Path]) -> tuple[str, str]:
    """Two tiny models with tokenizers of different kinds: WordPiece and byte-level BPE."""
    return str(checkpoint("bert")), str(checkpoint("roberta"))


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Job]]:
    """The jobs that are started; none is at work by itself."""
    started: list[Job] = []
    monkeypatch.setattr("web.background.Desk.start", lambda _, job: started.append(job))
    monkeypatch.setattr(
        "web.background.Desk.current", lambda _, kind: next((job for job in started[::-1] if type(job) is kind), None)
    )
    yield started
    for job in started:
        job.forget()


@pytest.fixture
def no_answers(engine: Engine) -> Iterator[None]:
    """What the session's engine has answered other tests it computes again, and what it answers here it forgets: for
    who counts what is computed, or has it computed otherwise.
    """
    engine._results.clear()
    yield
    engine._results.clear()


@pytest.fixture
def quick_timing(no_answers: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    """A few held-out sentences, and passes that take as long as they are long: the page is what is tested."""
    few = written_set().sample(6)
    monkeypatch.setattr(evaluation_sets, "written_set", lambda: few)
    ticks = itertools.cycle([0.8, 1.0, 1.2])
    monkeypatch.setattr(timing, "_timed", lambda one_pass: (next(ticks) * one_pass.n_tokens / 1e4, None))


@pytest.fixture
def open_cost(open_page: Callable[..., AppTest], checkpoint: Callable[[str], Path]) -> Callable[..., AppTest]:
    def start(*names: str, **query: str) -> AppTest:
        models = ",".join(str(checkpoint(name)) for name in names)
        return open_page("pages/compare/page.py", models=models, view="cost", **query)

    return start


@pytest.fixture
def called(checkpoint: Callable[[str], Path]) -> Callable[[str], str]:
    """What the page calls a checkpoint: its folder."""
    return lambda name: checkpoint(name).name
