"""The terms of the lessons: what each means, in a sentence or two, shown where one points at it.

In the texts of lessons a term stands in double brackets: ``[[softmax]]``, or ``[[shares|softmax]]`` where it is shown
as another word.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final

from ui.messages import as_text

TERMS: Final[dict[str, str]] = {
    "token": "A piece of text that the model has a vector for: a word, a part of one, or a sign.",
}

_TERM = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]\]")


def worded(text: str) -> str:
    """Markdown in which terms can be pointed at. Raises KeyError for a term that is not in the glossary."""

    def term(found: re.Match[str]) -> str:
        shown, name = found[1], (found[2] or found[1]).lower()
        said = escape(TERMS[name])
        return f'<span class="term" tabindex="0">{shown}<span class="said" role="note">{as_text(said)}</span></span>'

    return _TERM.sub(term, text)


def plain(text: str) -> str:
    """The same text without marks, for where nothing can be pointed at."""
    return _TERM.sub(lambda found: found[1], text)


def terms(text: str) -> list[str]:
    """The terms that a text marks, by their names."""
    return [(found[2] or found[1]).lower() for found in _TERM.finditer(text)]


def quoted(text: str) -> str:
    """What a visitor typed, in quotation marks, as it is: it must not turn into formatting or terms."""
    return f"“{as_text(text)}”"
