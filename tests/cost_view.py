"""The view "Cost" as its tests use it: measure, wait, look."""

import json
from collections.abc import Callable
from typing import Any

from on_screen import button
from patience import PATIENCE
from streamlit.testing.v1 import AppTest

from jobs import Desk
from jobs.measurement import Measurement

PAGE = "pages/compare/page.py"


Called = Callable[[str], str]


def measurement(app: AppTest) -> Measurement:
    desk: Desk = app.session_state["desk"]
    running = desk.current(Measurement)
    assert running is not None
    return running


def measured(app: AppTest) -> AppTest:
    """Press the button, wait for the end, look again."""
    button(app, "Measure").click().run()
    assert measurement(app).wait(PATIENCE)
    return app.run()


def lines(app: AppTest) -> dict[str, dict[str, Any]]:
    spec = json.loads(app.get("plotly_chart")[-1].proto.spec)
    return {trace["name"]: trace for trace in spec["data"]}


def table(app: AppTest) -> dict[str, dict[str, str]]:
    """What is written in the table: by the name of a model, by the row."""
    columns: dict[str, dict[str, str]] = app.table[-1].value.to_dict()
    return columns


NOTHING = "–"
TIMES = ("time, ms", "tokens/s", "words/s", "× per doubling")
