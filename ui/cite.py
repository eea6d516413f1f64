"""How to cite what is on the screen: which model in which revision, computed by which version of the app, on which day,
and the link that restores it; as BibTeX and as text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final
from urllib.parse import urlsplit

import streamlit as st

from web import local_network

APP: Final = "Inside BERT"
_SPECIAL: Final = re.compile(r"[\\{}$&#^_~%]")
_ESCAPED: Final = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


@dataclass(frozen=True, slots=True)
class Citation:
    """``models`` are ids and their revisions. Of a ``link`` that leads to the reader's own machine what stands behind
    its name is cited, which restores the view in any copy of the app.
    """

    page: str
    view: str
    models: Mapping[str, str]
    version: str
    day: date
    link: str

    @property
    def _view_name(self) -> str:
        return ": ".join(filter(None, (self.page, self.view)))

    @property
    def _models(self) -> list[str]:
        return [f"{model} (revision {revision})" for model, revision in self.models.items()]

    @property
    def _inside(self) -> str:
        """What restores the view in a copy of the app, where nobody else reaches the machine of the link; else ""."""
        link = urlsplit(self.link)
        if not local_network.is_loopback(link.hostname or ""):
            return ""
        return f"in the app: {link.path}?{link.query}".rstrip("?")

    def text(self) -> str:
        """One sentence after the other, as in a list of references."""
        parts = [f"{APP} {self.version} ({self.day.year}). {self._view_name}."]
        if self.models:
            parts.append(f"{'Model' if len(self.models) == 1 else 'Models'}: {', '.join(self._models)}.")
        parts.append(f"Computed on {self.day.isoformat()}{f', {self._inside}' if self._inside else ''}.")
        parts.append("" if self._inside else self.link)
        return " ".join(parts).rstrip()

    def bibtex(self) -> str:
        """An entry that BibTeX and biblatex read; ``key`` sorts it, because there is no author."""
        name = "-".join(re.findall(r"[a-z0-9]+", f"inside bert {self._view_name} {self.day.isoformat()}".lower()))
        fields = {
            "title": _latex(f"{APP}: {self._view_name}"),
            "key": APP,
            "year": str(self.day.year),
            "version": _latex(self.version),
            "howpublished": _latex(f"{APP} {self.version}"),
            "note": _latex(
                "; ".join([*self._models, f"computed on {self.day.isoformat()}", *filter(None, [self._inside])])
            ),
        }
        if self.link and not self._inside:
            fields["url"] = self.link
            fields["urldate"] = self.day.isoformat()
        lines = ",\n".join(f"  {field} = {{{value}}}" for field, value in fields.items())
        return f"@misc{{{name},\n{lines}\n}}\n"


def _latex(text: str) -> str:
    """A text with what means something to LaTeX written out."""
    return _SPECIAL.sub(lambda sign: _ESCAPED.get(sign[0], f"\\{sign[0]}"), text)


def today() -> date:
    """The day in UTC, by which a citation is dated."""
    return datetime.now(UTC).date()


def show(citation: Citation) -> None:
    """Both, each to be copied by one click."""
    st.code(citation.bibtex(), language=None, wrap_lines=True)
    st.code(citation.text(), language=None, wrap_lines=True)
