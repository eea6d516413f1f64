"""Fixtures of all rooms: tiny checkpoints on disk, a small hub, engines; and the option ``--hub``."""

import functools
import gc
import os

if "PYTEST_XDIST_WORKER" in os.environ:
    # Read when torch and numpy are imported: threads that wait for each other on busy cores take many times as long.
    os.environ["OMP_NUM_THREADS"] = "1"

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import checkpoints
import hypothesis
import pytest
import torch
from forked import PROCESSES
from loopback_hub import Hub, point_to, running_hub
from published import LAYOUTS, Publication, write
from streamlit import config
from streamlit.components.v2 import manifest_scanner
from transformers import AutoTokenizer
from walks.visitor import Address, Visitor
from walks.walk import STEPS
from xdist.scheduler import LoadScopeScheduling

import model_zoo
from model_zoo import Engine, confined, pickles, registry
from model_zoo.families.bilstm import BiLSTMConfig, BiLSTMForMaskedLM
from model_zoo.types import ModelSpec
from web import process
from web.background import VISITS

# What is generated has no limit of time: a slow machine is no failure.
hypothesis.settings.register_profile("no clock", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("no clock")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--hub",
        action="store_true",
        help="also download every published checkpoint of the registry (14 GB) and test it as the tiny ones are tested",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """``subject`` is every model there is to test, as its registry entry; those on the hub only with ``--hub``."""
    if "subject" in metafunc.fixturenames:
        on_the_hub = metafunc.config.getoption("hub")
        models = [model for model in registry.MODELS.values() if on_the_hub or model.hub_id is None]
        tiny = [pytest.param(name, id=f"tiny-{name}") for name in checkpoints.FAMILIES]
        through_a_hub = pytest.param("someone/tiny", id="through-a-hub")
        metafunc.parametrize(
            "subject", [*tiny, through_a_hub, *(pytest.param(m, id=m.id) for m in models)], indirect=True
        )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """Garbage is looked for in what tests make, not in libraries and collected tests, and less often than usual."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()
    return collected


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Quick are all tests but those that say that they are slow, that drive a browser (by the fixture), and that ask a
    cluster.
    """
    for item in items:
        fixtures = {*getattr(item, "fixturenames", ())}
        if "browser" in fixtures:
            item.add_marker("browser")
        asks_a_cluster = {"cluster", "clustered"} & fixtures or "clustered" in item.nodeid
        if not asks_a_cluster and not any(item.get_closest_marker(name) for name in ("slow", "browser", "gpu")):
            item.add_marker("quick")
    if "PYTEST_XDIST_WORKER" in os.environ:  # they are handed out in this order, and what takes longest comes first
        slow = {process_of(item.nodeid) for item in items if item.get_closest_marker("slow")}
        first = {"browser 0": 0, "browser 1": 0, "cluster": 1}
        items.sort(key=lambda item: (first.get(scope := process_of(item.nodeid), 2), scope not in slow))


def process_of(nodeid: str) -> str:
    """A name for all tests that run in the same process as this one."""
    if nodeid.startswith("tests/browser/"):
        return f"browser {crc32(nodeid.partition('::')[0].encode()) % 2}"
    return "cluster" if nodeid.startswith("tests/serving/") and "cluster" in nodeid else nodeid.partition("::")[0]


class OneOfEach(LoadScopeScheduling):
    """With ``-n`` the browser tests go to two processes, each with a browser and a server of its own; all that ask a
    cluster go to one, because there is one cluster. Of the others a file goes to one process, so that what its tests
    share is made once. (xdist's own groups have no effect with pytest 9.2, which keeps names of tests elsewhere.)
    """

    def _split_scope(self, nodeid: str) -> str:
        return process_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneOfEach:
    return OneOfEach(config, log)


@pytest.fixture
def subject(request: pytest.FixtureRequest, checkpoint: Callable[[str], Path]) -> ModelSpec:
    """A model to test; "someone/tiny" is the tiny BERT, which a small hub gives out as the real one would."""
    if isinstance(request.param, ModelSpec):
        return request.param
    if request.param == "someone/tiny":
        hub: Hub = request.getfixturevalue("hub")
        hub.models["someone/tiny"] = checkpoint("bert")
        return checkpoints.spec("bert", "someone/tiny")
    return checkpoints.spec(request.param, str(checkpoint(request.param)))


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``checkpoint("bert")`` is the folder of that family's tiny checkpoint, built once a session."""
    built: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in built:
            built[name] = checkpoints.build(name, tmp_path_factory.mktemp(name))
        return built[name]

    return folder


@pytest.fixture(scope="session")
def bert(checkpoint: Callable[[str], Path]) -> str:
    return str(checkpoint("bert"))


@pytest.fixture(scope="session")
def publication(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Publication]:
    """``publication(hub_id)`` is a model of ``published.LAYOUTS``, written once a session."""
    written: dict[str, Publication] = {}

    def find(hub_id: str) -> Publication:
        if hub_id not in written:
            written[hub_id] = write(LAYOUTS[hub_id], tmp_path_factory.mktemp("published"))
        return written[hub_id]

    return find


@pytest.fixture(scope="session")
def bilstm(checkpoint: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny model without attention, with the tokenizer of the tiny BERT."""
    folder = tmp_path_factory.mktemp("bilstm")
    tokenizer = AutoTokenizer.from_pretrained(checkpoint("bert"))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = BiLSTMForMaskedLM(BiLSTMConfig(vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=2))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """One engine on the CPU for the whole session, as the app has it."""
    engine = Engine("cpu")
    yield engine
    engine.close()


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub that huggingface_hub talks to, with an empty cache of downloads."""
    with running_hub() as hub:
        point_to(hub.url, tmp_path / "hub", monkeypatch)
        yield hub


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Confined processes start quickly."""
    monkeypatch.setattr(confined, "subprocess", PROCESSES)


@pytest.fixture
def converted_once(forked: None, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    """What one test has had converted, others find, in all processes of the session."""
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "converted"
    monkeypatch.setattr(pickles, "root", lambda: root)


@pytest.fixture
def no_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens where the hub should be."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    point_to(f"http://127.0.0.1:{port}", tmp_path / "hub", monkeypatch)


@pytest.fixture(scope="session", autouse=True)
def packages_are_looked_through_once() -> Iterator[None]:
    """Each AppTest looks for components in every installed package: several times as long as the run of a page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            manifest_scanner, "scan_component_manifests", functools.cache(manifest_scanner.scan_component_manifests)
        )
        yield


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Sums in another order are other sums; and threads that wait for each other take many times as long as one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def quick_runs(one_thread: None) -> Iterator[None]:  # noqa: ARG001
    """Streamlit collects garbage after every run, a quarter of a second with all that tests hold in memory."""
    collect = config.get_option("runner.postScriptGC")
    config.set_option("runner.postScriptGC", False)
    yield
    config.set_option("runner.postScriptGC", collect)


@pytest.fixture
def just_started(engine: Engine, quick_runs: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    """The app as if its server had just been started, but for the session's engine: to read its models and compute its
    answers anew takes longer than a page's run.
    """
    process.clear_all()
    VISITS.close()
    monkeypatch.setattr(model_zoo, "Engine", lambda **_settings: engine)


@pytest.fixture
def app(just_started: None, no_hub: None) -> None:
    """The app as visitors without a browser meet it: they share the session's engine, and there is no hub."""


@pytest.fixture
def visitor(app: None) -> Callable[..., Visitor]:  # noqa: ARG001
    """``visitor("pages/attention/page.py", view="lines")`` is a visitor who has opened that address."""

    def open_(page: str, **query: str) -> Visitor:
        newcomer = Visitor(STEPS)
        newcomer.open(Address(page, tuple(query.items())))
        return newcomer

    return open_
