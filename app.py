"""The server, where ``streamlit run`` or uvicorn imports this file; the router, where Streamlit runs it for a visitor.

The router: page settings, and navigation.
"""

from pathlib import Path

import streamlit as st

from pages import PAGES

if __name__ == "__main__":
    from ui.messages import failures_as_messages
    from web import sign_in, uploads
    from web.turns import turn

    icon = Path(__file__).parent / "ui/favicon.svg"  # Streamlit would look in the working directory
    st.set_page_config(page_title="Inside BERT", page_icon=str(icon), layout="wide")
    uploads.bound()
    page = st.navigation(
        [
            st.Page(page.path, title=page.title, icon=page.icon, url_path=page.name, default=page is PAGES[0])
            for page in PAGES
        ],
        position="top",
    )
    sign_in.require()
    with turn(), failures_as_messages():
        page.run()
else:
    from classroom.stores import rooms
    from ui.messages import on_script_error
    from ui.shell import documents
    from web import app as server

    rooms()  # a setting for them that cannot be used ends the app here, with its sentence alone
    app = st.App(__file__, **server.parts(documents(PAGES), on_script_error, lambda: rooms().problem()))
