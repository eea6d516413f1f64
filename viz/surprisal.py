"""How surprising each word is: the sentence coloured by surprisal, the numbers under the words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from analysis.words import Unit
from model_zoo.types import FloatArray, Prediction
from viz.palette import sequential
from viz.token_line import Cell, Item, Line, filled

SCALE_END = 16.0
"""Bits at which the colour is full: about one in 65,000, more than a vocabulary's even chance."""


def surprisals(words: Sequence[str], bits: Mapping[str, FloatArray], *, dark: bool = False) -> Line:
    """Words with their surprisal in bits (nan: not scored) by several models, a row each, all on one scale.

    ``bits`` holds for the name of each model the numbers of all words, float (words,).
    """
    names = Item((Cell(""), *(Cell(name) for name in bits)))
    items = [
        Item((Cell(word), *(_number(float(numbers[place]), dark) for numbers in bits.values())))
        for place, word in enumerate(words)
    ]
    return Line((names, *items))


def _number(value: float, dark: bool) -> Cell:
    return Cell("–") if np.isnan(value) else filled(f"{value:.1f}", sequential(dark), value / SCALE_END)


def surprisal(
    units: Sequence[Unit],
    bits: FloatArray,
    guesses: Sequence[Prediction | None] = (),
    *,
    dark: bool = False,
    label: str = "",
) -> Line:
    """Tokens or words with their surprisal in bits (nan: not scored), on one scale for all sentences.

    ``guesses`` (one per unit, or none at all) are what the model would have put there; shown on hovering.
    """
    items = []
    for place, (unit, value) in enumerate(zip(units, bits.tolist(), strict=True)):
        if unit.special:
            continue
        guess = guesses[place] if guesses else None
        title = f"the model's guess: {guess.token} ({guess.probability:.1%})" if guess else ""
        if np.isnan(value):
            items.append(Item((Cell(unit.label), Cell("–", small=True)), "not scored"))
        else:
            word = filled(unit.label, sequential(dark), value / SCALE_END)
            items.append(Item((word, Cell(f"{value:.1f}", small=True)), title))
    return Line(tuple(items), label)
