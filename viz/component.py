"""What the components share in Python: their files as one script and one stylesheet, and the form of their data."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from viz.layout import PAPER_FONT, PLAIN
from viz.palette import DARK, LIGHT, Theme

WIDTHS: Final = {"single": 85, "double": 175}  # mm, of the columns that journals have
SIZE: Final = 8  # pt, of type in a file
PIXELS: Final = 3  # of a PNG, a CSS pixel
FILES: Final = Path(__file__).parent / "components"

_INCLUDED: Final = re.compile(r"<!-- (\S+\.html) -->")
_IMPORT: Final = re.compile(r'^import (\{[^}]*\}) from "([^"]+)";\n', re.MULTILINE)
_COMMENT: Final = re.compile(r"^ *//.*\n", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)


def source(name: str, *, styles: tuple[str, ...] = ()) -> dict[str, str]:
    """``html``, ``css`` and ``js`` of a component, named as ``st.components.v2.component`` names them.

    They are its folder's files of its own name; in the markup a comment that is the path of another file stands for
    that file. ``styles`` are stylesheets of ``shared`` that come between the theme
    and its own.
    """
    sheets = [*(f"shared/{sheet}.css" for sheet in styles), f"{name}/{name}.css"]
    return {
        "html": _INCLUDED.sub(lambda match: text(match[1]), text(f"{name}/{name}.html")),
        "css": theme_css() + "".join(text(sheet) for sheet in sheets),
        "js": linked(FILES / name / f"{name}.js"),
    }


def text(file: str) -> str:
    """A file of ``components``, by its path in there."""
    return (FILES / file).read_text(encoding="utf-8")


def source_of(text: str) -> str:
    """A Content-Security-Policy source that allows exactly this inline script or style."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def theme_css() -> str:
    """The theme's stylesheet: Streamlit's colours; elsewhere light or dark, as the reader's system is set."""
    return (
        colours_css(LIGHT, "--own-")
        + f"@media (prefers-color-scheme: dark) {{\n{colours_css(DARK, '--own-')}}}\n"
        + text("shared/theme.css")
    )


def colours_css(theme: Theme, prefix: str = "--") -> str:
    """One theme's colours as custom properties, named after their roles as in ``shared/theme.css``."""
    return f".themed {{ {' '.join(f'{prefix}{role}: {colour};' for role, colour in asdict(theme).items())} }}\n"


def linked(entry: Path) -> str:
    """A module and all that it imports as one script, in which each keeps its names to itself, without comments.

    Streamlit mounts a single module, and a page that is one file has no other. Modules import by relative path,
    ``import { names } from "./file.js";``, export functions, classes and constants where they declare them, and do not
    import each other in a circle; a line that begins with ``//`` is a comment. The entry's own exports stay.
    """
    names: dict[Path, str] = {}
    parts: list[str] = []

    def resolved(module: Path) -> str:
        def imported(match: re.Match[str]) -> str:
            file = (module.parent / match[2]).resolve()
            if file not in names:
                body = resolved(file)
                names[file] = f"$module{len(names)}"
                parts.append(f"const {names[file]} = {_scope(body)};\n")
            return f"const {match[1]} = {names[file]};\n"

        return _IMPORT.sub(imported, _COMMENT.sub("", module.read_text(encoding="utf-8")))

    script = resolved(entry.resolve())
    return "".join([*parts, script])


def enclosed(entry: Path) -> str:
    """``linked`` as an expression whose value holds the entry's exports, for a place where other scripts stand, too."""
    return _scope(linked(entry), '"use strict";\n')


def _scope(script: str, first: str = "") -> str:
    exports = ", ".join(_EXPORT.findall(script))
    return f"(() => {{\n{first}{_EXPORT.sub('', script)}return {{ {exports} }};\n}})()"


def paper_look(theme: Theme, width: str = "double", size: float = SIZE) -> dict[str, Any]:
    """What a picture in a file is drawn for, as ``components/shared/saving.js`` has it: type of a size, pt."""
    pixels = WIDTHS[width] / 25.4 * 96
    scale = size * 96 / 72 / PLAIN
    return asdict(theme) | {"dark": theme == DARK, "font": PAPER_FONT, "scale": scale, "width": round(pixels)}


def pack(payload: Mapping[str, Any]) -> bytes:
    """A payload as Streamlit's ``data``: length of the JSON (uint32, little endian), the JSON, the ``weights``.

    Streamlit carries bytes as they are only where they are the whole of ``data``; bytes inside a dictionary
    would silently turn it into its ``str()``.
    """
    header = json.dumps({name: value for name, value in payload.items() if name != "weights"}).encode()
    packed: bytes = len(header).to_bytes(4, "little") + header + payload["weights"]
    return packed
