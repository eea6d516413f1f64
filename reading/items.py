"""What files hold for each kind of data: small immutable items, made of text and numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

NO_HEAD = -2
"""The head of a word whose head is not known, or has no characters of its own."""
ROOT = -1


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text, or a pair of texts, and its label (classification).

    ``cluster`` is the same for items that are no independent ones, as those that one template made: intervals count
    them together. "" where an item stands for itself, as in uploaded data.
    """

    text: str
    pair: str | None
    label: str
    cluster: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Tagged:
    """The words of a sentence and a tag for each (tagging). The text is the words with spaces between."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    cluster: str = field(default="", compare=False)

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def pair(self) -> None:
        return None

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Characters [start, end) of each word in the text."""
        spans, start = [], 0
        for word in self.words:
            spans.append((start, start + len(word)))
            start += len(word) + 1
        return tuple(spans)


@dataclass(frozen=True, slots=True)
class PassageQuestion:
    """A question (``text``) on a passage (``pair``) and its accepted answers: (first character, text). There are none
    where the passage does not answer the question (answering).
    """

    text: str
    pair: str
    answers: tuple[tuple[int, str], ...]
    cluster: str = field(default="", compare=False)

    @property
    def question(self) -> str:
        return self.text

    @property
    def context(self) -> str:
        return self.pair


@dataclass(frozen=True, slots=True)
class Scored:
    """Two texts and how alike they are in meaning (similarity), on the scale of the file."""

    text: str
    pair: str
    score: float
    cluster: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """A right sentence and a wrong one; ``phenomenon`` and the ``paradigm`` within it are "" where a file has none."""

    good: str
    bad: str
    phenomenon: str = ""
    paradigm: str = ""


@dataclass(frozen=True, slots=True)
class SentencePair:
    """Two sentences, and whether B follows A; None where a file does not say."""

    a: str
    b: str
    label: bool | None


@dataclass(frozen=True, slots=True)
class PlainSentence:
    """A sentence without a tree."""

    text: str


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A sentence of a treebank, with its m words that have characters of their own, and the heads of all k words.

    ``spans`` are the characters of each word in ``text``, ``numbers`` its place among all words, from 1, ``upos`` its
    part of speech and ``deprel`` its relation, as written ("_" for none). ``all_heads`` (k,) are the places of the
    heads among all words, from 0; ``ROOT``, and None where none is given. ``document`` is which of its file's documents
    it is of, from 1; 0 before the first.
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    numbers: tuple[int, ...]
    upos: tuple[str, ...]
    deprel: tuple[str, ...]
    all_heads: tuple[int | None, ...]
    document: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        """The words as they are written."""
        return tuple(self.text[start:end] for start, end in self.spans)

    @property
    def heads(self) -> tuple[int, ...]:
        """The place of each word's head among the words: ``ROOT``, or ``NO_HEAD``."""
        place = {number - 1: at for at, number in enumerate(self.numbers)} | {ROOT: ROOT}
        heads = (self.all_heads[number - 1] for number in self.numbers)
        return tuple(NO_HEAD if head is None else place.get(head, NO_HEAD) for head in heads)


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A text with a pronoun, the noun that it means and another noun, each a word of the text or its number from 1.

    ``nouns`` and ``verb`` are words whose parts of speech are known, ``kind`` says what tells the nouns apart.
    """

    text: str
    pronoun: str
    antecedent: str
    distractor: str
    kind: str = ""
    nouns: str = ""
    verb: str = ""


Item = (
    Labelled | Tagged | PassageQuestion | Scored | MinimalPair | SentencePair | PlainSentence | ParsedSentence | Pronoun
)
