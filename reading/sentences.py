"""A text cut into sentences, and a sentence into words."""

from __future__ import annotations

import re

import regex

# Words whose full stop does not end a sentence.
_SHORT = {
    *("mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "vs", "no", "fig", "eq", "gen", "col", "capt", "lt"),
    *("e.g", "i.e", "cf", "al", "inc", "ltd", "approx", "a.m", "p.m"),
}

# An end: terminators (also of Arabic, Urdu and Hindi) and closing quotes, then space; or those of Chinese and Japanese,
# after which there is none; or an empty line. A row of a thousand dots is looked at once, not from each of them.
_END = re.compile(r"""(?<![.!?…؟۔।॥])[.!?…؟۔।॥]++["'”’»)\]]*+(?=\s)|[。！？｡]+[”’」』｣）》】]*|\n\s*\n""")

_SIGN = re.compile(r"\S")
_LOOKED_BACK = 1_000  # characters before an end that may hold a word


def split(text: str) -> tuple[str, ...]:
    """The sentences of a text in order, without the space around them.

    A rule, not a model: a sentence ends at . ! ? … before a space, unless the full stop belongs to an
    abbreviation or an initial, or the next word starts with a small letter; at ؟ ۔ । ॥ before a space; at 。！？｡; and
    at an empty line.
    """
    sentences = []
    start = 0
    for end in _END.finditer(text):
        after = _SIGN.search(text, end.end())
        if _goes_on(text[max(start, end.end() - _LOOKED_BACK) : end.end()], after[0] if after else ""):
            continue
        sentences.append(text[start : end.end()].strip())
        start = end.end()
    sentences.append(text[start:].strip())
    return tuple(sentence for sentence in sentences if sentence)


def _goes_on(before: str, after: str) -> bool:
    """Whether what looks like an end lies inside a sentence; ``after`` is the first sign that follows, if any does."""
    if not before.endswith((".", "…")) or not after:
        return after.islower() and before.strip() != "" and not before.endswith("\n")
    last = before.rstrip(".…").rsplit(maxsplit=1)
    word = last[-1].lower().lstrip("(\"'“‘") if last else ""
    initial = len(word) == 1 and word.isalpha() and word != "i"
    return after.islower() or (before.endswith(".") and (word in _SHORT or initial))


# Letters with their marks and digits; a Chinese character by itself, since no spaces tell its words apart.
_LETTERS = r"[[\p{L}\p{M}\p{N}_]--\p{Han}]+"
_WORD = regex.compile(rf"(?V1)\p{{Han}}|{_LETTERS}(?:['’\-\u00ad\u200c\u200d]{_LETTERS})*|\S")


def plain_words(text: str) -> list[tuple[int, int]]:
    """The characters of each word of a text without a tree: letters and digits together, other signs alone."""
    return [match.span() for match in _WORD.finditer(text)]
