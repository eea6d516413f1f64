"""The router: page settings, navigation, and the sidebar that all pages share."""

import streamlit as st

from ui import pagelist, sidebar
from ui.engine import warm_up
from ui.messages import failures_as_messages

st.set_page_config(page_title="Inside BERT", page_icon="ui/favicon.png", layout="wide")

page = st.navigation(
    [
        st.Page(entry.path, title=entry.title, icon=entry.icon, default=entry is pagelist.HOME)
        for entry in (pagelist.HOME, *pagelist.PAGES)
    ]
)
with failures_as_messages():
    sidebar.draw()
    page.run()
warm_up()
