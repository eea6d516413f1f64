"""Words to look for in a corpus: by how they are written, by part of speech or relation, or as a token of a model."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

import numpy as np

from analysis.corpus.sentences import Corpus, Sentence
from model_zoo.errors import InvalidInput
from model_zoo.types import BoolArray, Encoding

Kind = Literal["word", "piece", "upos", "deprel"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

_NAMES: Final[Mapping[Kind, str]] = {
    "word": "a word",
    "piece": "a token",
    "upos": "a part of speech, such as NOUN",
    "deprel": "a relation, such as nsubj",
}
_LONGEST: Final = 200  # characters
_MARKS: Final = ("##", "Ġ", "▁")  # before a token of WordPiece, of byte-level BPE, of SentencePiece

_SEED: Final = 35


@dataclass(frozen=True, slots=True)
class Pattern:
    """Words of one ``kind``; ``values`` are alternatives, each in the one form in which it is compared.

    Words are compared ignoring case, parts of speech in capitals, relations by their universal part ("nsubj" for
    "nsubj:pass"), tokens exactly as the tokenizer writes them ("##ing", "[SEP]"). Made by ``parsed`` from what somebody
    typed. Raises InvalidInput where there is nothing to look for.
    """

    kind: Kind
    values: tuple[str, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InvalidInput(f"There is no kind of word {self.kind!r}. Choose {', '.join(KINDS)}.")
        forms = tuple(dict.fromkeys(_form(self.kind, value) for value in self.values))
        if not all(forms) or not forms:
            raise InvalidInput(f"Type {_NAMES[self.kind]} to look for.")
        object.__setattr__(self, "values", forms)

    @classmethod
    def parsed(cls, kind: Kind, text: str) -> Pattern:
        """A pattern from what was typed: alternatives with commas between them; a comma alone is the comma itself."""
        if len(text) > _LONGEST:
            raise InvalidInput(f"At most {_LONGEST} characters can be looked for. Type fewer.")
        values = [part.strip() for part in text.split(",")]
        return cls(kind, tuple(filter(None, values)) or (text.strip(),))

    def __str__(self) -> str:
        """As it is written in a sentence: “it” or “she”."""
        quoted = [value if self.kind in ("upos", "deprel") else f"“{value}”" for value in self.values]
        return " or ".join(quoted)

    @property
    def of_words(self) -> bool:
        """Whether it is about words of a sentence, not about tokens of a model."""
        return self.kind != "piece"

    def words(self, sentence: Sentence) -> list[int]:
        """The places of the words that match, none for a pattern of tokens."""
        match self.kind:
            case "word":
                words = [word.casefold() for word in sentence.words]
            case "upos" | "deprel":
                words = list(getattr(sentence, self.kind))
            case "piece":
                return []
        return [place for place, value in enumerate(words) if value in self.values]

    def tokens(self, encoding: Encoding) -> list[int]:
        """The places of the tokens that match, none for a pattern of words."""
        if self.of_words:
            return []
        return [place for place, token in enumerate(encoding.tokens) if token in self.values]

    def sentences(self, corpus: Corpus) -> BoolArray:
        """Which sentences of a corpus can match at all, (sentences,): all that do, and for words and tokens some more.
        Looks at columns and texts alone.
        """
        match self.kind:
            case "upos" | "deprel":
                return corpus.with_label(self.kind, self.values)
            case "word":
                return np.array([any(value in text.casefold() for value in self.values) for text in corpus.texts], bool)
            case "piece":
                signs = [_signs(value) for value in self.values]
                if not all(signs):
                    return np.ones(len(corpus), dtype=bool)
                return np.array([any(sign in _plain(text) for sign in signs) for text in corpus.texts], bool)


def may_match(corpus: Corpus, query: Pattern, key: Pattern) -> tuple[int, ...]:
    """The numbers of the sentences that can hold both, in a random order: the first of them are a fair sample."""
    numbers = np.flatnonzero(query.sentences(corpus) & key.sentences(corpus))
    shuffled: list[int] = np.random.default_rng(_SEED).permutation(numbers).tolist()
    return tuple(shuffled)


def _form(kind: Kind, value: str) -> str:
    match kind:
        case "word":
            return value.strip().casefold()
        case "upos":
            return value.strip().upper()
        case "deprel":
            return value.strip().lower().partition(":")[0]
        case "piece":
            return value.strip()


def _signs(token: str) -> str:
    """What a text must hold for a token to be in it, ignoring case and accents; "" where that cannot be told."""
    for mark in _MARKS:
        token = token.removeprefix(mark)
    token = token.removesuffix("</w>").casefold()
    return token if token.isascii() and token.isalnum() else ""


def _plain(text: str) -> str:
    """A text in small letters without accents, as tokenizers may read it."""
    if text.isascii():
        return text.lower()
    return "".join(sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))
