"""A component and its data as one self-contained HTML file that needs no network and says what it shows."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from html import escape
from string import Template
from typing import Any

from viz import component
from viz.component import PIXELS, WIDTHS, paper_look
from viz.palette import LIGHT

_PAGE, _PAGE_CSS = component.text("standalone/page.html"), component.text("standalone/page.css")
_MOUNT = component.enclosed(component.FILES / "standalone" / "mount.js")


def _json_default(value: object) -> dict[str, str]:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode("ascii")}
    raise TypeError(f"a payload holds JSON values and bytes, not {type(value).__name__}")


def standalone_html(
    source: Mapping[str, str],
    payload: Mapping[str, Any],
    *,
    title: str,
    caption: str,
    meta: Mapping[str, str],
) -> str:
    """One HTML file with the component ``source`` (``html``, ``css``, ``js``) mounted on ``payload``.

    The page's policy forbids every request, so it shows the same with and without a network. ``css`` must hold the
    theme, ``js`` call its default export ``render``. Bytes in the payload arrive as Uint8Array, the rest as JSON.
    ``meta`` says where the numbers come from (model, revision, layer, heads, filters) and stands under
    the caption, in its order.
    """
    # Escaping every "<" keeps "</script>" and "<!--" in tokens from ending the data block.
    data = json.dumps(payload, default=_json_default).replace("<", "\\u003c")
    about = {"title": title, "description": caption, **meta}
    file = {"look": paper_look(LIGHT), "mm": WIDTHS["double"], "scale": PIXELS, "about": about}
    entries = (f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in meta.items() if value)
    return Template(_PAGE).substitute(
        title=escape(title),
        caption=escape(caption),
        meta="".join(entries),
        page_css=_PAGE_CSS,
        data=data,
        file=json.dumps(file).replace("<", "\\u003c"),
        mount=_MOUNT,
        **source,
    )
