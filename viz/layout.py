"""What all figures share: fonts and colours of a theme, the colour bar, tokens as safe text, names of layers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go
import regex

from viz.palette import Colorscale, theme

FONT: Final = '"Source Sans", "Source Sans Pro", system-ui, sans-serif'
PAPER_FONT: Final = "Helvetica, Arial, sans-serif"  # of pictures in files: every program has one of these
PLAIN: Final = 12  # px: the size of most type on the screen, of figures and components
PERCENT: Final = ".1~%"  # of an axis: with a digit behind the point where ticks are less than one percent apart
COLOUR_BAR_SPACE: Final = 56  # px that the colour bar takes at the bottom of a figure
_LONGEST_TITLE: Final = 34  # characters: a phone has room for them beside the button
_BAR_LENGTH: Final = 180  # px: a phone has room for it beside the longest labels
_ESCAPED: Final = {ord(character): f"&#{ord(character)};" for character in "&<>$%{}"}
_JOINERS: Final = "\u200c\u200d"  # inside a word or an emoji they have a meaning of their own


def visible_text(token: str) -> str:
    """A token as a reader can see it.

    What cannot be seen (control characters, surrogates, direction marks, lone spaces) is shown by its name or number.
    """
    if token.isprintable() and token and " " not in (token[0], token[-1]):
        return token  # all of it can be seen
    visible = "".join(_visible(character, alone=len(token) == 1) for character in token) or "(empty)"
    if visible[0] == " " or visible[-1] == " ":
        visible = visible.replace(" ", "␣")
    return visible


def token_text(token: str, longest: int | None = None) -> str:
    """A token's visible text for Plotly's labels, cut with … at ``longest`` characters where given.

    Plotly reads a subset of HTML, ``%{...}`` and TeX between dollar signs in labels; these come out as typed.
    """
    visible = visible_text(token)
    if longest is not None:
        visible = clipped(visible, longest)
    return visible.translate(_ESCAPED)


def clipped(text: str, longest: int) -> str:
    """A text of at most ``longest`` graphemes, cut with … where it has more: an accent stays with its letter."""
    if len(text) <= longest:  # a grapheme is one code point or more
        return text
    graphemes = regex.findall(r"\X", text)
    return text if len(graphemes) <= longest else "".join(graphemes[: longest - 1]) + "…"


def _visible(character: str, *, alone: bool) -> str:
    if character in _JOINERS and not alone:
        return character
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return f"⟨U+{ord(character):04X}⟩"
    return " " if unicodedata.category(character) == "Zs" else character


def layer_names(n_layers: int) -> list[str]:
    """What the screen calls the layers: the embeddings, then the layers from 1."""
    return ["embeddings", *(str(layer) for layer in range(1, n_layers))]


def head_names(heads: Sequence[tuple[int, int]]) -> list[str]:
    """What the screen calls heads, (layer, head) from 0: both from 1."""
    return [f"Layer {layer + 1}, head {head + 1}" for layer, head in heads]


def percent(share: float) -> str:
    """Two digits that count, whatever the size: 23%, 1.4%, 0.031%, and powers of ten below."""
    value = 100 * share
    if value >= 10 or value == 0:
        return f"{value:.0f}%"
    return f"{value:.2g}%" if value >= 0.001 else f"{value:.0e}%"


def base_layout(dark: bool, *, legend: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
    """A figure that looks right by itself in the theme, also as a downloaded image; with a ``legend`` where it is given
    a place.

    A plain dictionary, as are the traces here: Plotly checks what it is given, and its own objects twice.
    """
    colours = theme(dark)
    return {
        "template": "none",  # without one Plotly takes its own theme, which is light
        "autosize": True,
        "paper_bgcolor": colours.background,
        "plot_bgcolor": colours.background,
        "font": {"family": FONT, "size": 13, "color": colours.text},
        "hoverlabel": {
            "bgcolor": colours.surface,
            "bordercolor": colours.line,
            "font": {"family": FONT, "size": 13, "color": colours.text},
            "align": "left",
        },
        "dragmode": False,
        "showlegend": legend is not None,
        **({} if legend is None else {"legend": legend}),
        **settings,
    }


def make_figure(
    traces: Iterable[dict[str, Any]],
    dark: bool,
    *,
    height: int,
    margin: tuple[int, int, int, int],
    frames: Sequence[Any] | None = None,
    **settings: Any,
) -> go.Figure:
    """Traces in a ``base_layout`` of a height, with margins at the left, right, top and bottom, in px."""
    sides = dict(zip("lrtb", margin, strict=True))
    layout = base_layout(dark, height=height, margin=sides, **settings)
    return go.Figure(data=list(traces), layout=layout, frames=frames)


def enlarge(figure: go.Figure, scale: float) -> None:
    """Make all of a figure's type, and with it its height and margins, so many times as large."""
    if scale == 1:
        return
    spec = figure.to_plotly_json()
    _enlarge(spec, scale)
    layout = spec["layout"]
    for sizes, names in ((layout, ("height",)), (layout.get("margin", {}), tuple("lrtb"))):
        for name in names:
            if name in sizes:
                sizes[name] = round(sizes[name] * scale)
    figure.update(spec)


