"""The page "Glossary": every term of the app, what it means, its source, and where to meet it."""

from pathlib import Path

import streamlit as st

from pages.glossary import words
from ui import Field, Page, as_text, pattern, run
from ui.glossary import TERMS

TERM: Field[str] = Field("term", "", pattern(r"[\s\S]{1,60}", "is not a term.", empty=True), of="glossary")

_STYLE = (Path(__file__).parent / "glossary.css").read_text(encoding="utf-8")


def body() -> None:
    from pages import PAGES  # this page is one of them

    st.html(f"<style>{_STYLE}</style>")
    typed = st.text_input(
        "Find a term", **TERM.bound, max_chars=60, placeholder="Find a term", label_visibility="collapsed", width=390
    )
    terms = words.matching(typed)
    if terms:
        with st.container(key="answer"):
            st.html(words.listed(terms, words.places(PAGES)))
    else:
        st.info(f"No term matches “{as_text(typed)}”. Empty the box to see all {len(TERMS)}.", icon=":material/search:")


PAGE: Page = Page(
    name="glossary",
    title="Glossary",
    icon=":material/menu_book:",
    question="What does this word mean?",
    how=f"{len(TERMS)} terms, each with its meaning, its source and where to find it in the app.",
    about="The terms of this app. Links open in a new tab, so that you do not lose your place.",
    fields=(TERM,),
    body=body,
)

if __name__ == "__main__":
    run(PAGE)
