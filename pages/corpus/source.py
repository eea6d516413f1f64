"""Choosing the sentences: the built-in treebank, or the visitor's own data."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.corpus.reading import built_in
from analysis.corpus.sentences import Corpus
from web.process import kept


@dataclass(frozen=True, slots=True)
class Source:
    """``fingerprint`` tells this corpus from any other; ``own`` says that it is the visitor's, and not in the link."""

    corpus: Corpus
    fingerprint: str
    own: bool


def draw() -> Source:
    """The controls, and what they hold. Raises InvalidInput."""
    return Source(_built_in("built in"), "built in", own=False)


@kept(most=2, key=lambda fingerprint: fingerprint)
def _built_in(_fingerprint: str) -> Corpus:
    corpus = built_in()
    corpus.find_rare()
    return corpus