def for_paper(figure: go.Figure, scale: float) -> None:
    """Write a figure in type so many times as large, in a font that every program has."""
    enlarge(figure, scale)
    figure.update_layout(font_family=PAPER_FONT)


def _enlarge(part: Any, scale: float) -> None:
    """Enlarges all fonts within a part of a figure."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name.endswith("font") and isinstance(value, dict) and isinstance(value.get("size"), int | float):
                value["size"] = value["size"] * scale
            _enlarge(value, scale)
    elif isinstance(part, list | tuple):
        for value in part:
            _enlarge(value, scale)


def axis(dark: bool, title: str = "", *, grid: bool = False, zero: bool = False, **settings: Any) -> dict[str, Any]:
    """An axis that stays as it is and has no line of its own; lines of a ``grid`` and at ``zero`` where they are asked
    for. ``title`` is safe text.
    """
    colours = theme(dark)
    return {
        "fixedrange": True,
        "automargin": True,
        "showgrid": grid,
        "gridcolor": colours.line,
        "zeroline": zero,
        "zerolinecolor": colours.line,
        "showline": False,
        "ticks": "",
        "tickfont": {"size": 12, "color": colours.text},
        "title": {"text": title, "font": {"size": 12, "color": colours.muted}, "standoff": 8},
        **settings,
    }


def score_axis(dark: bool, title: str, *, percent: bool, **settings: Any) -> dict[str, Any]:
    """A y axis of scores with a grid, which are shares of one or plain numbers."""
    return axis(dark, title, grid=True, tickformat=PERCENT if percent else None, **settings)


def log_axis(dark: bool, title: str, ticks: Sequence[float], names: Sequence[str], **settings: Any) -> dict[str, Any]:
    """A logarithmic axis with a grid at ``ticks``, which have ``names``: Plotly's own lack their powers of ten."""
    return axis(dark, title, grid=True, type="log", tickvals=list(ticks), ticktext=list(names), **settings)


def component_axis(dark: bool, which: int, explained: Sequence[float], **settings: Any) -> dict[str, Any]:
    """An axis of the plane of two principal components, which tells what share of the variance its own explains."""
    title = f"component {which + 1} ({explained[which]:.0%} of the variance)"
    return axis(dark, title, grid=True, showticklabels=False, **settings)


def rows(names: Sequence[str], dark: bool, title: str = "", **settings: Any) -> dict[str, Any]:
    """A y axis of rows 0, 1, 2, … from top to bottom with their names, which are safe text."""
    return columns(names, dark, title, range=[len(names) - 0.5, -0.5], ticklabelstandoff=6) | settings


def columns(names: Sequence[str], dark: bool, title: str = "", **settings: Any) -> dict[str, Any]:
    """An x axis of places 0, 1, 2, … with their names, which are safe text."""
    return axis(dark, title, tickvals=list(range(len(names))), ticktext=list(names)) | settings


def tokens_across(tokens: Sequence[str], dark: bool, title: str, longest: int, **settings: Any) -> dict[str, Any]:
    """``columns`` of the tokens of a text, of which as many are named as there is room for: only the browser knows how
    wide the figure is, and only of categories does Plotly leave out names that would print over each other. Names are
    cut at ``longest`` characters.
    """
    names = {str(place): token_text(token, longest) for place, token in enumerate(tokens)}
    return axis(dark, title, type="category", labelalias=names) | settings


def note(text: str, x: float, y: float, colour: str, size: int = 13, **settings: Any) -> dict[str, Any]:
    """An annotation of safe text at a place of the whole plot, 0 to 1 from its left and bottom."""
    font = {"size": size, "color": colour}
    return {"text": text, "x": x, "y": y, "xref": "paper", "yref": "paper", "showarrow": False, "font": font} | settings


