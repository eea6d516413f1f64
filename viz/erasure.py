"""What hiding each word does to a prediction: the sentence tinted by it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from analysis.erasure import Erasure
from analysis.words import Unit
from viz.layout import percent
from viz.palette import diverging
from viz.token_line import Cell, Item, Line, filled

LEGEND = "Blue supports the prediction, orange opposes it"
"""What the colours say, wherever a word or a part of a model is coloured by what is lost without it."""
SIGNS = "opposes", "supports"
"""The same in a word each, at the ends of a colour bar: below 0, and above."""
SCALE_END = 3.0
"""Bits at which the colour is full: the probability is an eighth of what it was, or eight times that."""


def without_word(word: str, bits: float, below: str, title: str, *, dark: bool = False) -> Item:
    """A word in the colour of how many ``bits`` of log2 P are lost without it, and what is written below."""
    return Item((filled(word, diverging(dark), 0.5 + bits / (2 * SCALE_END)), Cell(below, small=True)), title)


def erased_sentence(
    units: Sequence[Unit],
    effects: Sequence[Erasure],
    masks: Collection[int],
    guess: Mapping[int, str],
    *,
    dark: bool = False,
) -> Line:
    """Every word with the probability that is left where it is hidden. Of the words with one of the ``masks``, which
    are outlined, ``guess`` says by the mask's position what to write under it.
    """
    by_start = {effect.word.start: effect for effect in effects}
    items = []
    for unit in units:
        effect = by_start.get(unit.start)
        hidden = [place for place in range(unit.start, unit.stop) if place in masks]
        if effect is not None:
            left = percent(effect.after)
            title = f"without “{unit.label}”: {percent(effect.before)} → {left}; the prediction: {effect.guess.token}"
            items.append(without_word(unit.label, effect.bits, left, title, dark=dark))
        elif hidden:
            under = next((guess[place] for place in hidden if place in guess), "")
            items.append(Item((Cell(unit.label), Cell(under or "–", small=True)), "hidden", marked=bool(under)))
    return Line(tuple(items))
