"""How failures reach the screen: one sentence, never a traceback, and nothing typed is lost.

A model that is not on this machine yet is one of them: the sentence has a button that downloads it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from model_zoo import sources
from model_zoo.errors import InvalidInput, ModelZooError, NotDownloaded
from ui.engine import engine

_log = logging.getLogger(__name__)

_SECONDS_BETWEEN_LOOKS = 1.0


@contextmanager
def failures_as_messages() -> Iterator[None]:
    """Show what goes wrong inside the block as a message; what comes after the block still runs."""
    try:
        yield
    except InvalidInput as error:
        st.warning(as_text(str(error)), icon=":material/edit:")
    except NotDownloaded as error:
        offer_download(error)
    except ModelZooError as error:
        st.error(as_text(str(error)), icon=":material/error:")
    except Exception:
        _log.exception("unexpected failure on a page")
        st.error(
            "Something went wrong inside the app; your input is still there. Try another text or model. "
            "The log of the server says more.",
            icon=":material/error:",
        )


def offer_download(error: NotDownloaded) -> None:
    """The size of a download, a button that begins it, and how far it is; draws the page again when it is done.

    The engine fetches a model once for all visitors, so each of them sees the same bar.
    """
    st.fragment(_offer, run_every=_SECONDS_BETWEEN_LOOKS)(error.model, str(error))


def _offer(model: str, message: str) -> None:
    def begin() -> None:
        engine().download(model)

    download = engine().downloading(model)
    if download is not None and download.running:
        done, total = (sources.megabytes(n) for n in (download.done, download.n_bytes))
        st.progress(download.done / max(download.n_bytes, 1), as_text(f"Downloading {model}: {done} of {total}"))
        return
    if sources.downloaded(model) is not None:
        st.rerun()
    if download is not None:
        st.error(as_text(str(download.error)), icon=":material/error:")
    st.info(as_text(message), icon=":material/cloud_download:")
    st.button(
        "Try again" if download else "Download",
        key=f"download {model}",
        on_click=begin,
        type="primary",
        icon=":material/download:",
    )


def as_text(text: str) -> str:
    """Markdown that shows ``text`` as it is: what people type must not turn into formatting or formulas."""
    return "".join("\\" + c if c in r"\`*_{}[]()<>#+-.!|$:~^&@" and c.isascii() else c for c in text)
