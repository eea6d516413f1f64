"""Texts as several tokenizers cut them: by hand, and drawn at random."""

from collections.abc import Sequence

import builders
from hypothesis import strategies as st

from analysis.words import Unit
from model_zoo.types import Encoding

Piece = tuple[str, int | None, tuple[int, int]]  # token, its word, its characters


def encoding(text: str, pieces: Sequence[Piece], pair: Sequence[Piece] = (), text_pair: str | None = None) -> Encoding:
    """[CLS] text [SEP], and for a pair another text and [SEP]; a token without word and characters is special."""
    frame: Piece = ("", None, (0, 0))
    tokens = [frame, *pieces, frame, *([*pair, frame] if text_pair is not None else [])]
    return builders.encoding(
        [token for token, _, _ in pieces],
        None if text_pair is None else [token for token, _, _ in pair],
        text=text,
        text_pair=text_pair,
        word_ids=tuple(word for _, word, _ in tokens),
        offsets=tuple(span for _, _, span in tokens),
        special=tuple(word is None for _, word, _ in tokens),
    )


def whole_words(text: str) -> Encoding:
    """Every word between spaces as one token."""
    spans = []
    at = 0
    for word in text.split():
        at = text.index(word, at)
        spans.append((word, len(spans), (at, at + len(word))))
        at += len(word)
    return encoding(text, spans)


def ranges(units: Sequence[Unit]) -> list[tuple[int, int]]:
    return [(unit.start, unit.stop) for unit in units]


CONTRACTION = "I don't know"
WORDPIECE = encoding(
    CONTRACTION, [("i", 0, (0, 1)), ("don", 1, (2, 5)), ("'", 2, (5, 6)), ("t", 3, (6, 7)), ("know", 4, (8, 12))]
)


# The space before a word belongs to its token, as byte-level BPE has it without trimming.
BPE = encoding(CONTRACTION, [("I", 0, (0, 1)), ("Ġdon", 1, (1, 5)), ("'t", 2, (5, 7)), ("Ġknow", 3, (7, 12))])
UNIGRAM = encoding(
    CONTRACTION,
    [
        ("▁I", 0, (0, 1)),
        ("▁don", 1, (2, 5)),
        ("'", 1, (5, 6)),
        ("t", 1, (6, 7)),
        ("▁kno", 2, (8, 11)),
        ("w", 2, (11, 12)),
    ],
)


@st.composite
def cuttings(draw: st.DrawFn) -> tuple[str, list[Encoding]]:
    """A text and two to four encodings that cover all its visible characters, each cut at places of its own."""
    text = " ".join(draw(st.lists(st.text("aé中🙂", min_size=1, max_size=6), min_size=1, max_size=6)))
    encodings = []
    for _ in range(draw(st.integers(2, 4))):
        cuts = sorted({0, len(text), *draw(st.sets(st.integers(0, len(text))))})
        new_word = draw(st.lists(st.booleans(), min_size=len(cuts), max_size=len(cuts)))
        word, pieces = -1, []
        for start, stop, new in zip(cuts, cuts[1:], new_word, strict=False):
            word += bool(new) or word < 0
            copies = draw(st.integers(1, 3))  # the bytes of a sign share its span
            pieces += [(text[start:stop], word, (start, stop))] * copies
        encodings.append(encoding(text, pieces))
    return text, encodings
