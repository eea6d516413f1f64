"""The sidebar of every page: what the engine holds, and the caution that belongs beside every picture."""

from __future__ import annotations

import streamlit as st

from ui import address, appearance, browser
from ui.engine import engine
from ui.messages import as_text, enumerated


def draw() -> None:
    with st.sidebar:
        held = engine().held()
        if held:
            st.caption(f"{len(held)} model{'s' if len(held) > 1 else ''} in memory on {engine().device}")
        moved = engine().state().moved
        if moved:
            verb = "runs" if len(moved) == 1 else "run"
            st.caption(as_text(f"{enumerated(moved)} {verb} on the CPU: the GPU has too little memory left."))
        appearance.images()
        st.caption(
            "Attention shows where a head looks. By itself it does not explain why the model answers as it does."
        )
        browser.prepare(address.declared())
