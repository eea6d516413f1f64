"""A corpus: sentences with their words, where there are some with their trees, and how rare each word is.

A ``Corpus`` keeps its words in columns, so that 100,000 sentences take some 30 MB; a ``Sentence`` is made when one is
asked for, and is what travels in questions.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from model_zoo.types import BoolArray, IntArray, Shows, counted
from reading.data import Report
from reading.items import NO_HEAD as NO_HEAD
from reading.items import ROOT as ROOT

Label = Literal["upos", "deprel"]
Unit = Literal["frame", "document", "sentence"]

FEWEST_DOCUMENTS: Final = 20
"""Documents below which a corpus is halved by sentences: halves of few documents differ in what they are about."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of m words.

    ``number`` is its place in the corpus. ``spans`` are the characters of each word in ``text``, ``upos`` its part of
    speech ("_" where none is given), ``deprel`` the universal part of its relation ("nsubj"; "_" for none), and
    ``heads`` the place of its head among the words: ``ROOT`` (-1), or ``NO_HEAD`` (-2). ``rare`` are the places of the
    rarest word by the corpus' own counts and by a list of frequencies; None where there is none. ``coreference`` are
    the places of a pronoun, of its antecedent and of a noun that it does not mean. ``frame`` is the number of what it
    was made from by templates, with others; None where it is by itself. ``together`` is the number of its document, or
    of the first sentence that it is ``alike``, where ``Corpus.unit`` is that.
    """

    number: int
    text: str
    spans: tuple[tuple[int, int], ...] = field(repr=False)
    upos: tuple[str, ...] = field(repr=False)
    deprel: tuple[str, ...] = field(repr=False)
    heads: tuple[int, ...] = field(repr=False)
    rare: tuple[int | None, int | None] = (None, None)
    coreference: tuple[int, int, int] | None = None
    frame: int | None = None
    together: int | None = None

    @property
    def unit(self) -> int:
        """What halves are made of and intervals resample: the number of its frame or document, or its own."""
        together = self.frame if self.together is None else self.together
        return self.number if together is None else together

    def __len__(self) -> int:
        return len(self.spans)

    @property
    def words(self) -> tuple[str, ...]:
        """The words as they are written."""
        return tuple(self.text[start:end] for start, end in self.spans)


_FILLED_IN: Final = ("det", "amod", "advmod", "punct")


def alike(text: str) -> str:
    """What texts that differ only in case, spaces or the form of their characters have in common."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def is_judged(units: npt.ArrayLike, seed: int = 0) -> BoolArray:
    """Which units, by their numbers (n,), are of the half on which heads are judged, not of that on which they are
    chosen: five of every ten with numbers one after the other. By number and seed alone, so that all parts of a corpus
    are halved alike.
    """
    numbers = np.asarray(units, dtype=np.int64)
    drawn = np.random.default_rng(seed).random((numbers.max(initial=0) // 10 + 1, 10))
    return np.asarray((drawn <= np.sort(drawn)[:, 4:5]).reshape(-1)[numbers])


@dataclass(slots=True, repr=False)
class Corpus(Shows):
    """Sentences in their order. ``report`` says how they were read and what was left out; None where nothing was read.

    ``files`` are the names of what was read; ``sources`` is for each sentence its file's place among them and the line
    where it begins.
    """

    texts: list[str] = field(default_factory=list, repr=False)
    files: list[str] = field(default_factory=list)
    report: Report | None = field(default=None, repr=False)
    sources: array[int] = field(default_factory=lambda: array("i"), repr=False)  # two numbers a sentence
    _ends: array[int] = field(default_factory=lambda: array("q", [0]), repr=False)  # words before each sentence's end
    _spans: array[int] = field(default_factory=lambda: array("i"), repr=False)  # two numbers a word
    _upos: array[int] = field(default_factory=lambda: array("H"), repr=False)
    _deprel: array[int] = field(default_factory=lambda: array("H"), repr=False)
    _heads: array[int] = field(default_factory=lambda: array("h"), repr=False)
    _labels: dict[str, int] = field(default_factory=dict, repr=False)
    _names: list[str] = field(default_factory=list, repr=False)
    _coreference: dict[int, tuple[int, int, int]] = field(default_factory=dict, repr=False)
    _rare: tuple[array[int], array[int]] | None = field(default=None, repr=False)
    _counts: Counter[str] | None = field(default=None, repr=False)
    _frames: array[int] | None = field(default=None, repr=False)
    _documents: array[int] = field(default_factory=lambda: array("i"), repr=False)  # of each sentence its number
    _together: array[int] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        files = f" of {', '.join(self.files)}" if self.files else ""
        return f"<Corpus {counted(len(self), 'sentence')}{files}>"

    def to_frame(self) -> pd.DataFrame:
        """One row a sentence: sentence (its number), words (how many), text, file and line where it begins."""
        files, lines = self.sources[::2], self.sources[1::2]
        return pd.DataFrame(
            {
                "sentence": range(len(self)),
                "words": np.diff(self._ends),
                "text": self.texts,
                "file": [self.files[place] if self.files else "" for place in files],
                "line": np.array(lines),
            }
        )

    def add(
        self,
        text: str,
        spans: Sequence[tuple[int, int]],
        upos: Sequence[str] = (),
        deprel: Sequence[str] = (),
        heads: Sequence[int] = (),
        source: tuple[int, int] = (0, 0),
        coreference: tuple[int, int, int] | None = None,
        document: int = 0,
    ) -> None:
        """Append a sentence; what it lacks is filled in. Raises ValueError where columns differ in length."""
        m = len(spans)
        if any(len(column) not in (0, m) for column in (upos, deprel, heads)):
            raise ValueError(f"a sentence of {m} words has as many parts of speech, relations and heads, or none")
        if coreference is not None:
            self._coreference[len(self.texts)] = coreference
        self.texts.append(text)
        self.sources.extend(source)
        self._documents.append(document)
        for span in spans:
            self._spans.extend(span)
        self._upos.extend(self._label(name) for name in (upos or ["_"] * m))
        self._deprel.extend(self._label(name) for name in (deprel or ["_"] * m))
        self._heads.extend(heads or [NO_HEAD] * m)
        self._ends.append(len(self._heads))
        self._rare = self._counts = self._frames = self._together = None

    def _label(self, name: str) -> int:
        if name not in self._labels:
            self._labels[name] = len(self._names)
            self._names.append(name)
        return self._labels[name]

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out of the data and why, in sentences for the screen."""
        return () if self.report is None else self.report.remarks

    @property
    def n_labels(self) -> int:
        """How many different parts of speech and relations there are, with "_"."""
        return len(self._names)

    @property
    def has_trees(self) -> bool:
        """Whether any word has a head."""
        return self._heads.count(NO_HEAD) < len(self._heads)

    @property
    def n_words(self) -> int:
        return len(self._heads)

    def labels(self, kind: Label) -> Counter[str]:
        """How often each part of speech or relation occurs; "_" is not one."""
        counts = np.bincount(np.array(getattr(self, f"_{kind}")), minlength=len(self._names))
        return Counter({name: int(n) for name, n in zip(self._names, counts, strict=True) if n and name != "_"})

    def with_label(self, kind: Label, names: Collection[str]) -> BoolArray:
        """Which sentences hold a word with one of these parts of speech or relations, (sentences,)."""
        wanted = [self._labels[name] for name in names if name in self._labels]
        before = np.concatenate([[0], np.cumsum(np.isin(np.array(getattr(self, f"_{kind}")), wanted))])
        return np.diff(before[np.array(self._ends)]) > 0

    def lengths(self) -> IntArray:
        """The number of words of each sentence."""
        return np.diff(np.array(self._ends))

    def sentence(self, number: int) -> Sentence:
        """The sentence at a place, from 0."""
        first, end = self._ends[number], self._ends[number + 1]
        spans = self._spans[2 * first : 2 * end]
        return Sentence(
            number=number,
            text=self.texts[number],
            spans=tuple(zip(spans[::2], spans[1::2], strict=True)),
            upos=tuple(self._names[label] for label in self._upos[first:end]),
            deprel=tuple(self._names[label] for label in self._deprel[first:end]),
            heads=tuple(self._heads[first:end]),
            rare=(None, None)
            if self._rare is None
            else tuple(  # type: ignore[arg-type]
                place if place >= 0 else None for place in (self._rare[0][number], self._rare[1][number])
            ),
            coreference=self._coreference.get(number),
            frame=None if self._frames is None else self._frames[number],
            together=None if self._frames is not None else self._find_together()[number],
        )

    def __iter__(self) -> Iterator[Sentence]:
        return map(self.sentence, range(len(self)))

    def take(self, numbers: Iterable[int]) -> tuple[Sentence, ...]:
        """The sentences at these places."""
        return tuple(map(self.sentence, numbers))

    def subset(self, numbers: Sequence[int]) -> Corpus:
        """The sentences at these places, numbered anew; words count as often there as here."""
        part = Corpus(files=self.files, report=self.report)
        for number in numbers:
            sentence = self.sentence(number)
            source = self.sources[2 * number], self.sources[2 * number + 1]
            part.add(
                sentence.text,
                sentence.spans,
                sentence.upos,
                sentence.deprel,
                sentence.heads,
                source,
                sentence.coreference,
                self._documents[number],
            )
        counts = self.counts
        part._counts = Counter({word: counts[word] for word in part.counts})
        if self._frames is not None:
            part._frames = array("i", (self._frames[number] for number in numbers))
        return part

    def where(self, number: int) -> str:
        """The file and the line of a sentence, for the screen."""
        file, line = self.sources[2 * number : 2 * number + 2]
        return f"{self.files[file]}, line {line}" if self.files else f"line {line}"

    @property
    def counts(self) -> Counter[str]:
        """How often each word occurs, ignoring case."""
        if self._counts is None:
            counts: Counter[str] = Counter()
            for number, text in enumerate(self.texts):
                for place in range(self._ends[number], self._ends[number + 1]):
                    counts[text[self._spans[2 * place] : self._spans[2 * place + 1]].casefold()] += 1
            self._counts = counts
        return self._counts

    @property
    def unit(self) -> Unit:
        """What halves are made of, and intervals of relations resample: frames where templates made the sentences, else
        documents where there are ``FEWEST_DOCUMENTS``, else sentences, of which those that are ``alike`` are one.
        """
        if self._frames is not None:
            return "frame"
        return "sentence" if len(set(self._documents)) < FEWEST_DOCUMENTS else "document"

    @property
    def n_units(self) -> int:
        """How many such units there are."""
        return len(set(self._find_together() if self._frames is None else self._frames))

    def _find_together(self) -> array[int]:
        """Of each sentence the number of its document or of the first one like it."""
        if self._together is None:
            first: dict[str, int] = {}
            alike_to = (first.setdefault(alike(text), at) for at, text in enumerate(self.texts))
            self._together = self._documents if self.unit == "document" else array("i", alike_to)
        return self._together

    def find_frames(self) -> None:
        """Note of each sentence from which frame templates made it: the relations of its words in their order, but for
        determiners, adjectives, adverbs and punctuation.
        """
        number: dict[tuple[str, ...], int] = {}
        frames = array("i")
        for sentence in self:
            frame = tuple(deprel for deprel in sentence.deprel if deprel not in _FILLED_IN)
            frames.append(number.setdefault(frame, len(number)))
        self._frames = frames

    def find_rare(self, frequencies: Mapping[str, float] | None = None) -> None:
        """Note in each sentence its rarest word: by the corpus' own counts, and by a list of ``frequencies`` (of words
        in small letters; a word that is not in it is rarer than all that are). Only words of letters count; of words
        equally rare it is the first. A sentence of which two are not told apart, because all are alike, has none.
        """
        rarest_words = array("i"), array("i")
        for number, text in enumerate(self.texts):
            words: list[tuple[int, str]] = []
            for place in range(self._ends[number], self._ends[number + 1]):
                word = text[self._spans[2 * place] : self._spans[2 * place + 1]].casefold()
                if any(map(str.isalpha, word)):
                    words.append((place - self._ends[number], word))
            for of_list, counts in zip(rarest_words, (self.counts, frequencies), strict=True):
                if counts is None:
                    of_list.append(-1)
                    continue
                often = [counts.get(word, 0) for _, word in words]
                rarest = min(range(len(often)), key=often.__getitem__) if len(set(often)) > 1 else None
                of_list.append(-1 if rarest is None else words[rarest][0])
        self._rare = rarest_words
