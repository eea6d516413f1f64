"""Tags of entities, brought to IOB2: B-TYPE where an entity begins, I-TYPE inside, O outside; and the tokens that carry
the tags of words.

Files have them in IOB1 (I- throughout, B- only where one entity follows another of its type; Ramshaw & Marcus 1995), in
IOB2, in IOBES or BILOU (with the last word and the single ones marked; Ratinov & Roth 2009), or as types alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding, counted
from reading.text import clipped
from training.finetuning.data import OUTSIDE

_PREFIXED = re.compile(r"([BIESLU])-(.+)")
_BEGINS, _ENDS = set("BSU"), set("ELSU")


def type_of(tag: str) -> str:
    """PERSON of B-PERSON; "O" of itself."""
    return tag if tag == OUTSIDE else tag.partition("-")[2]


def types_of(tags: Iterable[str]) -> list[str]:
    """The types among tags, without repetition, in alphabetical order."""
    return sorted({type_of(tag) for tag in tags if tag != OUTSIDE})


def first_pieces(encoding: Encoding, words: Sequence[tuple[int, int]]) -> list[int | None]:
    """For each word, given by its characters, the place of its first token; None beyond the model's limit."""
    starts = [start for start, _ in words]
    pieces: list[int | None] = [None] * len(words)
    for place, ((start, end), special) in enumerate(zip(encoding.offsets, encoding.special, strict=True)):
        word = bisect_right(starts, start) - 1
        if not special and start < end and word >= 0 and start < words[word][1] and pieces[word] is None:
            pieces[word] = place
    return pieces


def entities_of(tags: Sequence[str]) -> list[tuple[str, int, int]]:
    """The entities that a model predicted, in order: type, first word, and the word after its last.

    A model may leave out a B-: another type, or a tag after O, begins a new entity, too (as in the CoNLL shared tasks,
    Tjong Kim Sang & De Meulder 2003).
    """
    entities: list[tuple[str, int, int]] = []
    for place, tag in enumerate(tags):
        if tag == OUTSIDE:
            continue
        kind = type_of(tag)
        if entities and entities[-1][2] == place and entities[-1][0] == kind and not tag.startswith("B-"):
            entities[-1] = (kind, entities[-1][1], place + 1)
        else:
            entities.append((kind, place, place + 1))
    return entities


def convert_to_iob2(sentences: Sequence[tuple[str, Sequence[str]]], notes: list[str]) -> list[tuple[str, ...]]:
    """The tags of each sentence in IOB2, with a note where that changes them.

    Each sentence comes with its place in the file, for the message of the InvalidInput that a wrong tag raises.
    """
    prefixed = any(_PREFIXED.fullmatch(tag) for _, tags in sentences for tag in set(tags))
    converted, changed = [], 0
    for where, tags in sentences:
        now = _converted(tags, prefixed, where)
        changed += sum(a != b for a, b in zip(tags, now, strict=True))
        converted.append(now)
    if not prefixed and any(tag != OUTSIDE for _, tags in sentences for tag in tags):
        notes.append("The tags are types alone: neighbours of the same type were taken as one entity (now in IOB2).")
    elif changed:
        notes.append(f"Changed {counted(changed, 'tag')} to IOB2, in which every entity begins with B-.")
    return converted


def _converted(tags: Sequence[str], prefixed: bool, where: str) -> tuple[str, ...]:
    converted = []
    before, ended = OUTSIDE, True
    for word, tag in enumerate(tags, start=1):
        if tag == OUTSIDE:
            before, ended = OUTSIDE, True
            converted.append(tag)
            continue
        marked = _PREFIXED.fullmatch(tag)
        kind = marked[2] if marked else tag
        if prefixed and not marked:
            raise InvalidInput(
                f"{where}, word {word}: the tag “{clipped(tag)}” has no B- or I- before it, as others of the file "
                "have. Write O for a word in no entity."
            )
        if not any(character.isalpha() for character in kind):
            raise InvalidInput(
                f"{where}, word {word}: the tag “{clipped(tag)}” names no type. Write tags such as B-PERSON, and O for "
                "a word in no entity."
            )
        prefix = marked[1] if marked else "I"
        begins = ended or kind != before or prefix in _BEGINS
        converted.append(f"{'B' if begins else 'I'}-{kind}")
        before, ended = kind, prefix in _ENDS
    return tuple(converted)
