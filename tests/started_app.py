"""Starts the app as ``streamlit run app.py`` does, but that a visitor whose text is "Break it." breaks it.

Before any page is drawn, with the text in the words of the exception: as bad as it can be for what is logged.
"""

import sys
from typing import Any

import streamlit as st
from streamlit.web.cli import main

_navigation = st.navigation


def _breaks(*args: Any, **kwargs: Any) -> Any:
    text = st.query_params.get("text")
    if text == "Break it.":
        raise ValueError(text)
    return _navigation(*args, **kwargs)


if __name__ == "__main__":
    st.navigation = _breaks
    sys.argv = ["streamlit", "run", "app.py", *sys.argv[1:]]
    main()
