"""What stands around every page: its stylesheet, its headline with what is behind "?", and the presentation mode."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ui import address, appearance, browser, sign_in
from viz.palette import DARK

_STYLE = (Path(__file__).parent / "cockpit.css").read_text(encoding="utf-8")
_PRESENT = (Path(__file__).parent / "present.css").read_text(encoding="utf-8")
# Streamlit writes white on what is chosen in a list of many, which on the dark theme's light primary colour nobody can
# read (2.3:1).
_DARK = f".stMultiSelect [data-tag] * {{ color: {DARK.background} }}"


def frame() -> None:
    """Once a run: the stylesheet, and what the browser has to know of the fields of all pages."""
    styles = _STYLE + (_DARK if appearance.is_dark() else "") + (_PRESENT if appearance.PRESENT.value else "")
    st.html(f"<style>{styles}</style>")
    browser.prepare(address.declared())


def headline(title: str, about: str, more: tuple[str, ...]) -> None:
    """A page's title and a sentence about what is on the screen, on one line; ``more`` stands behind "?", with what a
    visitor can set for all pages.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="headline"):
        st.title(title, anchor=False, width="content")
        st.markdown(about, width="stretch")
        with st.popover("More", icon=":material/help:", type="tertiary", width="content", key="more"):
            for said in dict.fromkeys(filter(None, (about, *more))):
                st.markdown(said)
            appearance.presentation()
            appearance.images()
            sign_in.sign_out()
