"""What is lost for some seconds and comes back, a connection or the cluster of models, costs no work."""

import io
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from journeys import enter
from on_screen import StartVisit, wait_for
from over_http import PlainServer
from playwright.sync_api import Page, expect

from benchmarks.cutting_proxy import CuttingProxy, proxies
from benchmarks.server import TOKEN, app
from model_zoo import Engine
from serving.service import Service

CONNECTION = "document.querySelector('[data-test-connection-state]').dataset.testConnectionState"
# Some seconds, so that it is at work when the connection is lost; a minute on a machine that is busy.
LONG = "train?model=embedded/tinybert&learns=all&epochs=50&examples=150&set=sentiment"


@pytest.fixture
def network(app_url: str) -> Iterator[CuttingProxy]:
    """What lies between the browser and the app."""
    with proxies(app_url) as (proxy,):
        yield proxy


def lost_for_seconds(here: Any, page: Page, network: CuttingProxy) -> None:
    """Lose the connection until the browser has tried in vain to come back, some three seconds; then it does."""
    here.loses_its_connection = True
    network.lose()
    wait_for(page, f"{CONNECTION} !== 'CONNECTED'")
    tried = network.refused
    while network.refused < tried + 3:
        page.wait_for_event("requestfailed")
    network.find()
    wait_for(page, f"{CONNECTION} === 'CONNECTED'")
    here.wait_until_idle()


def test_a_training_goes_on_while_the_connection_is_lost_and_its_model_can_be_saved_and_opened(
    visit: StartVisit, network: CuttingProxy
) -> None:
    here = visit()
    page = here.open(f"{network.url}/{LONG}")
    page.get_by_role("button", name="Train", exact=True).click()
    stop = page.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_visible()
    # A script of Streamlit's that is on its way when the connection is lost is not asked for again: let it have all.
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_visible()
    lost_for_seconds(here, page, network)

    save = page.get_by_role("link", name="Save the model (zip)")
    expect(save).to_be_visible()
    expect(page.get_by_text("Stopped after")).to_have_count(0)
    with page.expect_download() as download:
        save.click()
    with zipfile.ZipFile(io.BytesIO(download.value.path().read_bytes())) as archive:
        assert any(name.endswith("model.safetensors") for name in archive.namelist())

    lost_for_seconds(here, page, network)
    page.get_by_role("link", name="Open on Attention").click()
    wait_for(page, "location.pathname.endsWith('/attention')")
    here.wait_until_idle()
    expect(page.get_by_text("Tiny BERT, fine-tuned: Sentiment").first).to_be_visible()
    expect(page.get_by_text("trained in another session")).to_have_count(0)


def test_a_lost_connection_is_said_at_once_and_what_was_typed_stays(visit: StartVisit, network: CuttingProxy) -> None:
    here = visit()
    page = here.open(f"{network.url}/attention")
    banner = page.locator("#lost")
    expect(banner).to_be_hidden()
    text = page.get_by_label("Text", exact=True)
    text.fill("A text that nobody has sent")
    here.loses_its_connection = True
    network.lose()
    expect(banner).to_have_text("The connection is lost. What you typed is kept, and the page goes on by itself.")
    network.find()
    expect(banner).to_be_hidden()
    here.wait_until_idle()
    expect(text).to_have_value("A text that nobody has sent")
    expect(text).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type(".")
    expect(text).to_have_value("A text that nobody has sent.")
    page.context.set_offline(True)
    expect(banner).to_be_visible()
    page.context.set_offline(False)
    expect(banner).to_be_hidden()


OTHER = "A new sentence is asked while nobody answers."


@pytest.fixture
def elsewhere(engine: Engine) -> Iterator[PlainServer]:
    server = PlainServer(Service(engine, TOKEN))
    yield server
    server.stop()


def test_a_page_outlives_what_holds_its_models(visit: StartVisit, elsewhere: PlainServer) -> None:
    environment = {"INSIDE_BERT_ENGINE": elsewhere.address, "INSIDE_BERT_ENGINE_TOKEN": TOKEN}
    with app("app.py", environment=environment) as (url, _process):
        seat = visit()
        page: Page = seat.open(f"{url}/attention?view=who")
        picture = page.locator(".js-plotly-plot").first
        expect(picture).to_be_visible()

        elsewhere.stop()
        expect(picture).to_be_visible()
        enter(page, "Text", OTHER)
        gone = page.get_by_text("The cluster that holds the models does not answer.")
        expect(gone).to_be_visible()
        expect(page.get_by_label("Text", exact=True)).to_have_value(OTHER)
        expect(picture).to_have_count(0)

        elsewhere.start()
        expect(gone).to_have_count(0)
        expect(picture).to_be_visible()
        expect(page.get_by_label("Text", exact=True)).to_have_value(OTHER)
        seat.wait_until_idle()
