"""What stands around every page: its stylesheet, its headline with what is behind "?", and the presentation mode."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import streamlit as st

from ui import address, appearance, browser, glossary
from viz.palette import DARK, LIGHT
from web import sign_in

_STYLE = (Path(__file__).parent / "page_frame.css").read_text(encoding="utf-8")
_PRESENT = (Path(__file__).parent / "present.css").read_text(encoding="utf-8")
# Streamlit tells components its colours, and not the page around them. Which of the two holds is told by the
# color-scheme: Streamlit sets it on the app, and follows the system at once.
_COLOURS = " ".join(f"--{role}: light-dark({colour}, {asdict(DARK)[role]});" for role, colour in asdict(LIGHT).items())


def frame() -> None:
    """Send, once a run, the stylesheet and what the browser has to know of the fields of all pages."""
    # Popovers stand outside of the app.
    scheme = f"color-scheme: {'dark' if appearance.is_dark() else 'light'};"
    styles = f":root {{ {scheme} {_COLOURS} }}" + _STYLE + (_PRESENT if appearance.PRESENT.value else "")
    st.html(f"<style>{styles}</style>")
    browser.prepare(address.declared())


def headline(title: str, about: str, more: tuple[str, ...], terms: tuple[str, ...] = ()) -> None:
    """A page's title, what the literature calls what is on the screen, and a sentence about it, on one line; ``more``
    is behind "?", with the way to the glossary and what a visitor can set for all pages.
    """
    called = f'<span class="terms">{glossary.listed(terms)}</span> ' if terms else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="headline"):
        st.title(title, anchor=False, width="content")
        st.markdown(called + about, width="stretch", unsafe_allow_html=True)
        with st.popover("More", icon=":material/help:", type="tertiary", width="content", key="more"):
            for said in dict.fromkeys(filter(None, (called + about, *more))):
                st.markdown(said, unsafe_allow_html=True)
            st.markdown(glossary.link("Glossary: what the terms mean"), unsafe_allow_html=True)
            appearance.presentation()
            appearance.images()
            sign_in.sign_out()
