"""Small pictures that stand still, as SVG made in Python without a browser: for places where no script runs, such as a
notebook that is read on GitHub, exported, or opened without its kernel.

They are drawn of what the pages' components read, and of the pages' figures: on white, so that they can be read in a
dark notebook, too, in a look close to that of the components. Sizes are CSS px. How wide a text will be is estimated,
since only a browser knows its fonts.
"""

from __future__ import annotations

import base64
import struct
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from itertools import groupby
from typing import Final

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from analysis.thumbnails import max_pool
from model_zoo.types import FloatArray
from viz import cells, grid, heatmap, lines, lit_words
from viz.layout import PAPER_FONT, clipped, visible_text
from viz.palette import LIGHT, rgb
from viz.token_line import Cell, Item, Line, filled_with

Levels = npt.NDArray[np.uint8]

_WIDTH: Final = 640  # of texts that wrap
_SIDE: Final = 400  # of a matrix of many tokens
_LARGEST_CELL: Final = 22
_MOST: Final = 128  # cells a side; those of a larger matrix are pooled
_TYPE: Final = 11
_LONGEST: Final = 20  # characters of a label
_NAME: Final = 16  # what the name of an axis takes
_GAP: Final = 5  # between a label and what it names
_BAR: Final = (180, 10)  # the colour bar
_BELOW: Final = 50  # what it takes, with its numbers and its title
_HEAD: Final = 24  # pixels of a head's picture, at most
_MOST_LINES: Final = 400  # the strongest, of a picture of lines


def image(svg: str, alt: str) -> str:
    """An SVG as an HTML image that says what it shows; no script runs in it, and nothing in it can be clicked."""
    return _image("svg+xml", base64.b64encode(svg.encode()).decode("ascii"), alt)


def png_image(data: str, alt: str) -> str:
    """A PNG, whose bytes are given in base64, as such an image. Raises ValueError where it is no base64."""
    base64.b64decode(data, validate=True)
    return _image("png", data, alt)


def _image(kind: str, data: str, alt: str) -> str:
    style = "max-width: 100%; height: auto; background: white"
    return f'<img src="data:image/{kind};base64,{data}" alt="{escape(alt)}" style="{style}">'


def heatmap_svg(payload: heatmap.Payload, names: tuple[str, str] = ("query", "key")) -> str:
    """The picture of a heatmap, and of the difference of two: colour follows the square root of a number's size.
    ``names`` say what the rows and the columns are.
    """
    shape = len(payload["numbers"]), len(payload["queries"]), len(payload["keys"])
    values = np.frombuffer(payload["weights"], dtype="<f4").reshape(shape)[0]
    end = payload["limits"][1]
    return _matrix(
        values,
        lambda values: _places(values, end, payload["bend"] == "root both ways", root=True),
        (payload["queries"], payload["keys"]),
        names,
        payload["scale"],
        payload["marks"],
        payload["title"],
    )


def cells_svg(payload: cells.Payload) -> str:
    """The picture of cells, with their numbers as long as these are few, and frames around those that are picked."""
    values = np.frombuffer(payload["weights"], dtype="<f4").reshape(len(payload["rows"]), len(payload["columns"]))
    ends = np.array(payload["ends"], dtype=np.float32)[:, None]
    return _matrix(
        values,
        lambda values: _places(values, ends if len(values) == len(ends) else ends.max(), payload["signed"]),
        (payload["rows"], payload["columns"]),
        (payload["down"], payload["across"]),
        payload["scale"],
        payload["marks"],
        payload["title"],
        numbers=True,
        marked=payload["picked"],
    )


