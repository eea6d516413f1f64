"""How failures reach the screen: one sentence, never a traceback, and nothing typed is lost.

A model that is not on this machine yet is one of them: its sentence comes with a button that downloads it. An
unforeseen failure is counted, and logged with the names of the steps that led to it, but not with what the
visitor typed.
"""

from __future__ import annotations

import functools
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitDuplicateElementKey

from model_zoo import tracing
from model_zoo.errors import InvalidInput, ModelZooError, NotDownloaded, Unreachable
from model_zoo.types import megabytes
from ui import address
from viz.direction import isolated
from web.engine import cluster, engine
from web.frames import frames, place
from web.process import unforeseen
from web.settings import settings
from web.turns import turn

_log = logging.getLogger(__name__)

_SECONDS_BETWEEN_LOOKS = 1.0
_LONGEST_PAUSE = 60.0
_SECONDS_UNTIL_ANEW = 120.0
_TRIES = "automatic_reruns"


class Unfinished(ModelZooError):
    """What a page needs is not there yet; ``show`` draws how far it is, in place of a message."""

    def __init__(self, show: Callable[[], None]) -> None:
        super().__init__("This is not there yet.")
        self.show = show


@contextmanager
def also_at(box: DeltaGenerator) -> Iterator[None]:
    """Repeat in an open box what stops the page: the message on the page may be behind the box."""
    try:
        yield
    except Unfinished:
        box.caption("Not read yet. Close this box to see how far it is.")
        raise
    except InvalidInput as error:
        box.warning(as_text(str(error)), icon=":material/edit:")
        raise


@contextmanager
def failures_as_messages() -> Iterator[None]:
    """Show what goes wrong inside the block as a message; what comes after the block still runs."""
    try:
        yield
    except Unfinished as unfinished:
        unfinished.show()
    except InvalidInput as error:
        st.warning(as_text(str(error)), icon=":material/edit:")
    except NotDownloaded as error:
        offer_download(error)
    except Unreachable as error:
        st.error(as_text(str(error)), icon=":material/cloud_off:")
        _go_on_by_itself()
    except ModelZooError as error:
        st.error(as_text(str(error)), icon=":material/error:")
    except Exception as error:
        _unforeseen(error)


def _go_on_by_itself() -> None:
    """Draw the page again when the cluster that holds the models answers again. Where that does not help, because it is
    this page's question that it does not survive, wait longer every time.
    """
    tries, last = st.session_state.get(_TRIES, (0, 0.0))
    if time.monotonic() - last > _SECONDS_UNTIL_ANEW:
        tries = 0
    pause = min(_LONGEST_PAUSE, _SECONDS_BETWEEN_LOOKS * 2 ** (tries + 1))

    def look() -> None:
        if time.monotonic() < begun + pause:
            return
        remote = cluster()
        if remote is not None and remote.look():
            st.session_state[_TRIES] = tries + 1, time.monotonic()
            st.rerun()

    begun = time.monotonic()
    fragment(look, run_every=pause)()


def _unforeseen(error: Exception, way_on: str = "Try another text or model, or reset this page") -> None:
    unforeseen().n += 1
    try:
        steps = address.steps()
    except Exception:  # the fields themselves may be what is broken
        steps = ["steps that cannot be told"]
    kind, page = type(error).__name__, address.title()
    _log.error(
        "%s on the page %s, after: %s",
        kind,
        page,
        ", ".join(steps) or "opening it",
        extra={
            "exception": kind,
            "page": page,
            "steps": steps,
            "frames": frames(error),
            "question": tracing.question_id.get(),
        },
    )
    details = f" ({', '.join(filter(None, (kind, place(error))))})" if settings().error_details else ""
    st.error(
        f"Something went wrong inside the app{as_text(details)}. Your text is still there. {way_on}: that resets "
        "everything except your text. See the server's log for details.",
        icon=":material/error:",
    )
    try:
        st.button("Reset this page", on_click=address.reset, key="start-anew", icon=":material/restart_alt:")
    except StreamlitDuplicateElementKey:
        return  # one button serves everything that went wrong


def on_script_error(error: Exception) -> bool:
    """For ``st.App``: what ``failures_as_messages`` has no hold of, the callback of a widget above all, after which no
    page is drawn. True: Streamlit shows nothing of its own.
    """
    _unforeseen(error, "Reset this page")
    return True


