"""Words in their order with colours and numbers, drawn by a component that wraps like text.

``payload`` makes what the component reads, ``SOURCE`` holds its files. The figures of this kind (surprisal,
the model's input, training's corruption ...) each have a file of their own that builds lines.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from viz import component
from viz.direction import Direction, direction_of
from viz.layout import visible_text
from viz.palette import Colorscale, rgb

SOURCE = component.source("token_line")

_WIDEST: Final = 1100  # px; a longer line would not fit a wide screen
_LETTER: Final = 8  # px, about
_AROUND: Final = 16  # px around a word

INKS = ("#000000", "#FFFFFF")
"""What is written with on light colours, and on dark ones."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One text of an item; ``fill`` and ``ink`` are CSS colours, None for the theme's own."""

    text: str
    fill: str | None = None
    ink: str | None = None
    small: bool = False
    struck: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """Cells one above the other; ``title`` is shown when the pointer rests on it, ``marked`` draws an outline. Without
    ``space`` nothing parts it from the one before where a picture is drawn in Python.
    """

    cells: tuple[Cell, ...]
    title: str = ""
    marked: bool = False
    space: bool = True


@dataclass(frozen=True, slots=True)
class Line:
    """Items that wrap like words, after a label; ``dir`` is theirs where it is not that of the first words in them."""

    items: tuple[Item, ...]
    label: str = ""
    dir: Direction | None = None

    @property
    def direction(self) -> Direction:
        return self.dir or direction_of(item.cells[0].text for item in self.items)


def wrapped(
    names: Collection[str], words: Sequence[str], columns: Sequence[Item], letters: Sequence[int]
) -> list[Line]:
    """Columns of words and what is below them, in lines that each begin with the ``names`` of the rows below: so long
    that a wide screen has room for one. ``letters`` are how wide a column is.
    """
    first = Item((Cell("\u00a0"), *(Cell(visible_text(name)) for name in names)))
    indent = max((len(name) for name in names), default=0) * _LETTER + _AROUND
    lines: list[list[Item]] = []
    room = 0
    for column, n_letters in zip(columns, letters, strict=True):
        width = n_letters * _LETTER + _AROUND
        if width > room:
            lines.append([first])
            room = _WIDEST - indent
        lines[-1].append(column)
        room -= width
    return [Line(tuple(items), dir=direction_of(words)) for items in lines]


def payload(
    lines: Sequence[Line], file: str = "", *, dark: bool = False, others: Sequence[Line] = ()
) -> dict[str, Any]:
    """What the component reads. With the name of a ``file`` it gives a picture: these lines, or in a file of the other
    theme than they are of, ``dark`` or not, the ``others``.
    """
    drawn, other = ([asdict(line) | {"dir": line.direction} for line in line_group] for line_group in (lines, others))
    for line in (*drawn, *other):
        for item in line["items"]:
            del item["space"]  # the browser parts all items alike
    return {"lines": drawn, "others": other, "file": file, "dark": dark}


def filled(text: str, scale: Colorscale, position: float, **settings: bool) -> Cell:
    """A cell filled with a scale's colour at a position (cut to 0..1), its text black or white to be read."""
    fill = _colour(scale, position)
    return Cell(text, f"#{fill[0]:02X}{fill[1]:02X}{fill[2]:02X}", _ink(fill), **settings)


def filled_with(text: str, colour: str, **settings: bool) -> Cell:
    """A cell filled with one colour "#rrggbb", its text black or white to be read."""
    return Cell(text, colour, _ink(rgb(colour)), **settings)


def _colour(scale: Colorscale, position: float) -> tuple[int, int, int]:
    stops = [stop for stop, _ in scale]
    channels = np.array([rgb(colour) for _, colour in scale]).T
    red, green, blue = (round(float(np.interp(position, stops, channel))) for channel in channels)
    return red, green, blue


def _ink(fill: tuple[int, int, int]) -> str:
    """Whichever of black and white has more contrast (WCAG 2) on the colour: at least 4.5 on any."""
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in fill]
    luminance = float(np.dot([0.2126, 0.7152, 0.0722], linear))
    return INKS[0] if (luminance + 0.05) ** 2 > 1.05 * 0.05 else INKS[1]
