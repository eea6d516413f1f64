"""The glossary as HTML: each term, what it means, who named it, and where in the app one meets it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

from ui import Page, address
from ui.glossary import TERMS, Term

Places = Mapping[str, Sequence[tuple[str, str]]]
"""By the name of a term in lower case, the places that are about it: how each is called, and its address."""


def places(pages: Iterable[Page[Any]]) -> Places:
    """Where in the app each term is looked into or explained."""
    by_term: dict[str, list[tuple[str, str]]] = {}
    for page in pages:
        for mention in page.mentions():
            where = f"{page.name}?{urlencode(address.link(page.name, **mention.values))}"
            for name in mention.terms:
                by_term.setdefault(name.lower(), []).append((f"{page.title}: {mention.label}", where))
    return by_term


def matching(typed: str) -> list[Term]:
    """The terms whose name holds what was typed, the same one first, then by their meaning; all for nothing typed."""
    wanted = " ".join(typed.lower().split())
    named = [term for name, term in TERMS.items() if wanted in name]
    named.sort(key=lambda term: term.name.lower() != wanted)
    by_meaning = [term for term in TERMS.values() if wanted in term.meaning.lower() and term not in named]
    return named + by_meaning


def listed(terms: Iterable[Term], where: Places) -> str:
    """The terms in the order given, as a list of definitions."""
    return f'<dl class="glossary">{"".join(_entry(term, where.get(term.name.lower(), ())) for term in terms)}</dl>'


def _entry(term: Term, where: Sequence[tuple[str, str]]) -> str:
    source = f'<dd class="source">{escape(str(term.source))}</dd>' if term.source else ""
    links = [f'<a href="{escape(address)}" target="_blank">{escape(label)}</a>' for label, address in where]
    seen = f'<dd class="where">{" · ".join(links)}</dd>' if links else ""
    name = term.name[0].upper() + term.name[1:]
    return f"<dt>{escape(name)}</dt><dd>{escape(term.meaning)}</dd>{source}{seen}"
