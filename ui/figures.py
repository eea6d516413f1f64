"""Showing Plotly figures alike on every page, in the app's own colours, so that they can be saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from ui import save
from ui.appearance import is_dark, scale
from ui.component import component
from viz import heatmap
from viz.component import pack
from viz.layout import base_layout, enlarge
from web.engine import engine


def config(*, clicked: bool = False) -> dict[str, object]:
    """Plotly's settings. Where points are ``clicked``, a double click is two clicks, and takes no choice back."""
    return {**({"doubleClickDelay": 1} if clicked else {}), "displaylogo": False, "displayModeBar": False}


def show_heatmap(payload: heatmap.Payload, key: str) -> None:
    """Draw a heatmap, which can be saved under the name of its file."""
    mount = component("heatmap", heatmap.SOURCE)
    mount(key=key, data=pack(payload))
    save.picture(payload["file"])


def show(
    draw: Callable[..., go.Figure],
    key: str,
    name: str,
    choose: Callable[[Any], None] | None = None,
    **options: Any,
) -> None:
    """Draw what ``draw`` makes, being told whether it is ``dark``; it can be saved under a name. ``choose`` is given
    the ``customdata`` of a point that was clicked. ``options`` are Streamlit's.
    """
    figure = draw(dark=is_dark())
    enlarge(figure, scale())
    if choose is not None:
        options |= {"on_select": partial(_clicked, key, choose), "selection_mode": "points"}
    st.plotly_chart(figure, key=key, theme=None, config=config(clicked=choose is not None), **options)
    save.picture(name, draw)


def _clicked(key: str, choose: Callable[[Any], None]) -> None:
    """Give ``choose`` what was clicked in a figure; some marks in one stand for nothing."""
    points = st.session_state[key]["selection"]["points"]
    meant = [point["customdata"] for point in points if point.get("customdata") is not None]
    if meant:
        choose(meant[0])


def empty_figure(text: str, key: str) -> None:
    """An empty figure where one will stand, and what it waits for."""
    empty = go.Figure(layout=base_layout(is_dark(), height=240, xaxis={"visible": False}, yaxis={"visible": False}))
    empty.add_annotation(text=text, showarrow=False)
    st.plotly_chart(empty, key=key, theme=None, config={"displayModeBar": False})


@contextmanager
def placeholder_figure() -> Iterator[None]:
    """While the block loads the first model: an empty figure in the place of those to come.

    The browser fetches what it draws figures with in the meantime, not after it.
    """
    place = st.empty()
    if not engine().started:
        with place:
            empty_figure("The first model is being loaded …", "announced")
    try:
        yield
    finally:
        place.empty()
