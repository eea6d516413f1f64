"""A model on the hub: every page says what its download takes, asks, shows how far it is, and goes on by itself."""

import threading
from collections.abc import Iterator

import pytest
from checkpoints import Checkpoint
from loopback_hub import Hub
from on_screen import Open, prose
from patience import PATIENCE
from streamlit.testing.v1 import AppTest
from train_page import PAGE, TINY, begin, job, sound

from model_zoo import Engine, sources
from model_zoo.downloading import Download
from pages.train.presets import Race

pytestmark = pytest.mark.slow

ID = "someone/tiny"
TEXT = "The cat sat on the mat."
PAGES = {"pages/attention/page.py": {"model": ID}, "pages/compare/page.py": {"models": f"embedded/bert,{ID}"}}


@pytest.fixture
def engine() -> Iterator[Engine]:
    """An engine that asks, as the app's own does."""
    engine = Engine("cpu", ask_before_download=True)
    yield engine
    engine.close()


@pytest.fixture
def hub(hub: Hub, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """A hub that has the tiny BERT as someone/tiny."""
    hub.models[ID] = checkpoint("bert")
    monkeypatch.setattr(sources, "free_disk", lambda: 9_000_000_000)
    return hub


def offers(app: AppTest) -> list[str]:
    return [info.value.replace("\\", "") for info in app.info if "to download from the hub" in info.value]


def bars(app: AppTest) -> list[str]:
    return [bar.proto.text.replace("\\", "") for bar in app.get("progress")]


def test_the_app_asks() -> None:
    import web.engine
    from web import process

    process.clear_all()
    assert web.engine.engine()._asks


@pytest.mark.parametrize("page", PAGES)
def test_every_page_asks_and_goes_on_after_the_download(page: str, hub: Hub, engine: Engine, open_page: Open) -> None:
    app = open_page(page, text=TEXT, pair="It slept.", **PAGES[page])
    n_bytes = sources.find(ID).download_bytes
    assert offers(app) == [
        f"{ID} is not on this machine: {n_bytes / 1e6:.1f} MB to download from the hub (free disk: 9.0 GB). "
        "Download it, or choose another model."
    ]
    assert not any("/resolve/" in request for request in hub.requests)

    hub.held_back["model.safetensors"] = threading.Event()
    app.button(key=f"download {ID}").click().run()
    assert offers(app) == []
    assert bars(app)[0].startswith(f"Downloading {ID}: ")
    assert app.text_area(key="text").value == TEXT
    download = engine.downloading(ID)
    app.run()
    assert engine.downloading(ID) is download
    assert bars(app)[0].startswith(f"Downloading {ID}: ")
    assert [button for button in app.button if button.key == f"download {ID}"] == []

    hub.held_back["model.safetensors"].set()
    download.wait()
    app.run()
    assert (offers(app), bars(app), [error.value for error in app.error]) == ([], [], [])
    assert ID in {held.info.id for held in engine.held()}


@pytest.mark.usefixtures("hub")
def test_another_visitor_sees_the_same_download(engine: Engine, open_page: Open) -> None:
    engine._downloads._downloads[ID] = Download(ID, 438_000_000, 120_000_000)
    app = open_page("pages/attention/page.py", model=ID)
    assert bars(app) == [f"Downloading {ID}: 120 MB of 438 MB"]
    assert app.get("progress")[0].proto.value == 27
    assert offers(app) == []


def test_a_failed_download_is_said_and_can_be_tried_again(hub: Hub, engine: Engine, open_page: Open) -> None:
    hub.breaks_off = {"model.safetensors"}
    app = open_page("pages/attention/page.py", model=ID, text=TEXT)
    failed = engine.download(ID)
    failed._ended.wait()
    app.run()
    assert [error.value.replace("\\", "").split(" (")[0] for error in app.error] == [
        f"The download of {ID} was interrupted"
    ]
    assert app.button(key=f"download {ID}").label == "Try again"
    assert app.text_area(key="text").value == TEXT

    hub.breaks_off = set()
    hub.answers.clear()
    hub.held_back["model.safetensors"] = threading.Event()
    app.button(key=f"download {ID}").click().run()
    assert [error.value for error in app.error] == []
    download = engine.downloading(ID)
    hub.held_back["model.safetensors"].set()
    download.wait()
    app.run()
    assert ID in {held.info.id for held in engine.held()}


def test_the_layers_page_asks_when_it_is_to_run(hub: Hub, engine: Engine, open_page: Open) -> None:
    app = open_page("pages/layers/page.py", model=ID, tasks="tense", sentences="40")
    assert offers(app) == []
    run = next(button for button in app.button if button.label.startswith("Run"))
    run.click().run()
    app.run()
    assert len(offers(app)) == 1
    assert not any("/resolve/" in request for request in hub.requests)
    engine.download(ID).wait()
    app.run()
    assert (offers(app), [error.value for error in app.error]) == ([], [])
    assert ID in {held.info.id for held in engine.held()}  # the run began by itself
    assert any(button.label.startswith("Stop") for button in app.button) or len(app.get("plotly_chart")) > 0


TINYBERT, LSTM = "embedded/tinybert", "embedded/bilstm"
ASKS = f"{ID} is not on this machine"
RACE = TINY | {"view": "race", "racers": f"{TINYBERT},{ID}", "learns": "head"}


def nothing_raced(app: AppTest) -> bool:
    return "desk" not in app.session_state or app.session_state["desk"].current(Race) is None


@pytest.mark.usefixtures("hub")
def test_a_race_waits_for_a_download_and_then_begins_by_itself(engine: Engine, open_page: Open) -> None:
    app = begin(open_page(PAGE, **RACE), "Race")
    assert nothing_raced(app)
    assert ASKS in prose(app)
    app.button(key=f"download {ID}").click().run()
    download = engine.downloading(ID)
    if download is not None:
        download.wait()
    app.run()
    assert job(sound(app), Race).wait(PATIENCE)
    assert [outcome.base for outcome in job(app, Race).tuned] == [TINYBERT, ID]
    assert "is not on this machine" not in prose(sound(app.run()))


@pytest.mark.usefixtures("hub")
def test_a_race_that_was_asked_for_is_offered_once_and_forgotten_with_its_models(open_page: Open) -> None:
    app = begin(open_page(PAGE, **RACE | {"model": ID}), "Race")
    begin(app, "Train")
    assert prose(app).count(ASKS) == 1
    begin(app, "Race")
    assert prose(app).count(ASKS) == 1
    app = begin(open_page(PAGE, **RACE), "Race")
    app.multiselect(key="train_racers").set_value([TINYBERT, LSTM]).run()
    assert nothing_raced(app)
    assert "is not on this machine" not in prose(sound(app))
