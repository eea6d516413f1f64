"""Showing Plotly figures alike on every page: the app's own colours, and the browser's own image export."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import plotly.graph_objects as go
import streamlit as st

from ui.appearance import IMAGE, is_dark, scale
from ui.component import component
from viz import heatmap
from viz.component import pack
from viz.layout import base_layout, enlarge
from web.engine import engine


def config(name: str, *, clicked: bool = False) -> dict[str, object]:
    """Plotly's settings: one button that saves the figure as an image, in the browser, without a server.

    Where single points are ``clicked``, two quick clicks are two: as a double click they would take the choice back.
    """
    image = IMAGE.value
    return {
        **({"doubleClickDelay": 1} if clicked else {}),
        "displaylogo": False,
        "displayModeBar": True,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": image, "filename": name, "scale": 1 if image == "svg" else 3},
    }


def show_heatmap(payload: heatmap.Payload, key: str) -> None:
    """Draw a heatmap; it saves its own images."""
    mount = component("heatmap", heatmap.SOURCE)
    mount(key=key, data=pack(payload))


def show(figure: go.Figure, key: str, name: str, choose: Callable[[], None] | None = None) -> None:
    """Draw a figure; ``name`` is the file name of its image. ``choose`` is called when a point of it was clicked, which
    then stands in the session under ``key``.
    """
    enlarge(figure, scale())
    if choose is None:
        st.plotly_chart(figure, key=key, theme=None, config=config(name))
    else:
        st.plotly_chart(
            figure, key=key, on_select=choose, selection_mode="points", theme=None, config=config(name, clicked=True)
        )


def blank(text: str, key: str) -> None:
    """An empty figure where one will stand, and what it waits for."""
    empty = go.Figure(layout=base_layout(is_dark(), height=240, xaxis={"visible": False}, yaxis={"visible": False}))
    empty.add_annotation(text=text, showarrow=False)
    st.plotly_chart(empty, key=key, theme=None, config={"displayModeBar": False})


@contextmanager
def announced() -> Iterator[None]:
    """While the block loads the first model: an empty figure in the place of those to come.

    The browser fetches what it draws figures with in the meantime, not after it.
    """
    place = st.empty()
    if not engine().started:
        with place:
            blank("The first model is being loaded …", "announced")
    try:
        yield
    finally:
        place.empty()
