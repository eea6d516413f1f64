"""The glossary: what each term means, in a sentence or two, and where it comes from.

In texts a term stands in double brackets: ``[[softmax]]``, or ``[[shares|softmax]]`` where it is shown as another word.
``link_terms`` makes of it a word with a dotted line, which says what it means if one points at it, and opens the page
of the glossary. A term is added as a line of ``glossary.tsv``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from ui.messages import as_text
from ui.sources import SOURCES, Source
from viz.layout import clipped

_QUOTED: Final = 300  # characters of what was typed that a sentence repeats


@dataclass(frozen=True, slots=True)
class Term:
    """``name`` is how it is written in the middle of a sentence."""

    name: str
    meaning: str
    source: Source | None


def _read() -> dict[str, Term]:
    with (Path(__file__).parent / "glossary.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {
        row["term"].lower(): Term(row["term"], row["meaning"], SOURCES[row["source"]] if row["source"] else None)
        for row in rows
    }


TERMS: Final[dict[str, Term]] = _read()
"""All terms by their names in lower case, in alphabetical order."""

_TERM = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]\]")


def link_terms(text: str) -> str:
    """Markdown in which terms can be pointed at. Raises KeyError for a term that is not in the glossary."""
    return _TERM.sub(lambda term: term_html(term[1], term[2] or term[1]), text)


def link(words: str, name: str = "") -> str:
    """HTML of a link to the page of the glossary, or to a term there; in a tab of its own, so that no place is lost."""
    term = f"?{urlencode({'term': name.lower()})}" if name else ""
    return f'<a href="glossary{term}" target="_blank">{words}</a>'


def term_html(words: str, name: str) -> str:
    """HTML of a word that can be pointed at, with what the term means. Raises KeyError for an unknown term."""
    term = TERMS[name.lower()]
    meaning = f'<span class="said" role="note">{as_text(escape(term.meaning))} {link("Glossary", term.name)}</span>'
    return f'<span class="term" role="term" aria-label="{escape(words)}" tabindex="0">{words}{meaning}</span>'


def list_terms(names: Iterable[str]) -> str:
    """HTML of terms that can be pointed at, with commas between them."""
    return ", ".join(term_html(TERMS[name.lower()].name, name) for name in names)


def strip_terms(text: str) -> str:
    """The same text without marks, for where nothing can be pointed at."""
    return _TERM.sub(lambda term: term[1], text)


def terms(text: str) -> list[str]:
    """The terms that a text marks, by their names in lower case."""
    return [(term[2] or term[1]).lower() for term in _TERM.finditer(text)]


def quote(text: str) -> str:
    """What a visitor typed, in quotation marks, as it is: it must not turn into formatting or terms. Of a text as long
    as a page the beginning says which it is, and the question below it stays on the screen.
    """
    return f"“{as_text(clipped(text, _QUOTED))}”"
