"""What a tuned model answers: bars of labels, words with their tags, a passage with its answer; and the confusion of
labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from viz import cell_numbers
from viz.layout import axis, base_layout, columns, root_title, rows, scale_bar, token_text, weight_marks
from viz.marks import LEGEND_ABOVE, bars_layout, cells, cells_layout, horizontal_bars
from viz.palette import categorical, sequential, square_root, theme
from viz.predictions import percent
from viz.token_line import Cell, Item, Line, filled_with

OUTSIDE: Final = "O"
_BAR: Final = 30  # px
_LONGEST_LABEL: Final = 24
_NAMES: Final = 26  # of tokens, side by side in 300 px
_NUMBERED: Final = 12  # labels; with more the numbers would print over each other


def label_bars(labels: Sequence[str], shares: Sequence[float], *, dark: bool = False) -> go.Figure:
    """The probability of each label, the most probable on top and in its own colour.

    Raises ValueError where there is not one share for each label.
    """
    if len(labels) != len(shares):
        raise ValueError(f"{len(shares)} probabilities for {len(labels)} labels")
    plain, chosen = categorical(2, dark)
    order = sorted(range(len(labels)), key=lambda place: (-shares[place], place))
    return go.Figure(
        data=[
            horizontal_bars(
                [shares[place] for place in order],
                [chosen, *[plain] * (len(order) - 1)],
                [f"{token_text(labels[place])}: {shares[place]:.6f}" for place in order],
                dark=dark,
                texts=[percent(shares[place]) for place in order],
            )
        ],
        layout=bars_layout(
            [token_text(labels[place], _LONGEST_LABEL) for place in order],
            dark,
            height=_BAR * len(order) + 40,
            margin={"l": 8, "r": 60, "t": 28, "b": 8},
            xaxis=axis(dark, range=[0, 1], showticklabels=False),
        ),
    )


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
    for place, (word, tag, share) in enumerate(zip(words, tags, shares, strict=True)):
        colour = colours.get(tag.partition("-")[2])
        wrong = gold is not None and gold[place] != tag
        cells = [Cell(word) if colour is None else filled_with(word, colour)]
        cells.append(Cell("·" if tag == OUTSIDE else tag, small=True))
        if wrong and gold is not None:
            cells.append(Cell(f"is {gold[place]}", small=True))
        items.append(Item(tuple(cells), f"{word}: {tag}, {percent(share)}", marked=wrong))
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
    figure = go.Figure(
        data=[
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
        layout=base_layout(
            dark,
            barmode="group",
            bargap=0.2,
            height=300,
            margin={"l": 8, "r": 16, "t": 28, "b": 8},
            xaxis=axis(
                dark, tickvals=named, ticktext=[token_text(tokens[place], 14) for place in named], tickangle=-60
            ),
            yaxis=axis(dark, "score (logit)", grid=True, zero=True),
            legend=LEGEND_ABOVE,
        ),
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


def confusion(counts: npt.NDArray[np.int64], labels: Sequence[str], *, dark: bool = False) -> go.Figure:
    """How often items of each true label (rows) were called each label (columns), coloured by the share of the row.

    Raises ValueError where ``counts`` is not (labels, labels).
    """
    if counts.shape != (len(labels), len(labels)):
        raise ValueError(f"{len(labels)} labels need a matrix of their size; got {counts.shape}")
    scale = square_root(sequential(dark))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    names = [token_text(label, _LONGEST_LABEL) for label in labels]
    sentences = [
        [f"{true} predicted as {predicted}: {counts[row, column]:,}" for column, predicted in enumerate(names)]
        for row, true in enumerate(names)
    ]
    hover = "%{customdata} (%{z:.0%})<extra></extra>"
    traces = [cells(shares, scale, 0, 1, hover, xgap=2, ygap=2, customdata=np.array(sentences))]
    if len(labels) <= _NUMBERED:
        traces.append(cell_numbers.of_size(shares, lambda cell: f"{counts[cell]:,}", scale, 1.0, 13))
    return go.Figure(
        data=traces,
        layout=cells_layout(
            columns(names, dark, "predicted label"),
            rows(names, dark, "true label"),
            scale_bar(sequential(dark), weight_marks(1.0), root_title("share of a true label's items"), dark),
            dark,
            height=max(180, 36 * len(labels) + 90),
        ),
    )
