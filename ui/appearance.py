"""What a visitor sets for all pages: the theme, by Streamlit's own menu, and how images are saved."""

from __future__ import annotations

import streamlit as st

from ui.field import Field, one_of

IMAGE: Field[str] = Field("image", "svg", one_of("the image format", ("svg", "png")))


def is_dark() -> bool:
    return bool(st.context.theme.type == "dark")


def images() -> None:
    """The choice of how images are saved."""
    st.segmented_control(
        "Charts are saved as",
        ["svg", "png"],
        **IMAGE.bound,
        format_func=str.upper,
        required=True,
        help="By the camera on a chart, in your browser.",
    )
