"""The colours of every figure: themes, colour scales for weights and differences, and colours for heads.

Everything is built in OKLab (Ottosson 2020), where equal distances look about equally different: a path
through a few anchors is cut into steps of equal length, so that no part of a scale shows edges the numbers do
not have. Lightness always moves one way, so readers with any colour vision, and grey prints, keep the order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Colorscale = tuple[tuple[float, str], ...]  # Plotly's form: (position 0..1, "#rrggbb")

_ORANGE: Final = 55  # its hue in OKLab, in degrees,
_AROUND_ORANGE: Final = 40  # and how far from it a colour may be taken for it

STEPS: Final = 32  # pieces of a scale; Plotly interpolates between them


@dataclass(frozen=True, slots=True)
class Theme:
    """What a figure needs to look right on its own: backgrounds, text and lines, as "#rrggbb".

    The roles are those of .streamlit/config.toml and, as custom properties, of components/shared/theme.css.
    """

    background: str
    surface: str  # panels and hover labels
    text: str
    muted: str  # axis titles, tick labels: at least 4.5:1 on the background
    line: str  # grid lines, borders and gaps between cells
    primary: str  # what is chosen


LIGHT: Final = Theme("#FFFFFF", "#F4F5F9", "#1B1F2A", "#575D6E", "#D9DCE6", "#4B4FCF")

DARK: Final = Theme("#11131A", "#1B1E28", "#E8EAF2", "#A3A8B8", "#343948", "#9CA2FF")
MOST_COLOURS: Final = 24  # beyond, colours can no longer be told apart

# OKLCh anchors (lightness, chroma, hue in degrees). Weights run from the background to the far end of
# lightness; differences from one hue over the background to another that no colour blindness confuses.
_SEQUENTIAL: Final = {
    False: ((0.985, 0.004, 265), (0.80, 0.085, 240), (0.52, 0.165, 272), (0.24, 0.110, 290)),
    True: ((0.215, 0.020, 278), (0.40, 0.125, 278), (0.66, 0.130, 255), (0.965, 0.050, 150)),
}
_NEGATIVE: Final = {
    False: ((0.36, 0.085, 50), (0.60, 0.125, 55), (0.82, 0.085, 65), (0.985, 0.004, 65)),
    True: ((0.90, 0.080, 80), (0.70, 0.130, 60), (0.44, 0.080, 50), (0.215, 0.012, 275)),
}
_POSITIVE: Final = {
    False: ((0.985, 0.004, 265), (0.82, 0.075, 250), (0.60, 0.130, 265), (0.36, 0.160, 275)),
    True: ((0.215, 0.012, 275), (0.44, 0.110, 270), (0.70, 0.120, 260), (0.90, 0.050, 235)),
}

# Linear RGB -> LMS and cube-rooted LMS -> OKLab, from https://bottosson.github.io/posts/oklab/
_LMS: Final = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_OKLAB: Final = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
# Complete protanopia and deuteranopia in linear RGB: Machado, Oliveira and Fernandes 2009, severity 1.0.
_COLOUR_BLIND: Final = (
    np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
)


def theme(dark: bool) -> Theme:
    """The theme's constants; the same values as in .streamlit/config.toml."""
    return DARK if dark else LIGHT


@cache
def sequential(dark: bool) -> Colorscale:
    """Weights: position 0 is next to the background ("nothing"), 1 the strongest. Equal steps in OKLab."""
    return _scale(_equal_steps(_oklab(_SEQUENTIAL[dark])))


@cache
def diverging(dark: bool) -> Colorscale:
    """Numbers with a sign: 0 at position 0.5 is next to the background, what is below (opposes, is less) is orange,
    what is above (supports, is more) blue. Nothing else shows a sign by colour.
    """
    negative = _equal_steps(_oklab(_NEGATIVE[dark]))
    positive = _equal_steps(_oklab(_POSITIVE[dark]))
    middle = (negative[-1:] + positive[:1]) / 2
    return _scale(np.concatenate([negative[:-1], middle, positive[1:]]))