def fragment(function: Callable[..., None], run_every: float | None = None) -> Callable[..., Any]:
    """``st.fragment`` whose failures also reach the screen as messages: app.py, which otherwise sees to that, does not
    run when only the fragment does.
    """

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> None:
        with turn(), failures_as_messages():
            function(*args, **kwargs)

    return st.fragment(guarded, run_every=run_every)  # noqa: TID251  (this is it)


def offer_download(error: NotDownloaded) -> None:
    """The size of a download, a button that starts it, and its progress; draws the page again when it is done.

    The engine fetches a model once for all visitors, so each of them sees the same bar.
    """
    fragment(_offer, run_every=_SECONDS_BETWEEN_LOOKS)(error.model, str(error))


def _offer(model: str, message: str) -> None:
    def begin() -> None:
        engine().download(model)

    download = engine().downloading(model)
    if download is not None and download.running:
        done, total = (megabytes(n) for n in (download.done, download.n_bytes))
        words = f"Downloading {model}: {done} of {total}"
        if download.converting:
            words = (
                f"{model} has been downloaded. Its weights are checked, and converted into safetensors if they are "
                "a pickle."
            )
        st.progress(download.done / max(download.n_bytes, 1), as_text(words))
        return
    if engine().has(model):
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


def say(text: str) -> None:
    """A sentence, as it is."""
    st.markdown(as_text(text))


def caption(text: str) -> None:
    """Small print, as it is."""
    st.caption(as_text(text))


def note(text: str) -> None:
    """What a visitor should know of what is shown."""
    st.info(as_text(text), icon=":material/info:")


def ask_for(text: str) -> None:
    """What a visitor has to type or choose before there is something to see."""
    st.info(as_text(text), icon=":material/edit:")


def say_cut(text: str) -> None:
    """What of a visitor's input was not read."""
    st.warning(as_text(text), icon=":material/content_cut:")


def join_names(names: Iterable[str]) -> str:
    """One or more names, as written in a sentence: "A, B and C"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def make_distinct(labels: Iterable[str]) -> list[str]:
    """The labels of options, for a list that tells its options apart by their labels: of equal ones, all but the first
    end in their number, in digits of no width. (As many such signs as there were equal labels before would be
    megabytes for a text of one word again and again.)
    """
    return _with_endings(labels, lambda n_before: f"{n_before:b}".translate(_NO_WIDTH))


def number_repeats(names: Iterable[str]) -> list[str]:
    """Names that are told apart: of equal ones, all but the first have their number behind them."""
    return _with_endings(names, lambda n_before: f" ({n_before + 1})")


def _with_endings(labels: Iterable[str], ending: Callable[[int], str]) -> list[str]:
    """Labels of which all but the first of equal ones end in what their number of equals before them makes."""
    seen: Counter[str] = Counter()
    distinct = []
    for label in labels:
        distinct.append(label + (ending(seen[label]) if seen[label] else ""))
        seen[label] += 1
    return distinct


_NO_WIDTH = str.maketrans("01", "\u200b\u2060")


def as_text(text: str) -> str:
    """Markdown that shows ``text`` as it is: what people type must not turn into formatting, formulas, links, icons or
    other signs. A word in quotation marks that runs from right to left does not turn around what follows it.
    """
    text = _QUOTED.sub(lambda quoted: f"“{isolated(quoted[1])}”", text)
    parts, end = [], 0
    for match in _REWRITTEN.finditer(text):
        parts += [_escaped(text[end : match.start()]), f":color[{_escaped(match[0])}]"]
        end = match.end()
    return "".join((*parts, _escaped(text[end:])))


def _escaped(text: str) -> str:
    return "".join("\\" + c if c in r"\`*_{}[]()<>#+-.!|$:~^&@" and c.isascii() else c for c in text)


_QUOTED = re.compile(r"“([^“”]*)”")

# Streamlit's page looks for addresses (http://, www., a@b), icons (:material/home:) and arrows (->, <=) once more in
# what Markdown has made text, where no backslash helps. One sign of each in a colour, which is none, parts them.
_REWRITTEN = re.compile(
    r":(?=//|[\w+/-]+:)|(?<=www)\.|(?<=[-.\w+])@(?=[-\w])|(?<=[<>~])[-=](?=>?(?!\S))|(?<!\S)-(?=[->](?!\S))",
    re.IGNORECASE,
)