def _matrix(
    values: FloatArray,
    places: Callable[[FloatArray], FloatArray],
    labels: tuple[Sequence[str], Sequence[str]],
    names: tuple[str, str],
    colours: Sequence[str],
    marks: Sequence[tuple[float, str]],
    title: str,
    *,
    numbers: bool = False,
    marked: Sequence[tuple[int, int]] = (),
) -> str:
    """Numbers (rows, columns) as coloured cells with a colour bar; nan is grey. ``places`` gives their places on the
    scale. Of more than 128 rows or columns, several share a cell, which shows the one farthest from zero.
    """
    pooled = _pooled(values)
    largest = 34 if numbers else _LARGEST_CELL
    wide, high = (min(largest, max(_SIDE / n, 3.0)) for n in reversed(pooled.shape))  # of a cell
    wide, high = (wide, min(wide, high)) if numbers else (min(wide, high),) * 2
    row_labels, column_labels = (_labels(side, n) for side, n in zip(labels, pooled.shape, strict=True))
    down, across = names
    longest = max(map(_wide, column_labels), default=0)
    upright = longest > wide
    left = max(map(_wide, row_labels), default=0) + _GAP + (_NAME if down else 0)
    top = (longest if upright else _TYPE) + _GAP + (_NAME if across else 0)
    right, bottom = left + pooled.shape[1] * wide, top + pooled.shape[0] * high

    title += "" if pooled.shape == values.shape else "; a cell shows the largest of several"
    sheet = _Sheet(max(right, left + _BAR[0], left + _wide(title)) + 8, bottom + _BELOW)
    of_cells = places(pooled)
    levels = np.where(np.isnan(pooled), len(colours), np.rint(np.nan_to_num(of_cells) * (len(colours) - 1)))
    sheet.cells(levels.astype(np.uint8), [*colours, LIGHT.surface], left, top, wide, high)
    for row in _labelled(len(row_labels), high):
        sheet.text(row_labels[row], left - _GAP, top + (row + 0.5) * high + 4, anchor="end")
    for column in _labelled(len(column_labels), wide if upright else max(wide, _TYPE)):
        x = left + (column + 0.5) * wide
        if upright:
            sheet.text(column_labels[column], x + 4, top - _GAP, upright=True)
        else:
            sheet.text(column_labels[column], x, top - _GAP, anchor="middle")
    if numbers and pooled.size <= 400 and wide >= 28:
        for (row, column), value in np.ndenumerate(pooled):
            cell = filled_with(_short(float(value)), [*colours, LIGHT.surface][int(levels[row, column])])
            x, y = left + (column + 0.5) * wide, top + (row + 0.5) * high + 3.5
            sheet.text(cell.text, x, y, cell.ink or LIGHT.text, size=10, anchor="middle")
    for row, column in marked if pooled.shape == values.shape else ():
        sheet.frame(left + column * wide, top + row * high, wide, high, LIGHT.text)
    sheet.text(down, _TYPE, (top + bottom) / 2, LIGHT.muted, upright=True, anchor="middle")
    sheet.text(across, (left + right) / 2, _TYPE, LIGHT.muted, anchor="middle")
    sheet.bar(colours, marks, title, left, bottom)
    return sheet.svg()


def grid_svg(payload: grid.Payload, *, framed: bool = True) -> str:
    """The picture of all heads of all layers; unless ``framed``, without the frame around the chosen one."""
    pixels = np.frombuffer(payload["weights"], dtype=np.uint8).reshape(payload["shape"])
    pixels = max_pool(max_pool(pixels, _HEAD, axis=2), _HEAD, axis=3)
    layers, heads, *size = pixels.shape
    colours, names = payload["scale"], payload["names"]
    last = len(colours) - 1
    # One line of pixels between two heads, of a colour of its own, as are heads that a layer does not have.
    mosaic = np.full((layers, heads, size[0] + 1, size[1] + 1), last + 1, dtype=np.uint8)
    for layer, n in enumerate(payload["heads"]):
        mosaic[layer, :n, 1:, 1:] = np.rint(pixels[layer, :n] / 255 * last)
    flat = mosaic.swapaxes(1, 2).reshape(layers * (size[0] + 1), heads * (size[1] + 1))
    cell = min(44.0, (_WIDTH - 60) / heads)
    across, down = cell / (size[1] + 1), cell / (size[0] + 1)
    left, top = 34, 34
    sheet = _Sheet(left + max(heads * cell, _BAR[0]) + 8, top + layers * cell + _BELOW)
    sheet.cells(flat, [*colours, LIGHT.background], left, top, across, down)
    for row in range(layers if len(names) > 1 else 0):
        sheet.text(str(row + payload["counts"]), left - _GAP, top + (row + 0.5) * cell + 4, anchor="end")
    for column in _labelled(heads, cell):
        name = str(column + payload["counts"])
        sheet.text(name, left + (column + 0.5) * cell, top - _GAP, anchor="middle")
    if framed:
        row, column = payload["selected"]
        sheet.frame(left + column * cell, top + row * cell, cell + across, cell + down, LIGHT.primary)
    if len(names) > 1:
        sheet.text(names[0], 12, top + layers * cell / 2, LIGHT.muted, upright=True, anchor="middle")
    sheet.text(names[-1], left + heads * cell / 2, 13, LIGHT.muted, anchor="middle")
    sheet.bar(colours, payload["marks"], payload["title"], left, top + layers * cell)
    return sheet.svg()


