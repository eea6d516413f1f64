"""The home page: what this is, what each page answers."""

import streamlit as st

from ui.page import Page, run


def overview() -> None:
    from pages import PAGES  # this page is one of them

    for page in PAGES:
        if page.name == PAGE.name:
            continue
        with st.container(border=True):
            st.page_link(page.path, label=f"**{page.title}**", icon=page.icon)
            st.markdown(f"{page.question} {page.how}")


PAGE: Page = Page(
    name="home",
    title="Home",
    heading="Look inside BERT",
    icon=":material/home:",
    question="What is this?",
    how="An overview.",
    about="Type a sentence and see what a language model does with it, layer by layer and head by head. Real models "
    "run here; the first ones ship with the app and need no network.",
    body=overview,
)

if __name__ == "__main__":
    run(PAGE)
