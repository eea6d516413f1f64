"""The router: page settings, navigation, and the sidebar that all pages share."""

import streamlit as st

from pages import PAGES
from ui import sidebar
from ui.engine import warm_up
from ui.messages import failures_as_messages

st.set_page_config(page_title="Inside BERT", page_icon="ui/favicon.png", layout="wide")

page = st.navigation([st.Page(page.path, title=page.title, icon=page.icon, default=page is PAGES[0]) for page in PAGES])
with failures_as_messages():
    sidebar.draw()
    page.run()
warm_up()