def lines_svg(payload: lines.Payload) -> str:
    """The picture of lines from queries to keys: the strongest of them."""
    shape = len(payload["colours"]), len(payload["queries"]), len(payload["keys"])
    weights = np.frombuffer(payload["weights"], dtype=np.uint8).reshape(shape)
    high = 18
    names = [[clipped(visible_text(name), _LONGEST) for name in payload[side]] for side in ("queries", "keys")]
    left, right = (max(map(_wide, side), default=0) + 8 for side in names)
    span = 240
    sheet = _Sheet(left + span + right, high * max(map(len, names)) + 8)
    strength = np.ceil(weights / 255 * 16).astype(int)  # in 16 steps: lines of one are one path
    strength.flat[np.argsort(weights, axis=None, kind="stable")[:-_MOST_LINES]] = 0
    for head, colour in enumerate(payload["colours"]):
        for step in range(1, 17):
            pairs = np.argwhere(strength[head] == step)
            path = "".join(
                f"M{left} {query * high + 13}L{left + span} {key * high + 13}" for query, key in pairs.tolist()
            )
            if path:
                ink = f'stroke="{colour}" stroke-opacity="{step / 16:.2f}"'
                sheet.add(f'<path fill="none" stroke-width="1.5" {ink} d="{path}"/>')
    for side, x, anchor in ((names[0], left - 4, "end"), (names[1], left + span + 4, "start")):
        for place, name in enumerate(side):
            sheet.text(name, x, place * high + 17, anchor=anchor)
    return sheet.svg()


