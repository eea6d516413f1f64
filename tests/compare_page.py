"""The page "Compare" as its tests use it: its matrices, its sentences, the numbers it should show."""

import base64
import json
from typing import Any

import numpy as np
from on_screen import heatmaps
from streamlit.testing.v1 import AppTest

from analysis.alignment import align, map_to_common_words
from model_zoo import Engine
from pages.compare.page import PAGE as COMPARE

PAGE = COMPARE.path
VIEWS = tuple(view.name for view in COMPARE.views)
TEXT, PAIR = "The unbelievable dog barked, didn't it?", "The dog was not tired."


def matrices(app: AppTest) -> list[np.ndarray]:
    """The float matrices on screen: the heatmaps in their order (A, A − B, B, other models), then those of figures."""
    drawn: list[np.ndarray] = list(heatmaps(app))
    for chart in app.get("plotly_chart"):
        for trace in json.loads(chart.proto.spec)["data"]:
            z = trace.get("z")
            if trace["type"] == "heatmap" and isinstance(z, dict):
                shape = [int(size) for size in z["shape"].split(",")]
                drawn.append(np.frombuffer(base64.b64decode(z["bdata"]), dtype=z["dtype"]).reshape(shape))
    return drawn


def toggles(app: AppTest) -> list[Any]:
    """Those of the view."""
    return [toggle for toggle in app.toggle if toggle.key != "present"]


def clean(app: AppTest) -> None:
    assert not app.exception
    assert not app.error
    assert not app.warning


def on_words(engine: Engine, models: tuple[str, ...], heads: tuple[tuple[int, int], ...], *texts: str) -> list[Any]:
    """Each model's head on the words that all of them see whole."""
    runs = [engine.attend(model, *texts) for model in models]
    alignment = align([run.encoding for run in runs])
    return [
        map_to_common_words(run.head(*head), units, run.encoding.special)
        for run, units, head in zip(runs, alignment.units, heads, strict=True)
    ]
