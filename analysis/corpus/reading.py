"""A corpus from what was read of files; and lists of word frequencies. What cannot be used is left out and noted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np
import regex

from analysis.corpus.sentences import NO_HEAD, Corpus, alike
from analysis.probing.template_trees import template_conllu
from analysis.probing.trees import flaw
from model_zoo.errors import InvalidInput
from reading.data import Choices, Data, Notes, Row
from reading.formats.conllu import MAX_WORDS
from reading.items import ParsedSentence, PlainSentence
from reading.reader import MAX_BYTES, Stream
from reading.sentences import plain_words
from reading.text import Text, check_size, first_few, number

MAX_SENTENCES: Final = 200_000
MAX_FREQUENCIES: Final = 500_000
# Of parts of speech and relations there are some dozens; the columns of the corpus hold up to 65,535.
MAX_LABELS: Final = 1_000

_MAX_CHARACTERS: Final = 100_000  # of a sentence: what models read at most

# What no tokenizer reads; and control characters that are white space, which end lines and pages.
UNREADABLE = regex.compile(r"(?V1)[[\p{Cs}\p{Cc}]--[\t\n\r]]")
_BLANKS = str.maketrans(dict.fromkeys("\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85", " "))


def read_corpus(
    files: Sequence[tuple[str, bytes]], max_bytes: int = MAX_BYTES, choices: Choices | None = None
) -> Corpus:
    """The sentences of files, each (name, bytes), in their order, as ``reading`` finds them.

    A sentence that occurs again is left out. Of a treebank, sentences whose heads form no tree keep their words. Raises
    InvalidInput for what is malformed, beyond ``max_bytes`` (of all files together, packed and unpacked) or without a
    sentence.
    """
    stream = Stream(files, "sentences", choices or Choices(), max_bytes)
    builder = _Builder(stream.notes)
    for row in stream:
        if len(builder.corpus) >= MAX_SENTENCES:
            unread = [name for name, _ in files if not any(begun.startswith(name) for begun in stream.notes.names)]
            rest = f" Not read at all: {first_few(unread)}." if unread else ""
            stream.notes.say(f"Only the first {MAX_SENTENCES:,} sentences are read.{rest}")
            break
        builder.add(row)
    corpus = builder.corpus
    corpus.files = stream.notes.names
    corpus.report = stream.report(len(corpus))
    return corpus


def corpus_of(data: Data) -> Corpus:
    """The sentences that were read of a file (of kind "sentences"), as ``read_corpus`` takes them."""
    notes = Notes()
    notes.names.append(data.name)
    builder = _Builder(notes)
    for item, line in zip(data.items, data.lines, strict=True):
        builder.add(Row(item, line))
    builder.corpus.files = notes.names
    builder.corpus.report = replace(
        data.report,
        n_items=len(builder.corpus),
        notes=(*data.report.notes, *notes.remarks()),
        left_out=dict(data.report.left_out) | notes.left_out(),
    )
    return builder.corpus


@cache
def built_in(n: int = 1000) -> Corpus:
    """Sentences with their trees and frames that templates of this project make. For everybody: not to be added to."""
    corpus = read_corpus([("template-trees.conllu", template_conllu(n).encode())])
    corpus.find_frames()
    return corpus


def sampled(corpus: Corpus, n: int, seed: int) -> Corpus:
    """At most ``n`` sentences, drawn by the seed, in their order."""
    if len(corpus) <= n:
        return corpus
    return corpus.subset(np.sort(np.random.default_rng(seed).choice(len(corpus), n, replace=False)).tolist())


def read_frequencies(name: str, data: bytes) -> dict[str, float]:
    """How often words occur, by the words in small letters, from lines with a word and a number.

    Tab, comma, semicolon, bar or space between them, the number first or second; other columns and a first line
    without a number are passed over, and a word that occurs again is added up. Raises InvalidInput.
    """
    text = Text.decode(check_size(data, name, MAX_BYTES), name)
    separator = next((sign for sign in "\t;|," if sign in text.first_line), None)
    frequencies: dict[str, float] = {}
    for place, line in text.numbered():
        cells = [cell.strip().strip('"') for cell in line.split(separator)]
        if not any(cells):
            continue
        pair = cells[:2] if len(cells) > 1 else ["", ""]
        often = number(pair[1])
        if often is None and pair[1]:
            pair.reverse()
            often = number(pair[1])
        if often is None and not frequencies and len(cells) > 1 and place == 1:
            continue  # the columns' names
        if often is None or often < 0 or not pair[0]:
            raise InvalidInput(
                f"{name}, line {place}: “{line.strip()[:40]}” is not a word and how often it occurs. "
                "Write one word and its number on each line."
            )
        word = pair[0].casefold()
        frequencies[word] = frequencies.get(word, 0.0) + often
        if len(frequencies) > MAX_FREQUENCIES:
            raise InvalidInput(f"{name} has more than {MAX_FREQUENCIES:,} words. Keep the most frequent ones.")
    if not frequencies:
        raise InvalidInput(f"{name} has no word with a number. Write one word and its number on each line.")
    return frequencies


class _Builder:
    """A corpus while it is read."""

    def __init__(self, notes: Notes) -> None:
        self.corpus = Corpus()
        self._notes = notes
        self._texts: set[str] = set()
        self._alike: set[int] = set()  # by hashes, which are smaller than texts
        self._document, self._begun = 0, (0, 0)  # the number of the last document, its file and its place in this

    def add(self, row: Row) -> None:
        if isinstance(row.item, ParsedSentence):
            self._add_parsed(row.item, row)
        elif isinstance(row.item, PlainSentence):
            self._add_plain(row.item.text, row)

    def _new(self, text: str, n_words: int, line: int) -> bool:
        """Whether a sentence is one to keep; notes why where it is not."""
        if n_words > MAX_WORDS or len(text) > _MAX_CHARACTERS:
            reason = f"sentences of more than {MAX_WORDS:,} words or {_MAX_CHARACTERS:,} characters"
        elif UNREADABLE.search(text):
            reason = "sentences with control characters, which no tokenizer can read"
        elif not n_words:
            reason = "sentences without a word that has characters of its own"
        elif text in self._texts:
            reason = "sentences that had come before"
        else:
            self._texts.add(text)
            key = hash(alike(text))
            if key in self._alike:
                self._notes.note(
                    "Only case or spaces tell some sentences from earlier ones; unless halves are of documents, these "
                    "stay in one half",
                    line,
                )
            self._alike.add(key)
            return True
        self._notes.leave_out(reason, line)
        return False

    def _document_at(self, file: int, place: int = 0) -> int:
        """The number among all of the document of a sentence: one begins with each file, and where a treebank says."""
        self._document += (file, place) != self._begun
        self._begun = file, place
        return self._document

    def _add_plain(self, sentence: str, row: Row) -> None:
        cleaned = sentence.translate(_BLANKS).strip()
        spans = plain_words(cleaned) if len(cleaned) <= _MAX_CHARACTERS else []
        if cleaned and self._new(cleaned, len(spans), row.line):
            self.corpus.add(cleaned, spans, source=(row.file, row.line), document=self._document_at(row.file))

    def _add_parsed(self, sentence: ParsedSentence, row: Row) -> None:
        if not self._new(sentence.text, len(sentence.spans), row.line):
            return
        problem = flaw(sentence.all_heads)
        heads = (NO_HEAD,) * len(sentence.spans) if problem else sentence.heads
        if problem:
            self._notes.note(f"Without a tree, but with all words, because of {problem}", row.line)
        elif NO_HEAD in heads:
            n = heads.count(NO_HEAD)
            self._notes.note("Words whose head is left out, so that they count as without one", row.line, n)
        self.corpus.add(
            sentence.text,
            sentence.spans,
            [upos or "_" for upos in sentence.upos],
            ["_" if problem else deprel.partition(":")[0] or "_" for deprel in sentence.deprel],
            heads,
            (row.file, row.line),
            document=self._document_at(row.file, sentence.document),
        )
        if self.corpus.n_labels > MAX_LABELS:
            raise InvalidInput(
                f"{self._notes.names[-1]}, line {row.line:,}: up to here there are more than {MAX_LABELS:,} different "
                "parts of speech and relations. Check the fourth and the eighth column."
            )
