"""What can be saved on a page, and the one place where it is: pictures as SVG, PNG or PDF for a paper, tables and
matrices as CSV or NPZ, what works by itself as HTML. Whoever shows something puts it on the shelf; the page's loop
draws the box "Save". Buttons of their own have files that are not what is on the screen, and tuned models.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis.export import COUNTING, CSV_NOTE, named, origin_of, table_to_csv
from model_zoo.errors import InvalidInput, ModelZooError
from ui import address, cite, widgets
from ui.component import component, on_component_event
from ui.field import SWITCH, Field, one_of, within
from viz import component as files
from viz.layout import for_paper
from viz.palette import theme
from web.engine import engine
from web.metrics import versions
from web.process import process_cache
from web.saved import ADDRESS, OFFERS, DownloadOffer

Kind = Literal["csv", "npz", "html", "conllu"]
_KINDS: Mapping[Kind, tuple[str, str]] = {
    "csv": ("text/csv", ":material/table:"),
    "npz": ("application/octet-stream", ":material/deployed_code:"),
    "html": ("text/html", ":material/web:"),
    "conllu": ("text/plain", ":material/download:"),
}
_SAVER = files.source("saver")
_KEY, _LETTERS, _SHELF = "saver", "saver_letters", "saved_shelf"
_MOST = 1000  # letters that a picture may need of a font; the font refuses fewer
_LONGEST = 2000  # characters of a text in what a picture says of itself

_COLUMNS = {"single": "One column", "double": "Two columns"}
WIDTH: Field[str] = Field(
    "picture_width",
    "double",
    one_of("the width", {name: f"{called} ({files.WIDTHS[name]} mm)" for name, called in _COLUMNS.items()}),
)
TYPE: Field[int] = Field("picture_type", files.SIZE, within("the font size", 5, 14))
THEME: Field[str] = Field("picture_theme", "light", one_of("the theme", {"light": "Light", "dark": "Dark"}))
PIXELS: Field[str] = Field("picture_scale", str(files.PIXELS), one_of("the scale", {"2": "2×", "3": "3×", "4": "4×"}))
OUTLINES: Field[bool] = Field("picture_outlines", False, SWITCH)


@dataclass(frozen=True, slots=True)
class _File:
    label: str
    make: Callable[[], str | bytes]
    name: str
    kind: Kind
    help: str
    disabled: bool = False


@dataclass(slots=True)
class _Shelf:
    """What can be saved of a view, or a page, with this ``title`` and these ``fields``, in the order on the page:
    ``pictures`` by their names (None where a component makes the picture itself), and files.
    """

    title: str = ""
    about: str = ""
    fields: tuple[Field[Any], ...] = ()
    pictures: dict[str, Callable[..., go.Figure] | None] = field(default_factory=dict)
    files: dict[str, _File] = field(default_factory=dict)


def _shelf() -> _Shelf:
    shelf: _Shelf = st.session_state.setdefault(_SHELF, _Shelf())
    return shelf


def clear(title: str, about: str, fields: Iterable[Field[Any]]) -> None:
    """Begin to show something: nothing of what was there can be saved any more."""
    st.session_state[_SHELF] = _Shelf(title, about, tuple(fields))


def has_files() -> bool:
    """Whether there is anything to save."""
    return bool(_shelf().pictures or _shelf().files)


def picture(name: str, figure: Callable[..., go.Figure] | None = None) -> None:
    """Put a picture on the shelf: a figure, to be called with ``dark``, or what a component has under the name."""
    _shelf().pictures[name] = figure


def file(
    label: str, make: Callable[[], str | bytes], name: str, kind: Kind, help: str, *, disabled: bool = False
) -> None:
    """Put a file on the shelf, to be made when it is asked for; ``name`` is without its ending."""
    _shelf().files[f"{kind} {name}"] = _File(label, make, name, kind, help, disabled)


def table(label: str, make: Callable[[], pd.DataFrame], name: str) -> None:
    """Put a table on the shelf, as CSV. It says of which model it is, and from where it counts."""
    file(f"{label} (CSV)", lambda: table_to_csv(origin_of(make(), _revisions())), name, "csv", CSV_NOTE)


def html(label: str, make: Callable[[], str], name: str) -> None:
    """Put a picture on the shelf that works by itself, as one HTML file."""
    file(f"{label} (HTML)", make, name, "html", "One file with everything in it; it opens in any browser, offline.")


def button(label: str, make: Callable[[], str | bytes], name: str, kind: Kind, help: str = "", key: str = "") -> None:
    """A button of its own that saves a file."""
    _button(_File(label, make, name, kind, help), name, key or name)


def box() -> None:
    """The box in which everything is saved that is on the shelf when it is opened; a fragment."""
    with st.popover("Save", icon=":material/download:", width="content", key="save", on_change="rerun") as opened:
        shelf = _shelf()
        words = _words()
        if shelf.pictures and opened.open:
            _pictures(shelf, words)
        with st.container(horizontal=True, gap="small"):
            for key, file_ in shelf.files.items():
                _button(file_, named(file_.name, words), key)
        if opened.open and not shelf.pictures and not shelf.files:
            st.caption("There is nothing to save here yet.")


def _button(file_: _File, name: str, key: str) -> None:
    mime, icon = _KINDS[file_.kind]
    st.download_button(
        file_.label,
        file_.make,
        f"{name}.{file_.kind}",
        mime,
        key=f"save {key}",
        help=file_.help or None,
        on_click="ignore",
        icon=icon,
        disabled=file_.disabled,
    )


def _pictures(shelf: _Shelf, words: str) -> None:
    widgets.choice("Width", WIDTH)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.number_input("Font size (pt)", **TYPE.bound, width=130)
        widgets.choice("Theme", THEME)
        widgets.choice("Pixels of a PNG", PIXELS)
    st.toggle(
        "Letters as outlines",
        **OUTLINES.bound,
        help="For SVG: looks the same everywhere, but its words can no longer be edited or searched.",
    )
    dark = THEME.value == "dark"
    look = files.paper_look(theme(dark), WIDTH.value, TYPE.value)
    with st.container(key="pictures-to-save"):
        for place, figure in enumerate(shelf.pictures.values()):
            if figure is not None:
                drawn = figure(dark=dark)
                for_paper(drawn, look["scale"])
                with st.container(key=f"picture to save {place}"):
                    config = {"displayModeBar": False, "staticPlot": True}
                    st.plotly_chart(drawn, width=look["width"], key=f"plot to save {place}", theme=None, config=config)
    several = len(shelf.pictures) > 1
    data = {
        "pictures": [
            {
                "name": name,
                "label": _label(name) if several else "Picture",
                "file": named(name, words),
                "plot": f"st-key-picture-to-save-{place}" if figure else None,
                "about": _about(shelf, _label(name) if several else ""),
            }
            for place, (name, figure) in enumerate(shelf.pictures.items())
        ],
        "look": look,
        "mm": files.WIDTHS[WIDTH.value],
        "png": int(PIXELS.value),
        "outlines": OUTLINES.value,
        **_fonts(),
    }
    component("saver", _SAVER)(
        key=_KEY, data=files.pack(data), on_letters_change=on_component_event(_KEY, "letters", _keep_letters)
    )


def _keep_letters(wanted: object) -> None:
    """What the browser, which writes PDF and outlines itself, needs a font for."""
    match wanted:
        case {"serial": float(serial), "normal": str(normal), "bold": str(bold)}:
            st.session_state[_LETTERS] = serial, normal[:_MOST], bold[:_MOST]


def _fonts() -> dict[str, Any]:
    """The font for what the browser asked for last, by whose serial it knows that it is the one."""
    serial, normal, bold = st.session_state.get(_LETTERS, (0, "", ""))
    fonts: dict[str, Any] = {}
    problem, weights = "", b""
    try:
        if serial:
            fonts, weights = _fonts_of(normal, bold)
    except InvalidInput as error:
        problem = str(error)
    return {"serial": serial, "fonts": fonts, "problem": problem, "weights": weights}


@process_cache(most=16)
def _fonts_of(normal: str, bold: str) -> tuple[dict[str, Any], bytes]:
    from viz import paper  # imported here, because fontTools takes a second

    return paper.fonts(normal=normal, **({"bold": bold} if bold else {}))


def _label(name: str) -> str:
    words = name.replace("-", " ").replace("_", " ")
    return words[:1].upper() + words[1:]


def _values() -> Mapping[str, str]:
    """What the address of this view would hold, long texts included."""
    fields = _shelf().fields
    return {field.name: field.written for field in fields if field.always or field.written != field.written_default}


def _words() -> str:
    return _values().get("text", "")


def _revisions() -> dict[str, str]:
    values = _values()
    revisions = {}
    for model in filter(None, values.get("models", values.get("model", "")).split(",")):
        try:
            revisions[model] = engine().revision(model)
        except ModelZooError:
            continue
    return revisions


def _about(shelf: _Shelf, label: str) -> dict[str, str]:
    revisions = _revisions()
    title = ": ".join(filter(None, (address.title(), shelf.title, label)))
    return {
        "title": title,
        "description": shelf.about,
        **{name: value[:_LONGEST] for name, value in _values().items()},
        "revision": ", ".join(revisions.values()),
        "counting": COUNTING,
        "app": f"{cite.APP} {versions()['version']}",
        "link": address.page_url(),
    }


def citation_box() -> None:
    """The box that says how to cite what is on the screen when it is opened; a fragment."""
    opened = st.popover("Cite", icon=":material/format_quote:", width="content", key="cite", on_change="rerun")
    with opened, st.container(key="citation"):
        st.caption("BibTeX, and as text")
        if opened.open:
            shelf = _shelf()
            version = versions()["version"]
            cite.show(
                cite.Citation(address.title(), shelf.title, _revisions(), version, cite.today(), address.page_url())
            )


def model(label: str, id_: str, name: str, help: str) -> None:
    """A button that saves a tuned model. It is too large to pass through Streamlit, which holds all that visitors save
    in memory: ``web.saved`` sends it.
    """
    key = f"offered {id_}"
    if key not in st.session_state:
        address_, offered = secrets.token_urlsafe(16), DownloadOffer(id_, name)
        OFFERS[address_] = offered
        st.session_state[key] = address_, offered
    address_, _ = st.session_state[key]
    # Below the page's own address, so that it leads there under any path, and behind any proxy.
    st.link_button(f"{label} (zip)", f"{ADDRESS}/{address_}", key=f"zip {id_}", help=help, icon=":material/folder_zip:")
