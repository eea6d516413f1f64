"""Streamlit's side of the components in viz."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st


def component(name: str, source: Mapping[str, str]) -> Any:
    """What mounts a component of these ``html``, ``css`` and ``js``; ``name`` is Streamlit's for it."""
    return st.components.v2.component(name, html=source["html"], css=source["css"], js=source["js"])


def told(key: str, name: str) -> Any:
    """What the component of this key tells by ``name``; None where Streamlit has lost it, as it may when a run was
    ended early: its callback is called even so.
    """
    return (st.session_state.get(key) or {}).get(name)


def hearing(key: str, name: str, use: Callable[[Any], None]) -> Callable[[], None]:
    """A callback that calls ``use`` with what the component of this key tells by ``name``, if it is there."""

    def heard() -> None:
        said = told(key, name)
        if said is not None:
            use(said)

    return heard
