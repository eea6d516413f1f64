"""What stands around every page: its stylesheet, its headline with what is behind "?", and the presentation mode."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import streamlit as st

from ui import address, appearance, browser, sign_in
from viz.palette import DARK, LIGHT

_STYLE = (Path(__file__).parent / "cockpit.css").read_text(encoding="utf-8")
_PRESENT = (Path(__file__).parent / "present.css").read_text(encoding="utf-8")
# Streamlit tells components its colours, and not the page around them. By whether the theme is dark.
_COLOURS = {
    theme is DARK: ":root {" + "".join(f"--{role}: {colour};" for role, colour in asdict(theme).items()) + "}"
    for theme in (LIGHT, DARK)
}


def frame() -> None:
    """Once a run: the stylesheet, and what the browser has to know of the fields of all pages."""
    styles = _COLOURS[appearance.is_dark()] + _STYLE + (_PRESENT if appearance.PRESENT.value else "")
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
