"""Streamlit's side of the components in viz."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st


def component(name: str, source: Mapping[str, str]) -> Any:
    """What mounts a component of these ``html``, ``css`` and ``js``; ``name`` is Streamlit's for it."""
    return st.components.v2.component(name, html=source["html"], css=source["css"], js=source["js"])
