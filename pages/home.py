"""The home page: what this is, what each page answers, and the state of the engine."""

import streamlit as st

from ui import engine_panel, pagelist
from ui.page import begin

begin(
    "Look inside BERT",
    "Type a sentence and see what a language model does with it, layer by layer and head by head. Real models run "
    "here; the first ones lie in the app and need no network.",
)
for page in pagelist.PAGES:
    with st.container(border=True):
        st.page_link(page.path, label=f"**{page.title}**", icon=page.icon)
        st.markdown(f"{page.question} {page.how}")
st.subheader("Engine")
engine_panel.draw()
