"""The page "Train" as its tests use it: train and wait, choose a view, read what is drawn and said."""

import base64
import json
from typing import Any, TypeVar

import numpy as np
from on_screen import button
from patience import PATIENCE
from streamlit.testing.v1 import AppTest

from jobs import Desk
from jobs.tuning import Training, Tuning
from training.finetuning.results import Tuned

PAGE = "pages/train/page.py"
TINY = {"model": "embedded/tinybert", "epochs": "1", "examples": "40"}
"""Half a second of training."""

Kind = TypeVar("Kind", bound=Tuning)


def job(app: AppTest, kind: type[Kind]) -> Kind:
    """The last one of its kind."""
    desk: Desk = app.session_state["desk"]
    current = desk.current(kind)
    assert current is not None
    return current


def begin(app: AppTest, label: str = "Train") -> AppTest:
    """Press a button that begins with these words. Nothing may have gone wrong."""
    button(app, label).click().run()
    return sound(app)


def train(app: AppTest, kind: type[Tuning] = Training, label: str = "Train") -> AppTest:
    """Press the button, wait for the end, look again."""
    begin(app, label)
    assert job(app, kind).wait(PATIENCE)
    return sound(app.run())


def tuned(app: AppTest) -> Tuned:
    """What the last training came to, of its first seed."""
    return job(app, Training).tuned[0]


def sound(app: AppTest) -> AppTest:
    assert not app.exception
    assert not app.error
    return app


def look(app: AppTest, view: str) -> AppTest:
    """The same page in another view."""
    return sound(app.button_group(key="train_view").set_value(view).run())


def charts(app: AppTest) -> dict[str, dict[str, Any]]:
    """Plotly's figures by the keys of their elements."""
    return {chart.key: json.loads(chart.proto.spec) for chart in app.get("plotly_chart")}


def chart(app: AppTest) -> dict[str, Any]:
    """The only one of Plotly's figures."""
    (figure,) = charts(app).values()
    return figure


def lines(app: AppTest) -> list[dict[str, Any]]:
    """Sentences that are drawn word by word."""
    (element,) = app.get("bidi_component")
    payload: list[dict[str, Any]] = json.loads(element.proto.json)["lines"]
    return payload


def numbers(values: Any) -> np.ndarray:
    """What Plotly was given, be it a list or packed."""
    if isinstance(values, dict):
        decoded = np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
        return (
            decoded.reshape([int(size) for size in str(values["shape"]).split(",")]) if "shape" in values else decoded
        )
    return np.array(values, dtype=float)
