"""What a visitor sets for all pages: light or dark, and large type."""

from __future__ import annotations

import streamlit as st

from ui.field import SWITCH, Field

PRESENT: Field[bool] = Field("present", False, SWITCH)


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
