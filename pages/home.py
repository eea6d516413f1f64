"""The home page: what this is, what each page answers, and links for a lesson."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from ui.classroom import CLASSROOM
from ui.page import Page, run


def overview() -> None:
    from pages import PAGES  # this page is one of them

    others = {page.name: page for page in PAGES if page.name != PAGE.name}
    for page in others.values():
        with st.container(border=True):
            st.page_link(page.path, label=f"**{page.title}**", icon=page.icon)
            st.markdown(f"{page.question} {page.how}")
    _for_a_lesson(others)


def _for_a_lesson(pages: Mapping[str, Page[Any]]) -> None:
    """The prepared links by groups, each with its question."""
    st.subheader("For a lesson")
    st.markdown(
        "Pages with something to see, each with a question that one answers by looking. To give one to a class, copy "
        "its link: a right click, or a long press on a telephone."
    )
    for group in CLASSROOM:
        with st.expander(group.title):
            for link in group.links:
                page = pages[link.page]
                with st.container(gap="xsmall"):
                    st.page_link(page.path, label=f"**{link.title}**", icon=page.icon, query_params=link.query)
                    st.markdown(link.question)


PAGE: Page = Page(
    name="home",
    title="Home",
    heading="Look inside BERT",
    icon=":material/home:",
    question="What is this?",
    how="An overview, and links for a lesson.",
    about="Type a sentence and see what a language model does with it, layer by layer and head by head. Real models "
    "run here; the first ones ship with the app and need no network.",
    body=overview,
)

if __name__ == "__main__":
    run(PAGE)
