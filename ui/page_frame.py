"""What stands around every page: its headline with what is behind "?", and the presentation mode."""

from __future__ import annotations

import streamlit as st

from ui import address, appearance, browser, glossary
from web import sign_in


def frame() -> None:
    """Say, once a run, whether this is the presentation mode, and what the browser has to know of all pages' fields."""
    st.html(f'<i class="{"present" if appearance.PRESENT.value else ""}" hidden></i>')
    browser.prepare(address.all_declared())


def headline(title: str, about: str, more: tuple[str, ...], terms: tuple[str, ...] = ()) -> None:
    """A page's title, what the literature calls what is on the screen, and a sentence about it, on one line; ``more``
    is behind "?", with the way to the glossary and what a visitor can set for all pages.
    """
    called = f'<span class="terms">{glossary.list_terms(terms)}</span> ' if terms else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="headline"):
        st.title(title, anchor=False, width="content")
        st.markdown(called + about, width="stretch", unsafe_allow_html=True)
        with st.popover("More", icon=":material/help:", type="tertiary", width="content", key="more"):
            for paragraph in dict.fromkeys(filter(None, (called + about, *more))):
                st.markdown(paragraph, unsafe_allow_html=True)
            st.markdown(glossary.link("Glossary: what the terms mean"), unsafe_allow_html=True)
            browser.theme()
            appearance.presentation()
            sign_in.sign_out()
