"""The sentences that a lens is fitted to, and those that judge it: other sentences, about other subjects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from analysis.corpus.reading import built_in
from model_zoo.heldout import written_pairs

MOST_OWN: Final = 500
"""Sentences of the visitor's; of more, so many are drawn."""
MASKS: Final = 4
"""Masks in a sentence; of those that templates make there is one, since they are so much alike."""

_TEMPLATES: Final = 400
_JUDGING: Final = 3  # every third subject, and every third sentence of the visitor's


@dataclass(frozen=True, slots=True)
class LensSentences:
    """``fitted`` and ``templates`` are fitted on, ``judging`` judges. ``units`` (judging,) number what intervals count:
    sentences of one subject are one, and each of the visitor's is one.
    """

    fitted: tuple[str, ...] = field(repr=False)
    templates: tuple[str, ...] = field(repr=False)
    judging: tuple[str, ...] = field(repr=False)
    units: tuple[int, ...] = field(repr=False)


def lens_sentences(user_texts: Sequence[str] = ()) -> LensSentences:
    """The written pairs, of which every third subject judges, and every third of one's ``own`` sentences, too.

    Sentences made by templates share their words, so none of them judges. No sentence is on both sides, whatever its
    case and spaces.
    """
    fitted, templates, judging, units = _built_in()
    known = set(map(_plain, (*fitted, *templates, *judging)))
    mine = []
    for text in user_texts:
        if _plain(text) not in known and any(map(str.isalnum, text)):
            known.add(_plain(text))
            mine.append(text)
    judge = tuple(mine[_JUDGING - 1 :: _JUDGING])
    fit = tuple(text for place, text in enumerate(mine) if place % _JUDGING != _JUDGING - 1)
    n = len(set(units))
    return LensSentences((*fitted, *fit), templates, (*judging, *judge), (*units, *range(n, n + len(judge))))


@cache
def _built_in() -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[int, ...]]:
    pairs = written_pairs()
    subjects = list(dict.fromkeys(pair.subject for pair in pairs))
    judge = set(subjects[_JUDGING - 1 :: _JUDGING])
    fitted, judging = (
        tuple(text for pair in pairs if (pair.subject in judge) == judges for text in (pair.first, pair.second))
        for judges in (False, True)
    )
    number = {subject: place for place, subject in enumerate(subjects[_JUDGING - 1 :: _JUDGING])}
    units = tuple(number[pair.subject] for pair in pairs if pair.subject in judge for _ in (pair.first, pair.second))
    return fitted, tuple(built_in(_TEMPLATES).texts), judging, units


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
