"""A corpus from files: plain text, tables, CoNLL-U, or a zip of them; and lists of word frequencies.

What a file is, its content tells first and its name second. What cannot be used is left out and told in the notes of
the corpus; what makes a file unusable raises InvalidInput with its name and the line.
"""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice, pairwise
from typing import Literal

import numpy as np
import regex

from analysis import files, progress, sentences
from analysis.corpus.sentences import NO_HEAD, ROOT, Corpus, alike, plain_words
from analysis.files import check_size, decoded, each_line
from analysis.probing import conllu
from analysis.probing.template_trees import template_conllu
from analysis.probing.trees import flaw
from model_zoo.errors import InvalidInput
from model_zoo.types import MB, counted

MAX_BYTES = 50 * MB
"""Of all files together, packed and unpacked, where nothing else is said."""
MAX_SENTENCES = 200_000
MAX_WORDS = conllu.MAX_WORDS
MAX_FILES = 1_000
MAX_FREQUENCIES = 500_000
# Of parts of speech and relations there are some dozens; the columns of the corpus hold up to 65,535.
MAX_LABELS = 1_000

_MAX_CHARACTERS = 100_000  # of a sentence: what models read at most
_PLACES_TOLD = 5
_LOOKED_AT = 20  # lines that tell CoNLL-U from other text
_TEXT_COLUMNS = ("text", "sentence")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_ZIP_ENTRY = b"PK\x01\x02"  # begins each entry of an archive's directory
_DEFLATED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_CLUTTER = ("__macosx", "thumbs.db", "desktop.ini")
# What Python's own reader raises for archives that are cut off or forged.
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError, OverflowError)

# Lines broken to a width: of those that another follows many go on in it, with a small letter, and most of these are
# nearly as long as the longest. Sentences on lines of their own differ in length.
_WRAPPED_LINES, _FEWEST, _SHARE, _NARROWEST, _WIDEST, _NEARLY, _MOST = 2_000, 3, 0.3, 40, 200, 0.7, 0.8

# What no tokenizer reads; and control characters that are white space, which end lines and pages.
_UNREADABLE = regex.compile(r"(?V1)[[\p{Cs}\p{Cc}]--[\t\n\r]]")
_BLANKS = str.maketrans(dict.fromkeys("\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85", " "))


def read_corpus(given: Sequence[tuple[str, bytes]], max_bytes: int = MAX_BYTES) -> Corpus:
    """The sentences of files, each (name, bytes), in their order.

    - Plain text: cut into sentences, by lines, or by paragraphs where its lines are broken to a width.
    - A table (CSV, TSV): the column named text or sentence, or the only one, each cell cut into sentences.
    - CoNLL-U: a text is assembled from the forms and ``SpaceAfter=No``. Words inside a multiword token have no
      characters of their own and are left out. Sentences whose heads form no tree keep their words.
    - A zip of such files.

    A sentence that occurs again is left out. Raises InvalidInput for what is malformed, beyond ``max_bytes`` (of all
    files together, packed and unpacked) or without a sentence.
    """
    reader = _Reader(max_bytes)
    for name, data in _unpacked(given, reader):
        reader.read(name, data)
    return reader.done()


@cache
def built_in(n: int = 1000) -> Corpus:
    """Sentences with their trees and frames that templates of this project make. For everybody: not to be added to."""
    found = read_corpus([("template-trees.conllu", template_conllu(n).encode())])
    found.find_frames()
    return found


def sampled(corpus: Corpus, n: int, seed: int) -> Corpus:
    """At most ``n`` sentences, drawn by the seed, in their order."""
    if len(corpus) <= n:
        return corpus
    return corpus.only(np.sort(np.random.default_rng(seed).choice(len(corpus), n, replace=False)).tolist())


def read_frequencies(name: str, data: bytes) -> dict[str, float]:
    """How often words occur, by the words in small letters, from lines with a word and a number.

    Tab, comma, semicolon, bar or space between them, the number first or second; other columns and a first line
    without a number are passed over, and a word that occurs again is added up. Raises InvalidInput.
    """
    text, _ = decoded(check_size(data, name, MAX_BYTES), name)
    separator = next((sign for sign in "\t;|," if sign in files.first_line(text)), None)
    found: dict[str, float] = {}
    for place, line in enumerate(each_line(text), start=1):
        cells = [cell.strip().strip('"') for cell in line.split(separator)]
        if not any(cells):
            continue
        pair = cells[:2] if len(cells) > 1 else ["", ""]
        often = files.number(pair[1])
        if often is None and pair[1]:
            pair.reverse()
            often = files.number(pair[1])
        if often is None and not found and len(cells) > 1 and place == 1:
            continue  # the columns' names
        if often is None or often < 0 or not pair[0]:
            raise InvalidInput(
                f"{name}, line {place}: “{line.strip()[:40]}” is not a word and how often it occurs. "
                "Write one word and its number on each line."
            )
        word = pair[0].casefold()
        found[word] = found.get(word, 0.0) + often
        if len(found) > MAX_FREQUENCIES:
            raise InvalidInput(f"{name} has more than {MAX_FREQUENCIES:,} words. Keep the most frequent ones.")
    if not found:
        raise InvalidInput(f"{name} has no word with a number. Write one word and its number on each line.")
    return found