def curves_svg(figure: go.Figure) -> str:
    """The lines of a figure over its x axis, each with its name at its end; of two panels the upper one, and without
    intervals. Places on the x axis are written as numbers, as in Python.
    """
    traces = [t for t in figure.data if t.fill is None and t.yaxis in (None, "y") and any(map(_known, t.y))]
    numbers = [float(value) for trace in traces for value in trace.y if _known(value)]
    least, most = min(numbers, default=0.0), max(numbers, default=1.0)
    most = most if most > least else least + 1.0
    measured = [trace for trace in traces if "markers" in trace.mode]
    places = sorted({float(place) for trace in measured for place in trace.x})
    first, length = places[0] - 0.5, places[-1] - places[0] + 1
    left, top, wide, high = 52, 26, 360, 150
    names = [clipped(visible_text(unescape(trace.name)), 2 * _LONGEST) for trace in traces]
    longest = max(map(_wide, names), default=0)
    sheet = _Sheet(left + wide + 16 + longest, top + high + 40)

    def x(place: float) -> float:
        return round(left + min(max((place - first) / length, 0), 1) * wide, 1)

    def y(value: float) -> float:
        return round(top + (most - value) / (most - least) * high, 1)

    for mark in np.linspace(least, most, 4):
        sheet.add(f'<path d="M{left} {y(mark)}h{wide}" stroke="{LIGHT.line}"/>')
        sheet.text(f"{mark:.2g}".replace("-", "−"), left - _GAP, y(mark) + 4, LIGHT.muted, anchor="end")
    sheet.text(_plain(figure.layout.yaxis.title.text), left, 13, LIGHT.muted)
    for at in _labelled(len(places), wide / len(places) / 2):
        sheet.text(f"{places[at]:g}", x(places[at]), top + high + 16, LIGHT.muted, anchor="middle")
    across = _plain(figure.layout.xaxis.title.text)
    sheet.text(across, left + wide / 2, top + high + 32, LIGHT.muted, anchor="middle")
    named: list[tuple[float, str, str]] = []
    for trace, name in zip(traces, names, strict=True):
        drawn = [(x(place), y(value)) for place, value in zip(trace.x, trace.y, strict=True) if _known(value)]
        colour, dash = trace.line.color, "" if trace.line.dash in (None, "solid") else ' stroke-dasharray="5 4"'
        path = "L".join(f"{a} {b}" for a, b in drawn)
        sheet.add(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        if trace in measured:
            sheet.add("".join(f'<circle cx="{a}" cy="{b}" r="3" fill="{colour}"/>' for a, b in drawn))
        named.append((drawn[-1][1], name, colour))
    lowest = float(top)
    for down, name, colour in sorted(named):  # names stand at the ends of their lines, none on another
        lowest = max(lowest, down)
        sheet.text(name, left + wide + 8, lowest + 4, colour)
        lowest += _TYPE + 3
    sheet.height = max(sheet.height, lowest)
    return sheet.svg()


def _known(value: float | None) -> bool:
    return value is not None and bool(np.isfinite(value))


def _plain(label: str | None) -> str:
    """The title of an axis as text."""
    return unescape(label or "")


def token_line_svg(lines: Iterable[Line]) -> str:
    """The picture of a token line: words, each after its line's label, that wrap like text and run in a direction."""
    rows = list(lines)
    indent = max((_wide(row.label) for row in rows), default=0)
    indent += 8 if indent else 0
    high, pad = 20, 3
    sheet = _Sheet(_WIDTH, 0)
    y = 4.0
    for row in rows:
        deep = max((len(item.cells) for item in row.items), default=1) * high + 4
        mirrored = row.direction == "rtl"
        sheet.text(row.label, _WIDTH * mirrored, y + 14, LIGHT.muted, anchor="end" if mirrored else "start")
        x: float = indent
        for item in row.items:
            wide = max(_wide(cell.text) for cell in item.cells) + 2 * pad
            x += 4 if item.space and x > indent else 0
            if x + wide > _WIDTH and x > indent:
                x, y = indent, y + deep
            left = _WIDTH - x - wide if mirrored else x
            for place, cell in enumerate(item.cells):
                top = y + place * high
                if cell.fill:
                    sheet.box(left, top, wide, high - 1, cell.fill)
                sheet.text(cell.text, left + wide / 2, top + 14, cell.ink or LIGHT.text, anchor="middle")
            if item.marked:
                sheet.frame(left, y, wide, len(item.cells) * high - 1, LIGHT.primary)
            x += wide
        y += deep
    sheet.height = y + 4
    return sheet.svg()


_VERBS: Final = {"attends": "looks at", "takes": "takes from", "changes": "changes without"}


def lit_words_svg(payload: lit_words.Payload) -> str:
    """The words that light up, of the query whose weight for another word is the largest."""
    queries, keys = payload["queries"], payload["keys"] or payload["queries"]
    alike = payload["keys"] is None
    shape = len(payload["names"]), len(queries), len(keys)
    weights = np.frombuffer(payload["weights"], dtype="<u2").reshape(shape)[0] / 65535  # of the scale's end
    special = [np.array([word["special"] for word in side]) for side in (queries, keys)]
    worth = weights - 2 * weights.max() * (special[0][:, None] | special[1][None, :])
    if alike:
        np.fill_diagonal(worth, -np.inf)
    query = int(worth.max(axis=1).argmax())
    shades = payload["scale"]
    words = []
    for place, word in enumerate(keys):
        cell = Cell(word["text"], *shades[round(weights[query, place] ** 0.5 * (len(shades) - 1))])
        words.append(Item((cell,), marked=alike and place == query, space=word["space"]))
    label = f"{queries[query]['token']} {_VERBS[payload['says']]}"
    return token_line_svg([Line(tuple(words), label, keys[0]["dir"])])


@dataclass(slots=True)
class _Sheet:
    """An SVG that grows; all that is written on it is escaped."""

    width: float
    height: float
    parts: list[str] = field(default_factory=list)

    def add(self, part: str) -> None:
        self.parts.append(part)

    def text(
        self,
        text: str,
        x: float,
        y: float,
        colour: str = LIGHT.text,
        *,
        size: int = _TYPE,
        anchor: str = "start",
        upright: bool = False,
    ) -> None:
        """Upright text runs from the bottom to the top."""
        if not text:
            return
        turned = f' transform="rotate(-90 {x:g} {y:g})"' if upright else ""
        sized = "" if size == _TYPE else f' font-size="{size}"'
        anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
        inked = "" if colour == LIGHT.text else f' fill="{colour}"'
        self.add(f'<text x="{x:g}" y="{y:g}"{anchored}{sized}{turned}{inked}>{escape(text)}</text>')

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        self.add(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{colour}"/>')

    def frame(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        size = f'width="{width - 2:g}" height="{height - 2:g}"'
        self.add(f'<rect x="{x + 1:g}" y="{y + 1:g}" {size} fill="none" stroke="{colour}" stroke-width="2"/>')

    def cells(self, levels: Levels, colours: Sequence[str], x: float, y: float, across: float, down: float) -> None:
        """Levels (rows, columns), places among the colours, as cells of a size: as paths or as a PNG in the SVG,
        whichever is shorter.
        """
        rows, columns = levels.shape
        drawn = _paths(levels, colours)
        paths = (
            f'<g shape-rendering="crispEdges" transform="translate({x:g} {y:g}) scale({across:g} {down:g})">{drawn}</g>'
        )
        size = f'x="{x:g}" y="{y:g}" width="{columns * across:g}" height="{rows * down:g}"'
        data = base64.b64encode(_png(levels, colours)).decode("ascii")
        look = 'preserveAspectRatio="none" style="image-rendering: pixelated"'
        png = f'<image {size} {look} href="data:image/png;base64,{data}"/>'
        self.add(min(paths, png, key=len))

    def bar(
        self, colours: Sequence[str], marks: Iterable[tuple[float, str]], quantity: str, left: float, bottom: float
    ) -> None:
        """The colour bar below a place."""
        wide, high = _BAR
        top = bottom + 8
        for place, colour in enumerate(colours):  # every piece reaches to the end, so that no seam shows
            x = wide * place / len(colours)
            self.box(left + x, top, wide - x, high, colour)
        for at, mark in marks:
            anchor = "start" if at == 0 else "end" if at == 1 else "middle"
            self.text(mark, left + at * wide, top + high + 12, LIGHT.muted, anchor=anchor)
        self.text(quantity, left, top + high + 27, LIGHT.muted)

    def svg(self) -> str:
        size = f'width="{self.width:g}" height="{self.height:g}" viewBox="0 0 {self.width:g} {self.height:g}"'
        type_ = f'font-family="{PAPER_FONT}" font-size="{_TYPE}" fill="{LIGHT.text}" xml:space="preserve"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {type_}>'
        ground = f'<rect width="100%" height="100%" fill="{LIGHT.background}"/>'
        return f"{head}{ground}{''.join(self.parts)}</svg>"


def _places(values: FloatArray, end: float | FloatArray, signed: bool, root: bool = False) -> FloatArray:
    """Places of numbers on the scale, 0 to 1."""
    sizes = np.clip(np.abs(values) / end, 0, 1)
    bent = np.sqrt(sizes) if root else sizes
    return np.asarray(0.5 + np.sign(values) * bent / 2 if signed else bent * (values > 0), dtype=np.float32)


def _pooled(values: FloatArray) -> FloatArray:
    """At most so many rows and columns, each the number of its block that is farthest from zero."""
    if max(values.shape) <= _MOST:
        return values
    plain = np.nan_to_num(values)
    above, below = (max_pool(max_pool(sign * plain, _MOST, axis=0), _MOST, axis=1) for sign in (1, -1))
    return np.where(above >= below, above, -below).astype(np.float32)


def _labels(names: Sequence[str], n: int) -> list[str]:
    """What n rows or columns are called; without names where several share one."""
    return [clipped(visible_text(name), _LONGEST) for name in names] if len(names) == n else [""] * n


def _labelled(n: int, size: float) -> range:
    """Which of n rows have room for a label."""
    return range(0, n, max(1, int(np.ceil(_TYPE / size))))


def _wide(text: str) -> int:
    """About how wide a text is."""
    return round(sum(_TYPE * _of_width(sign) for sign in text)) + 3


def _of_width(sign: str) -> float:
    if unicodedata.combining(sign):
        return 0.0
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.0
    return 0.32 if sign in "iljtfrI.,:;'|![]()" else 0.85 if sign in "mwMW@%…" else 0.6


def _short(value: float) -> str:
    if np.isnan(value):
        return "–"
    return "0" if abs(value) < 0.005 else f"{value:.2f}".replace("0.", ".").replace("-", "−")


def _paths(levels: Levels, colours: Sequence[str]) -> str:
    """Cells of a unit as a path a colour."""
    runs: dict[int, list[str]] = {}
    for y, row in enumerate(levels.tolist()):
        x = 0
        for level, group in groupby(row):
            n = len(list(group))
            runs.setdefault(level, []).append(f"M{x} {y}h{n}v1h-{n}z")
            x += n
    return "".join(f'<path fill="{colours[level]}" d="{"".join(path)}"/>' for level, path in runs.items())


def _png(levels: Levels, colours: Sequence[str]) -> bytes:
    """A PNG of a pixel a level, with the colours as its palette."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    high, wide = levels.shape
    header = struct.pack(">IIBBBBB", wide, high, 8, 3, 0, 0, 0)
    lines = np.pad(levels, ((0, 0), (1, 0))).tobytes()  # a line begins with its filter: 0, none
    palette = b"".join(bytes(rgb(colour)) for colour in colours)
    parts = (b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)
