"""What a tuned model answers: bars of labels, words with their tags, a passage with its answer; and the confusion of
labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from viz.layout import axis, make_figure, percent, token_text
from viz.marks import LEGEND_ABOVE
from viz.palette import categorical, theme
from viz.token_line import Cell, Item, Line, filled_with

OUTSIDE: Final = "O"
_NAMES: Final = 26  # of tokens, side by side in 300 px


def tag_line(
    words: Sequence[str],
    tags: Sequence[str],
    shares: Sequence[float],
    types: Sequence[str],
    *,
    dark: bool = False,
    label: str = "",
    gold: Sequence[str] | None = None,
) -> Line:
    """Words in their order, each with its tag and the tag's probability below; entities have the colour of their type.

    ``types`` are all types of entities, so that a type has the same colour everywhere. Where the ``gold`` tag is
    another one the word is outlined and shows it, too.
    """
    colours = dict(zip(types, categorical(max(1, len(types)), dark), strict=False))
    items = []
    for word, tag, share, right in zip(words, tags, shares, tags if gold is None else gold, strict=True):
        colour = colours.get(tag.partition("-")[2])
        cells = [Cell(word) if colour is None else filled_with(word, colour)]
        cells.append(Cell("·" if tag == OUTSIDE else tag, small=True))
        if right != tag:
            cells.append(Cell(f"is {right}", small=True))
        items.append(Item(tuple(cells), f"{word}: {tag}, {percent(share)}", marked=right != tag))
    return Line(tuple(items), label)


def piece_line(pieces: Sequence[str], labels: Sequence[str | None], label: str = "") -> Line:
    """Tokens with the training target of each: the tag of its word at the first piece, −100 (nothing) elsewhere."""
    items = [
        Item((Cell(piece), Cell("−100" if tag is None else tag, small=True, struck=False)), marked=tag is not None)
        for piece, tag in zip(pieces, labels, strict=True)
    ]
    return Line(tuple(items), label)


def span_scores(
    tokens: Sequence[str],
    start: Sequence[float],
    end: Sequence[float],
    best: tuple[int, int] | None,
    no_answer: float,
    *,
    dark: bool = False,
) -> go.Figure:
    """The score of each token of a passage as the start and as the end of the answer (logits), as bars side by side.

    ``best`` are the places of the first and the last token of the best span, which is shaded. The dotted line is half
    of the score of "no answer": a span is ahead of that if its two bars are higher on average. Of a long passage the
    tokens with the highest scores are named, as many as a narrow figure has room for.
    """
    colours = theme(dark)
    first, second = categorical(2, dark)
    places = list(range(len(tokens)))
    names = [token_text(token) for token in tokens]
    named = _named(np.maximum(start, end), best)
    figure = make_figure(
        [
            {
                "type": "bar",
                "name": name,
                "x": places,
                "y": list(scores),
                "marker": {"color": colour},
                "customdata": names,
                "hovertemplate": f"%{{customdata}}: <b>%{{y:.2f}}</b> as {name}<extra></extra>",
            }
            for name, scores, colour in (("start", start, first), ("end", end, second))
        ],
        dark,
        barmode="group",
        bargap=0.2,
        height=300,
        margin=(8, 16, 28, 8),
        xaxis=axis(dark, tickvals=named, ticktext=[token_text(tokens[place], 14) for place in named], tickangle=-60),
        yaxis=axis(dark, "score (logit)", grid=True, zero=True),
        legend=LEGEND_ABOVE,
    )
    if best is not None:
        figure.add_vrect(best[0] - 0.5, best[1] + 0.5, fillcolor=colours.primary, opacity=0.18, line_width=0)
    figure.add_hline(
        no_answer / 2,
        line={"dash": "dot", "width": 1.5, "color": colours.muted},
        annotation={"text": "½ of “no answer”", "font": {"size": 12, "color": colours.muted}, "xanchor": "right"},
    )
    return figure


def _named(scores: npt.NDArray[np.float64], best: tuple[int, int] | None) -> list[int]:
    """The places of tokens whose names fit beside each other: those of the best span, then the highest first."""
    apart = -(-len(scores) // _NAMES)
    named: list[int] = []
    for place in [*(best or ()), *np.argsort(-scores, kind="stable").tolist()]:
        if all(abs(place - other) >= apart for other in named):
            named.append(place)
    return sorted(named)