_SAID = {
    "repeated": ("Left out {n} that had come before", "sentence"),
    "alike": ("Only case or spaces tell {n} from an earlier one; such sentences stay in one half", "sentence"),
    "long": (f"Left out {{n}} of more than {MAX_WORDS:,} words or {_MAX_CHARACTERS:,} characters", "sentence"),
    "control": ("Left out {n} with control characters, which no tokenizer can read", "sentence"),
    "no words": ("Left out {n} without a word that has characters of its own", "sentence"),
    "no text": ("Left out {n} without a text", "row"),
    "empty": ("Passed over {n}, without characters", "empty node"),
    "inside": ("Left out {n} inside multiword tokens, without characters of their own", "word"),
    "headless": ("The head of {n} is such a word and left out, too", "word"),
}


class _Reader:
    """A corpus while it is read. What is to be told of its sentences: how many of each kind there are, in how many
    places, and the first few of these.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.corpus = Corpus()
        self.remarks: list[str] = []  # about files
        self.unread: list[str] = []
        self.hidden = 0
        self._told: dict[str, tuple[int, int, list[tuple[int, int]]]] = {}
        self._texts: set[str] = set()
        self._alike: set[int] = set()  # by hashes, which are smaller than texts

    def read(self, name: str, data: bytes) -> None:
        if self._full:
            self.unread.append(name)
            return
        text, notes = decoded(data, name)
        self.corpus.files.append(name)
        self.remarks += [f"{name}: {note[0].lower()}{note[1:]}" for note in notes]
        kind = _kind(text, name)
        {"conllu": self._conllu, "table": self._table, "text": self._text}[kind](text, name)

    @property
    def _full(self) -> bool:
        return len(self.corpus) >= MAX_SENTENCES

    def done(self) -> Corpus:
        """The corpus with its notes. Raises InvalidInput where it has no sentence."""
        names, notes = self.corpus.files, list(self.remarks)
        for what, (n, n_places, places) in self._told.items():
            said, noun = _SAID.get(what, (f"{{n}} without a tree, but with all words, because of {what}", "sentence"))
            where = _places(names, places, more=n_places > len(places))
            notes.append(f"{said.format(n=counted(n, noun))}: {where}.")
        if self.hidden:
            notes.append(f"Passed over {counted(self.hidden, 'hidden file')} in the archive.")
        if self._full:
            rest = f" Not read at all: {', '.join(self.unread[:5])}{' …' * (len(self.unread) > 5)}." * bool(self.unread)
            notes.append(f"Only the first {MAX_SENTENCES:,} sentences are read.{rest}")
        if not len(self.corpus):
            what = ", ".join(names[:5]) or "The archive"
            raise InvalidInput(f"{what}: there is no sentence to use. Choose a file with sentences. {' '.join(notes)}")
        self.corpus.notes = tuple(notes)
        return self.corpus

    def _tell(self, what: str, line: int, n: int = 1) -> None:
        before, n_places, places = self._told.get(what, (0, 0, []))
        if len(places) < _PLACES_TOLD:
            places.append((len(self.corpus.files) - 1, line))
        self._told[what] = before + n, n_places + 1, places

    def _new(self, text: str, n_words: int, line: int) -> bool:
        """Whether a sentence is one to keep; tells why where it is not."""
        if n_words > MAX_WORDS or len(text) > _MAX_CHARACTERS:
            self._tell("long", line)
        elif _UNREADABLE.search(text):
            self._tell("control", line)
        elif not n_words:
            self._tell("no words", line)
        elif text in self._texts:
            self._tell("repeated", line)
        else:
            self._texts.add(text)
            key = hash(alike(text))
            if key in self._alike:
                self._tell("alike", line)
            self._alike.add(key)
            return True
        return False

    def _add(self, sentence: str, line: int) -> None:
        cleaned = sentence.translate(_BLANKS).strip()
        spans = plain_words(cleaned) if len(cleaned) <= _MAX_CHARACTERS else []
        if cleaned and not self._full and self._new(cleaned, len(spans), line):
            self.corpus.add(cleaned, spans, source=(len(self.corpus.files) - 1, line))

    def _text(self, text: str, name: str) -> None:
        if _wrapped(text):
            self.remarks.append(f"{name}: lines that break off inside of sentences were joined.")
            for first, lines in _paragraphs(text):
                self._paragraph(lines, first)
            return
        for place, line in enumerate(each_line(text), start=1):
            if self._full:
                return
            for sentence in sentences.split(line):
                self._add(sentence, place)

    def _paragraph(self, lines: list[str], first: int) -> None:
        """Its sentences, each with the line in which it begins."""
        text = " ".join(lines)
        ends = np.cumsum([len(line) + 1 for line in lines])
        at = 0
        for sentence in sentences.split(text):
            start = text.find(sentence, at)
            at = start + len(sentence)
            self._add(sentence, first + int(np.searchsorted(ends, start, side="right")))

    def _table(self, text: str, name: str) -> None:
        column: int | None = None
        n_columns = 0
        for line, row in files.rows(text, name):
            if column is None:
                column, named = _text_column(row, text, name)
                n_columns = len(row)
                if named:
                    continue
            elif len(row) > n_columns or len(row) <= column:
                separator = files.separator_name(files.first_line(text))
                raise InvalidInput(
                    f"{name}, line {line}: {counted(len(row), 'column')} where the first line has {n_columns}. "
                    f"If a text holds a {separator}, put it in quotes."
                )
            if not (text_of_row := row[column].strip()):
                self._tell("no text", line)
            for sentence in sentences.split(text_of_row):
                self._add(sentence, line)

    def _conllu(self, text: str, name: str) -> None:
        for sentence in conllu.sentences_of(text, name):
            if self._full:
                return
            if sentence.empty:
                self._tell("empty", sentence.line, sentence.empty)
            if not self._new(sentence.text, len(sentence.words), sentence.line):
                continue
            if sentence.inside:
                self._tell("inside", sentence.line, sentence.inside)
            found = flaw(sentence.heads)
            heads = [NO_HEAD] * len(sentence.words)
            if found is None:
                place = {word.number: at for at, word in enumerate(sentence.words)} | {0: ROOT}
                heads = [place.get(word.head or 0, NO_HEAD) for word in sentence.words]
                if NO_HEAD in heads:
                    self._tell("headless", sentence.line, heads.count(NO_HEAD))
            else:
                self._tell(found, sentence.line)
            self.corpus.add(
                sentence.text,
                [word.span for word in sentence.words],
                [word.upos or "_" for word in sentence.words],
                [(word.deprel.partition(":")[0] or "_") if found is None else "_" for word in sentence.words],
                heads,
                (len(self.corpus.files) - 1, sentence.line),
            )
            if self.corpus.n_labels > MAX_LABELS:
                raise InvalidInput(
                    f"{name}, line {sentence.line}: up to here there are more than {MAX_LABELS:,} different parts of "
                    "speech and relations. Check the fourth and the eighth column."
                )


def _places(names: Sequence[str], places: Sequence[tuple[int, int]], *, more: bool) -> str:
    """Where things are: "lines 3, 8 …", or in several files "a.txt line 3, b.txt line 8"."""
    if len(names) > 1:
        where = ", ".join(f"{names[file]} line {line}" for file, line in places)
    else:
        where = f"line{'s' * (len(places) > 1)} {', '.join(str(line) for _, line in places)}"
    return f"{where}{' …' * more}"


def _kind(text: str, name: str) -> Literal["conllu", "table", "text"]:
    data_lines = (line for line in files.first_lines(text) if line.strip() and not line.startswith("#"))
    ending = posixpath.splitext(name.lower())[1]
    rows = [line.split("\t") for line in islice(data_lines, _LOOKED_AT)]
    if any(len(row) == 10 and conllu.WORD_NUMBER.fullmatch(row[0]) for row in rows):
        return "conllu"
    header = files.first_line(text)
    cells = [_column_name(cell) for cell in header.split(files.separator_of(header))]
    # Not the beginning of a sentence ("Text, however, is …").
    short = all(len(cell) <= 40 and len(cell.split()) <= 3 and not cell.endswith((".", "!", "?")) for cell in cells)
    if 1 < len(cells) <= files.MAX_COLUMNS and short and any(name in cells for name in _TEXT_COLUMNS):
        return "table"
    if ending in (".conllu", ".conll"):
        return "conllu"
    return "table" if ending in (".csv", ".tsv", ".tab") else "text"


def _column_name(cell: str) -> str:
    return cell.strip().strip('"').strip().lower()


def _text_column(header: Sequence[str], text: str, name: str) -> tuple[int, bool]:
    """The place of the column with the texts, and whether the first row names it."""
    names = [_column_name(cell) for cell in header]
    for wanted in _TEXT_COLUMNS:
        if wanted in names:
            return names.index(wanted), True
    if len(names) == 1:
        return 0, len(names[0].split()) < 2  # a name has no spaces; a sentence has
    found = ", ".join(repr(cell.strip()[:40]) for cell in header[:8])
    separator = files.separator_name(files.first_line(text))
    raise InvalidInput(
        f"{name}, line 1: no column is named text or sentence; found {found} ({separator} taken as separator). "
        "Name the column with the texts in the first line."
    )


def _wrapped(text: str) -> bool:
    """Whether the lines of a text are wrapped at a width, so that sentences continue on the next line."""
    lines = [line.strip() for line in files.first_lines(text)[:_WRAPPED_LINES]]
    followed = [(line, after) for line, after in pairwise(lines) if line and after]
    going_on = [len(line) for line, after in followed if after[:1].islower() and line[-1] not in ".!?…"]
    if len(going_on) < max(_FEWEST, _SHARE * len(followed)):
        return False
    widest = max(going_on)
    near = sum(length >= _NEARLY * widest for length in going_on)
    return _NARROWEST <= widest <= _WIDEST and near >= _MOST * len(going_on)


def _paragraphs(text: str) -> Iterator[tuple[int, list[str]]]:
    """Lines between empty ones, with the number of the first."""
    first, lines = 1, list[str]()
    for place, line in enumerate(each_line(text), start=1):
        if line.strip():
            if not lines:
                first = place
            lines.append(line.strip())
        if lines and (not line.strip()):
            yield first, lines
            lines = []
    if lines:
        yield first, lines


def _unpacked(given: Sequence[tuple[str, bytes]], reader: _Reader) -> Iterator[tuple[str, bytes]]:
    """The files themselves, those in archives among them; never more bytes than the reader takes."""
    if len(given) > MAX_FILES:
        raise InvalidInput(f"There are {len(given):,} files; at most {MAX_FILES:,} are read. Join them.")
    packed = sum(len(data) for _, data in given)
    if packed > reader.max_bytes:
        raise _too_large("The files together are", reader.max_bytes, packed)
    left = reader.max_bytes
    for name, data in given:
        if not data.startswith(_ZIP):
            left -= len(data)
            if left < 0:
                raise _too_large("The files together are", reader.max_bytes)
            yield name, data
            continue
        for member, content in _members(name, data, reader, left):
            left -= len(content)
            yield member, content


def _too_large(what: str, max_bytes: int, size: int | None = None) -> InvalidInput:
    amount = f"{size / MB:.1f} MB" if size else f"more than {max_bytes // MB} MB unpacked"
    return InvalidInput(f"{what} {amount}; up to {max_bytes // MB} MB are read. Use a sample of the sentences.")


def _members(name: str, data: bytes, reader: _Reader, left: int) -> Iterator[tuple[str, bytes]]:
    """The files of an archive. What its directory says of sizes is not believed: no more than ``left`` bytes are
    unpacked.
    """
    # Before the directory is read, which makes an object of each entry.
    if data.count(_ZIP_ENTRY) > MAX_FILES:
        raise InvalidInput(f"{name} holds more than {MAX_FILES:,} files. Join them, or pack fewer.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            progress.count(n_more=min(sum(entry.file_size for entry in entries), left) - len(data))
            if any(entry.filename == "[Content_Types].xml" for entry in entries):
                raise InvalidInput(
                    f"{name} is a workbook of Excel or a document of Word. Save its table as CSV or its text as UTF-8."
                )
            for entry in entries:
                parts = entry.filename.replace("\\", "/").split("/")
                if entry.is_dir():
                    continue
                if any(part.lower() in _CLUTTER or (part.startswith(".") and part != "..") for part in parts):
                    reader.hidden += 1
                    continue
                shown = "".join(sign for sign in entry.filename if sign.isprintable())[-80:]
                content = _content(archive, entry, f"{shown} in {name}", parts, left, reader.max_bytes)
                left -= len(content)
                yield f"{name}/{shown}", content
    except _BROKEN as error:
        raise InvalidInput(
            f"{name} is not a zip archive that can be unpacked. Check that it is complete, and pack it again."
        ) from error


def _content(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, what: str, parts: list[str], left: int, max_bytes: int
) -> bytes:
    """What an entry holds. Raises InvalidInput where that is not a text, or more than ``left`` bytes."""
    if ".." in parts or parts[0] in ("", "~") or parts[0].endswith(":"):
        raise InvalidInput(f"{what}: the path leads out of the archive. Pack the files themselves.")
    if entry.flag_bits & 1:
        raise InvalidInput(f"{what} is encrypted. Pack it without a password.")
    if entry.compress_type not in _DEFLATED:  # others unpack without a bound
        raise InvalidInput(f"{what} is packed by a method that is not read. Pack it as an ordinary zip (Deflate).")
    with archive.open(entry) as opened:
        content = opened.read(left + 1)
    if len(content) > left:
        raise _too_large(f"{what}: the files together are", max_bytes)
    if content.startswith(_ZIP):
        raise InvalidInput(f"{what} is an archive, too. Pack the files themselves into one archive.")
    return content
