"""The models stand elsewhere, and that ends and comes back: pages say so, keep what they show, and go on."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from journeys import enter
from over_http import PlainServer
from playwright.sync_api import Page, expect

from benchmarks.server import TOKEN, app
from model_zoo import Engine
from serving.service import Service

pytestmark = pytest.mark.browser

OTHER = "A new sentence is asked while nobody answers."


@pytest.fixture
def elsewhere(engine: Engine) -> Iterator[PlainServer]:
    server = PlainServer(Service(engine, TOKEN))
    yield server
    server.stop()


def test_a_page_outlives_what_holds_its_models(visit: Callable[..., Any], elsewhere: PlainServer) -> None:
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