def headline(title: str, dark: bool) -> dict[str, Any]:
    """A figure's title at its upper left, in a top margin of at least 28 px, beside the button that saves it."""
    return {
        "text": token_text(title, _LONGEST_TITLE) if title else "",
        "x": 0,
        "xref": "container",
        "y": 1,
        "yref": "container",
        "yanchor": "top",
        "pad": {"t": 6, "l": 2},
        "font": {"size": 13, "color": theme(dark).text},
    }


def weight_marks(maximum: float) -> list[tuple[float, str]]:
    """Places on the bar of a √weight scale that ends at ``maximum``, 0 to 1, and the weights they stand for."""
    return [(float(np.sqrt(mark / maximum)), f"{mark:.3g}") for mark in _marks(maximum)]


def even_marks(end: float, *, signed: bool = False, beyond: bool = False) -> list[tuple[float, str]]:
    """``weight_marks`` of an even scale from 0 to ``end``, or ``signed`` from -``end`` on. With ``beyond`` its ends
    mean all that is farther out, too.
    """
    size = f"{end:.2g}" if beyond else f"{end:.3g}"
    if signed:
        return [(0.0, f"{'≤' * beyond}−{size}"), (0.5, "0"), (1.0, f"{'≥' * beyond}+{size}")]
    return [(0.0, "0"), (0.5, f"{end / 2:.3g}"), (1.0, size)]


def root_title(quantity: str) -> str:
    """What a colour bar says of numbers whose colours follow their square root."""
    return f"{quantity} (square-root scale)"


def scale_bar(
    scale: Colorscale,
    marks: Iterable[tuple[float, str]],
    title: str,
    dark: bool,
    *,
    at: float = 0.0,
    length: int = _BAR_LENGTH,
    below: int = 0,
) -> list[dict[str, Any]]:
    """The legend of a colour scale as layout shapes, below the plot from ``at`` on, a share of its width; ``length`` in
    px, as is what lies between the plot and it, ``below``. ``marks`` are places from 0 to 1 and their names, ``title``
    safe text: what the numbers are, with their unit.

    Its colours are evenly spaced: a heatmap's own bar is spaced by number, and squeezes everything below 0.1 of a √
    scale into its first third. Shapes, because Plotly takes longer to draw a colour bar than the whole matrix. The
    figure leaves ``COLOUR_BAR_SPACE`` px at its bottom for it.
    """
    colours = theme(dark)
    scale = scale[::2]
    # Every piece reaches to the end, so that no seam shows between one and the next.
    bar = [
        _box(round(length * piece / len(scale)), length, -8 - below, -18 - below, at) | {"fillcolor": colour}
        for piece, (_, colour) in enumerate(scale)
    ]
    # A label stands in the middle of a box of no width.
    font = {"size": 11, "color": colours.muted}
    labels = [
        _box(place, place, -18 - below, -36 - below, at)
        | {
            "name": "mark of a colour bar",
            "label": {"text": text, "font": font, "textposition": "middle center"},
        }
        for place, text in ((round(length * place), text) for place, text in marks)
    ]
    named = _box(0, length, -34 - below, -52 - below, at) | {
        "name": "title of a colour bar",
        "label": {"text": title, "font": font, "textposition": "middle left", "padding": 0},
    }
    return [*bar, *labels, named]


def _box(x0: int, x1: int, y0: int, y1: int, at: float) -> dict[str, Any]:
    """A shape in px, from the lower edge of the plot and the place ``at``, a share of its width."""
    return {
        "type": "rect",
        "xref": "paper",
        "xsizemode": "pixel",
        "xanchor": at,
        "yref": "y domain",
        "ysizemode": "pixel",
        "yanchor": 0,
        "x0": x0,
        "x1": x1,
        "y0": y0,
        "y1": y1,
        "line": {"width": 0},
    }


def _marks(maximum: float) -> list[float]:
    """Weights named on the colour bar: round numbers, then the maximum itself."""
    unit = 10.0 ** np.floor(np.log10(maximum)) if maximum < 1 else 1.0
    steps = np.array([0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 1, 2, 4, 6]) * unit
    # A mark closer than an eighth of the bar to its end or its neighbour would print over it.
    marks = [0.0]
    for mark in steps[(steps > 0) & (steps < maximum)]:
        place, before = np.sqrt(np.array([mark, marks[-1]]) / maximum)
        if place < 0.86 and place - before > 0.125:
            marks.append(float(mark))
    return [*marks, maximum]
