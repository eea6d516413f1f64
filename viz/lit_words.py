"""Words that light up: a text as text, each word tinted by how much of a chosen word's attention it gets, or by how
much it gives that word.

``payload`` makes what the component reads, ``words`` the words of an encoding, ``SOURCE`` holds the component's files.
The component carries both themes and the matrices to choose from without asking the server: those of one head, of the
mean of its layer, and of the mean of all heads; or those of a layer, and of the mean of all layers. It reports one
thing, by a trigger: ``head``, the place of the head, or layer, that is asked for among all of the model, from 0, when
the reader steps to another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal, TypedDict

import numpy as np

from analysis.words import Unit
from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding, FloatArray
from viz import component
from viz.direction import Direction, direction_of
from viz.layout import visible_text
from viz.palette import sequential
from viz.token_line import filled_with

SOURCE = component.source("words", styles=("picture",))

_FULL = 65535  # what the scale's end is in the weights
_ROUNDING = 1e-4  # a row that sums to 1 may hold a weight a little above 1


class Word(TypedDict):
    """A token, or a word made of some, as it is written in the text."""

    text: str
    token: str  # as the tokenizer writes it
    space: bool  # whether something parts it from the one before
    piece: bool  # whether it goes on with the word of the one before
    special: bool
    segment: int  # 0 for the first text, 1 for the second
    dir: Direction  # in which that text runs


Says = Literal["attends", "takes", "changes"]
"""What a word does to the words that light up: it attends to them, takes from them, or changes without them."""

_CHOICES = {3: ["This head", "Mean of the layer", "Mean of all heads"], 2: ["This layer", "Mean of all layers"]}


class Payload(TypedDict):
    """What the component reads. A weight of the matrix ``m`` is ``weights[m] * limits[m] / 65535``."""

    weights: bytes  # uint16, little endian (matrices, n_q, n_k), C order
    limits: list[float]  # the weights at the end of the colour scale
    shares: bool  # whether weights are shares of a word's whole, written as percentages
    says: Says
    queries: list[Word]
    keys: list[Word] | None  # None: the same as the queries
    names: list[str]  # of the matrices
    choices: list[str]  # of the matrices, on the buttons that choose one
    unit: str  # what one steps to: a head or a layer
    head: int
    n_heads: int  # 1: there is no other one to go to
    chosen: int | None  # the query that is lit when nothing is pointed at; None: the one most worth seeing
    scale: list[tuple[str, str]]  # evenly spaced over the square root of weights: colours of ground and text
    dark_scale: list[tuple[str, str]]
    group: str  # of pictures that show together what is pointed at, "" for none
    file: str  # name of the picture where it can be saved


def payload(
    weights: FloatArray,
    queries: Sequence[Word],
    keys: Sequence[Word] | None = None,
    *,
    names: Sequence[str],
    shares: bool = True,
    says: Says = "attends",
    head: int = 0,
    n_heads: int = 1,
    chosen: int | None = None,
    group: str = "",
    file: str = "",
) -> Payload:
    """Words lit by ``weights`` (3, n_q, n_k), a head, the mean of its layer, the mean of all heads; or (2, n_q, n_k), a
    layer and the mean of all layers. Rows are queries.

    Without ``keys`` the words looked at are the ``queries``, and n_k is n_q. Colours follow √weight on the scale 0..1,
    the same for every head, if the weights are ``shares``; otherwise they end at each matrix's maximum. Weights are
    rounded to 65,536 steps, so that what is shown differs from ``weights`` by at most ``limits[m] / 131070``, float32
    rounding aside. ``names`` say what the matrices are, in the status line, and ``says`` what a word does. ``head`` is
    the place among all ``n_heads`` heads, or layers, of the model, from 0. ``chosen`` is lit at rest; a place that is
    not among the queries is dropped.

    Raises InvalidInput when no word is left to show, ValueError when lengths do not fit together, weights are not
    finite or below zero, or shares are above 1.
    """
    if 0 in weights.shape:
        raise InvalidInput("No token is left, so there is nothing to show. Loosen the filters, or type more text.")
    sizes = len(names), len(queries), len(queries if keys is None else keys)
    if weights.shape != sizes or len(names) not in _CHOICES:
        raise ValueError(f"2 or 3 names and the words must fit weights of shape {weights.shape}")
    highest = weights.max(axis=(1, 2))
    if not (np.isfinite(highest).all() and weights.min() >= 0):
        raise ValueError("weights must be finite and not below zero")
    if shares and highest.max() > 1 + _ROUNDING:
        raise ValueError(f"shares are at most 1; got {highest.max():.4f}")
    limits = [1.0 if shares else float(limit) or 1.0 for limit in highest]
    steps = weights * (np.float32(_FULL) / np.array(limits, dtype=np.float32))[:, None, None]
    return Payload(
        weights=np.rint(np.minimum(steps, _FULL)).astype("<u2").tobytes(),
        limits=limits,
        shares=shares,
        says=says,
        queries=list(queries),
        keys=None if keys is None else list(keys),
        names=list(names),
        choices=_CHOICES[len(names)],
        unit=_CHOICES[len(names)][0].split()[-1],
        head=head,
        n_heads=n_heads,
        chosen=chosen if chosen is not None and 0 <= chosen < len(queries) else None,
        scale=shades(dark=False),
        dark_scale=shades(dark=True),
        group=group,
        file=file,
    )


def words(encoding: Encoding, units: Sequence[Unit]) -> list[Word]:
    """The units (tokens or words, some may be left out) of an encoding as they stand in its text.

    A unit is written as the characters it covers. Special tokens are written as the tokenizer does, and so is what
    covers nothing that can be seen, or only characters of the unit before: a byte in the middle of a character.
    """
    words: list[Word] = []
    directions = [direction_of([text]) for text in (encoding.text, encoding.text_pair or "")]
    covered, segment, apart = 0, -1, True  # up to where the text of the segment is written, and what came last
    before = None  # the word of the unit before
    for unit in units:
        text = (encoding.text if unit.segment == 0 else encoding.text_pair) or ""
        if unit.segment != segment:
            covered, segment, apart = 0, unit.segment, True
        spans = encoding.offsets[unit.start : unit.stop]
        start, stop = min(first for first, _ in spans), max(last for _, last in spans)
        written = text[max(start, covered) : stop]
        space = apart or unit.special or any(character.isspace() for character in text[covered:start])
        if not unit.special:
            space = space or written[:1].isspace()
            covered = max(covered, stop)
        visible = "" if unit.special else " ".join(written.split())
        token = visible_text(unit.label)
        words.append(
            Word(
                text=visible_text(visible) if visible else token,
                token=token,
                space=space,
                piece=encoding.word_ids[unit.start] is not None and encoding.word_ids[unit.start] == before,
                special=unit.special,
                segment=unit.segment,
                dir=directions[unit.segment],
            )
        )
        apart, before = unit.special, encoding.word_ids[unit.start]
    return words


@cache
def shades(dark: bool) -> list[tuple[str, str]]:
    """Colours of ground and text from nothing to the strongest; the text is black or white to be read."""
    return [(colour, str(filled_with("", colour).ink)) for _, colour in sequential(dark)]
