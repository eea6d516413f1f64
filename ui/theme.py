"""Whether the visitor sees the light or the dark theme."""

import streamlit as st


def is_dark() -> bool:
    return st.context.theme.type == "dark"
