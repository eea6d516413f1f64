"""How surprising each word is: the sentence coloured by surprisal, the numbers under the words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from analysis.scoring import unit_bits
from analysis.words import Unit, token_units, word_units
from model_zoo.types import FloatArray, Prediction, TokenScores
from viz.layout import visible_text
from viz.palette import sequential
from viz.token_line import Cell, Item, Line, filled, wrapped

SCALE_END = 16.0
"""Bits at which the colour is full: about one in 65,000, more than a vocabulary's even chance."""

_NUMBER = 4  # letters


def surprisals(words: Sequence[str], bits: Mapping[str, FloatArray], *, dark: bool = False) -> list[Line]:
    """Surprisal in bits, (words,) by the name of a model (nan: not scored), on one scale for all models and sentences.

    A word and its numbers are one column, so that models align. Every line begins with the models' names. Raises
    ValueError where a model does not have a number for every word.
    """
    if any(len(values) != len(words) for values in bits.values()):
        raise ValueError(f"the bits of every model must be those of {len(words)} words")
    columns = [
        _column(word, {name: float(values[place]) for name, values in bits.items()}, dark)
        for place, word in enumerate(words)
    ]
    return wrapped(bits, words, columns, [max(len(word), _NUMBER) for word in words])


def _column(word: str, bits: Mapping[str, float], dark: bool) -> Item:
    sentences = [
        f"{name}: " + ("not scored" if np.isnan(value) else f"{value:.1f} bits") for name, value in bits.items()
    ]
    cells = [
        Cell("–") if np.isnan(value) else filled(f"{value:.1f}", sequential(dark), value / SCALE_END)
        for value in bits.values()
    ]
    return Item((Cell(visible_text(word)), *cells), ", ".join(sentences))


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
        title = f"top prediction: {guess.token} ({guess.probability:.1%})" if guess else ""
        if np.isnan(value):
            items.append(Item((Cell(unit.label), Cell("–", small=True)), "not scored"))
        else:
            word = filled(unit.label, sequential(dark), value / SCALE_END)
            items.append(Item((word, Cell(f"{value:.1f}", small=True)), title))
    return Line(tuple(items), label)


def surprisal_line(scores: TokenScores, *, words: bool, dark: bool = False, label: str = "") -> Line:
    """Every token with its surprisal, or every word with the sum over its pieces."""
    units = (word_units if words else token_units)(scores.encoding)
    guesses = [scores.guesses[unit.start] if unit.stop - unit.start == 1 else None for unit in units]
    return surprisal(units, unit_bits(scores, units), guesses, dark=dark, label=label)
