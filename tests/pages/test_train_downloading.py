"""A race with a model that is on the hub: the page asks, and begins by itself after the download."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from loopback_hub import Hub
from on_screen import prose
from patience import PATIENCE
from streamlit.testing.v1 import AppTest
from train_page import PAGE, TINY, begin, job, sound

from model_zoo import Engine
from pages.train.presets import Race

pytestmark = pytest.mark.slow

Open = Callable[..., AppTest]

TINYBERT, LSTM, HUB = "embedded/tinybert", "embedded/bilstm", "someone/tiny"
ASKS = f"{HUB} is not on this machine"
RACE = TINY | {"view": "race", "racers": f"{TINYBERT},{HUB}", "learns": "head"}


@pytest.fixture
def engine() -> Iterator[Engine]:
    """An engine that asks, as the app's own does."""
    engine = Engine("cpu", ask_before_download=True)
    yield engine
    engine.close()


@pytest.fixture(autouse=True)
def hub(hub: Hub, checkpoint: Callable[[str], Path]) -> Hub:
    """A hub that has the tiny BERT."""
    hub.models[HUB] = checkpoint("bert")
    return hub


def nothing_raced(app: AppTest) -> bool:
    return "desk" not in app.session_state or app.session_state["desk"].current(Race) is None


def test_a_race_waits_for_a_download_and_then_begins_by_itself(engine: Engine, open_page: Open) -> None:
    app = begin(open_page(PAGE, **RACE), "Race")
    assert nothing_raced(app)
    assert ASKS in prose(app)
    app.button(key=f"download {HUB}").click().run()
    download = engine.downloading(HUB)
    if download is not None:
        download.wait()
    app.run()
    assert job(sound(app), Race).wait(PATIENCE)
    assert [outcome.base for outcome in job(app, Race).tuned] == [TINYBERT, HUB]
    assert "is not on this machine" not in prose(sound(app.run()))


def test_a_race_that_was_asked_for_is_offered_once_and_forgotten_with_its_models(open_page: Open) -> None:
    app = begin(open_page(PAGE, **RACE | {"model": HUB}), "Race")
    begin(app, "Train")
    assert prose(app).count(ASKS) == 1
    begin(app, "Race")
    assert prose(app).count(ASKS) == 1

    app = begin(open_page(PAGE, **RACE), "Race")
    app.multiselect(key="train_racers").set_value([TINYBERT, LSTM]).run()
    assert nothing_raced(app)
    assert "is not on this machine" not in prose(sound(app))
