"""The document that the browser is given first: Streamlit's, with the app's stylesheet, the page's headline and a
skeleton in the places where the page will be, so that its first paint has the layout of the last.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ui.page import Page
from viz.component import enclosed
from viz.palette import DARK, LIGHT
from web.shell import INDEX, STATIC

# Streamlit's scripts that every page needs, or every page with views, and that it would ask for one after the other.
SOON = ("Html", "BidiComponent", "rehype-raw", "purify.es", "serialization", "recordbatch", "hastscript")
SOON_WITH_VIEWS = ("TextArea", "Selectbox", "ButtonGroup", "useSyncComboBoxEnterTargetFocus", "useMenuTrigger")
_HERE = Path(__file__).parent
# Streamlit tells components its colours, and not the page around them. Which of the two holds is told by the
# color-scheme, which shell.js sets.
_COLOURS = " ".join(f"--{role}: light-dark({colour}, {asdict(DARK)[role]});" for role, colour in asdict(LIGHT).items())


def documents(pages: Sequence[Page[Any]]) -> dict[str, str]:
    """The document of each page by its path, "" for the first one.

    The stylesheet stands in the body: there it comes after Streamlit's own, which are made later and put into the head.
    """
    style = f":root {{ {_COLOURS} }}" + "".join(
        (_HERE / file).read_text(encoding="utf-8") for file in ("page_frame.css", "present.css", "browser/shell.css")
    )
    script = f"{enclosed(_HERE / 'browser' / 'shell.js')}.start();"
    shell = (_HERE / "browser" / "shell.html").read_text(encoding="utf-8")

    def document(page: Page[Any]) -> str:
        title = html.escape(page.heading or page.title)
        # What a view is about is said by the view, which the address chooses.
        about = "" if page.views else html.escape(page.about)
        drawn = shell.format(classes="views" if page.views else "", title=title, about=about)
        soon = preloads(SOON + (SOON_WITH_VIEWS if page.views else ()))
        body = f"<body><style>{style}</style>{drawn}<script>{script}</script>"
        return INDEX.replace("</head>", f"{soon}</head>", 1).replace("<body>", body, 1)

    return {"" if page is pages[0] else page.name: document(page) for page in pages}


def preloads(names: Sequence[str]) -> str:
    """What tells the browser to fetch these scripts of Streamlit's early; what is not there is left out."""
    files = [file for name in names for file in sorted((STATIC / "static" / "js").glob(f"{name}.*.js"))]
    return "".join(f'<link rel="modulepreload" crossorigin href="./static/js/{file.name}">' for file in files)
