"""Every button that saves something: tables and matrices as CSV or NPZ, pictures of several parts as one HTML file, and
tuned models.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Literal

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.export import CSV_NOTE, table_to_csv
from ui import widgets
from web.saved import ADDRESS, OFFERED, Offered

Kind = Literal["csv", "npz", "html", "conllu"]
_MIME = {"csv": "text/csv", "npz": "application/octet-stream", "html": "text/html", "conllu": "text/plain"}
_ICONS = {
    "csv": ":material/table:",
    "npz": ":material/deployed_code:",
    "html": ":material/web:",
    "conllu": ":material/download:",
}


def popover() -> DeltaGenerator:
    """What opens, in a line of controls, to save what is on the screen: the buttons below go into it."""
    return widgets.popover("Save", ":material/download:")


def file(
    label: str,
    make: Callable[[], str | bytes],
    name: str,
    kind: Kind,
    help: str,
    *,
    disabled: bool = False,
    width: Literal["content", "stretch"] = "content",
    key: str = "",
) -> None:
    """A button that saves a file, made when it is pressed; ``name`` is that of the file without its ending. Where a
    page has several files of one name, ``key`` tells their buttons apart.
    """
    st.download_button(
        label,
        make,
        f"{name}.{kind}",
        _MIME[kind],
        key=f"{kind} {key or name}",
        help=help,
        on_click="ignore",
        icon=_ICONS[kind],
        disabled=disabled,
        width=width,
    )


def table(label: str, make: Callable[[], pd.DataFrame], name: str) -> None:
    """A button that saves a table as CSV, with an ending to its label that says so."""
    file(f"{label} (CSV)", lambda: table_to_csv(make()), name, "csv", CSV_NOTE)


def html(label: str, make: Callable[[], str], name: str, *, width: Literal["content", "stretch"] = "content") -> None:
    """A button that saves a picture as one HTML file."""
    said = "One file with everything in it; it opens in any browser, without a network."
    file(f"{label} (HTML)", make, name, "html", said, width=width)


def model(label: str, id_: str, name: str, help: str) -> None:
    """A button that saves a tuned model. It is too large to pass through Streamlit, which holds all that visitors save
    in memory: ``web.saved`` sends it.
    """
    key = f"offered {id_}"
    if key not in st.session_state:
        address, offered = secrets.token_urlsafe(16), Offered(id_, name)
        OFFERED[address] = offered
        st.session_state[key] = address, offered
    address, _ = st.session_state[key]
    # Below the page's own address, so that it leads there under any path, and behind any proxy.
    st.link_button(f"{label} (zip)", f"{ADDRESS}/{address}", key=f"zip {id_}", help=help, icon=":material/folder_zip:")