def supports(dark: bool) -> str:
    """Blue, of what supports or is more, where a length tells how much: the colour of ``diverging`` as far from its
    middle as lets this one and ``opposes`` stand at least 3:1 from what they are drawn on.
    """
    scale = diverging(dark)
    return scale[-1 - len(scale) // 5][1]


def opposes(dark: bool) -> str:
    """Orange, of what opposes or is less, as far from the middle of ``diverging`` as ``supports`` is."""
    scale = diverging(dark)
    return scale[len(scale) // 5][1]


def by_sign(values: Iterable[float], dark: bool) -> list[str]:
    """The colour of each number: ``supports`` above 0, ``opposes`` below."""
    return [opposes(dark) if value < 0 else supports(dark) for value in values]


def categorical(n: int, dark: bool) -> list[str]:
    """n colours that stay apart for normal, protanope and deuteranope sight, at least 3:1 on the background.

    The first is the theme's primary colour; each next is the candidate farthest from all before it, so that
    head 3 keeps its colour whether 3 or 24 heads are shown. But the second is the first of these that is not orange,
    which beside the blue of the first would say that something opposes.
    """
    if n < 0:
        raise ValueError(f"the number of colours must not be negative; got {n}")
    return list(_farthest_first(max(n, MOST_COLOURS), dark)[:n])


def square_root(scale: Colorscale) -> Colorscale:
    """The scale bent so that colour follows the square root of a linear value: 0.02 stays visible."""
    return tuple((position**2, colour) for position, colour in scale)


@lru_cache(maxsize=8)
def _farthest_first(n: int, dark: bool) -> tuple[str, ...]:
    colours = theme(dark)
    axis = np.linspace(0.0, 1.0, 18)
    candidates = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    candidates = np.round(candidates * 255) / 255
    candidates = np.concatenate([_parse(colours.primary)[None], candidates])
    luminance = _linear(candidates) @ _LUMINANCE
    lab = _to_oklab(_linear(candidates))
    chroma = np.hypot(lab[:, 1], lab[:, 2])
    # 3.2 leaves room for rounding; greys are for text, and neon hurts on a dark page.
    fits = (chroma > 0.07) & (chroma < 0.21) & (lab[:, 0] > 0.34) & (lab[:, 0] < 0.93)
    for background in (colours.background, colours.surface):
        fits &= _contrast(luminance, float(_linear(_parse(background)) @ _LUMINANCE)) >= 3.2
    candidates = candidates[fits]
    seen = [_to_oklab(_linear(candidates))]
    seen += [_to_oklab(np.clip(_linear(candidates) @ matrix.T, 0, 1)) for matrix in _COLOUR_BLIND]
    # For the colour blind, two thirds of the distance are enough: 24 colours in a plane cannot be as far apart.
    weights = (1.0, 1.5, 1.5)
    chosen = [0]
    nearest = np.full(len(candidates), np.inf)
    while len(chosen) < n:
        for points, weight in zip(seen, weights, strict=True):
            distance = weight * np.linalg.norm(points - points[chosen[-1]], axis=1)
            nearest = np.minimum(nearest, distance)
        chosen.append(int(nearest.argmax()))
    hue = np.degrees(np.arctan2(seen[0][chosen, 2], seen[0][chosen, 1]))
    second = int((np.abs(hue - _ORANGE) > _AROUND_ORANGE)[1:].argmax()) + 1
    chosen.insert(1, chosen.pop(second))
    return tuple(_hex(candidates[i]) for i in chosen)


_LUMINANCE: Final = np.array([0.2126, 0.7152, 0.0722])


def _contrast(a: Array, b: float) -> Array:
    """WCAG 2 contrast ratio of relative luminances, 1..21."""
    return (np.maximum(a, b) + 0.05) / (np.minimum(a, b) + 0.05)


def _linear(srgb: Array) -> Array:
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _to_oklab(linear: Array) -> Array:
    result: Array = np.cbrt(linear @ _LMS.T) @ _OKLAB.T
    return result


def _to_srgb(oklab: Array) -> Array:
    linear = (oklab @ np.linalg.inv(_OKLAB).T) ** 3 @ np.linalg.inv(_LMS).T
    linear = np.clip(linear, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def _oklab(lch: tuple[tuple[float, float, float], ...]) -> Array:
    lightness, chroma, hue = np.array(lch).T
    return np.stack([lightness, chroma * np.cos(np.radians(hue)), chroma * np.sin(np.radians(hue))], axis=-1)


def _equal_steps(anchors: Array) -> Array:
    """STEPS + 1 points at equal distances along a smooth curve through the anchors (OKLab)."""
    knots = np.arange(len(anchors))
    fine = np.linspace(0, len(anchors) - 1, 2001)
    # A cubic through all anchors has no kinks; they are few, so it does not swing.
    curve = np.stack([np.polynomial.Polynomial.fit(knots, column, 3)(fine) for column in anchors.T], axis=-1)
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    even = np.linspace(0, length[-1], STEPS + 1)
    return np.stack([np.interp(even, length, column) for column in curve.T], axis=-1)


def _scale(oklab: Array) -> Colorscale:
    positions = np.linspace(0, 1, len(oklab))
    return tuple((float(p), _hex(c)) for p, c in zip(positions, _to_srgb(oklab), strict=True))


def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of "#rrggbb", 0 to 255."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def _parse(colour: str) -> Array:
    return np.array(rgb(colour)) / 255


def _hex(srgb: Array) -> str:
    red, green, blue = np.round(srgb * 255).astype(int)
    return f"#{red:02X}{green:02X}{blue:02X}"
