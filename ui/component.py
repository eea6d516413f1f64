"""Streamlit's side of the components in viz."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st


def component(name: str, source: Mapping[str, str]) -> Any:
    """What mounts a component of these ``html``, ``css`` and ``js``; ``name`` is Streamlit's for it."""
    return st.components.v2.component(name, html=source["html"], css=source["css"], js=source["js"])


def component_value(key: str, name: str) -> Any:
    """What the component of this key reported last by ``name``. None if Streamlit has lost it, as it may when a run was
    ended early: its callback is called even then.
    """
    return (st.session_state.get(key) or {}).get(name)


def on_component_event(key: str, name: str, use: Callable[[Any], None]) -> Callable[[], None]:
    """A callback that calls ``use`` with what the component of this key reports by ``name``, unless it was lost."""

    def callback() -> None:
        value = component_value(key, name)
        if value is not None:
            use(value)

    return callback
