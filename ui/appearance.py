"""What a visitor sets for all pages: light or dark, large type, and how charts are saved."""

from __future__ import annotations

import streamlit as st

from ui.field import SWITCH, Field, one_of

PRESENT: Field[bool] = Field("present", False, SWITCH)
IMAGE: Field[str] = Field("image", "svg", one_of("the image format", {"svg": "SVG", "png": "PNG"}))


def is_dark() -> bool:
    return bool(st.context.theme.type == "dark")


def scale() -> float:
    """How much larger type is than usual: 1.375 in the presentation mode, as ui/present.css has it."""
    return 22 / 16 if PRESENT.value else 1.0


def presentation() -> None:
    """The switch of the presentation mode."""
    st.toggle(
        "Presentation",
        **PRESENT.bound,
        help="Large type and no menu, for the back row. This page's link includes it.",
    )


def images() -> None:
    """The choice of how images are saved."""
    st.segmented_control(
        "Charts are saved as", **IMAGE.bound, required=True, help="With the camera button on a chart, in your browser."
    )
