"""Why this word: the sentence tinted by what hiding each word does to the guess, and the largest effects as bars."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import plotly.graph_objects as go

from analysis.erasure import Erasure
from analysis.words import Unit
from viz.layout import axis_style, base_layout, headline, token_text
from viz.palette import diverging, theme
from viz.predictions import percent
from viz.token_line import Cell, Item, Line, filled

SCALE_END = 3.0
"""Bits at which the colour is full: the probability is an eighth of what it was, or eight times that."""
_BAR = 25  # px


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
    scale = diverging(dark)
    items = []
    for unit in units:
        effect = by_start.get(unit.start)
        hidden = [place for place in range(unit.start, unit.stop) if place in masks]
        if effect is not None:
            word = filled(unit.label, scale, 0.5 + effect.bits / (2 * SCALE_END))
            said = f"without “{unit.label}”: {percent(effect.before)} → {percent(effect.after)}"
            items.append(
                Item((word, Cell(percent(effect.after), small=True)), f"{said}; the guess: {effect.guess.token}")
            )
        elif hidden:
            under = next((guess[place] for place in hidden if place in guess), "")
            items.append(Item((Cell(unit.label), Cell(under or "–", small=True)), "hidden", marked=bool(under)))
    return Line(tuple(items))


def erasure_bars(effects: Sequence[Erasure], title: str = "", *, dark: bool = False) -> go.Figure:
    """A bar a word, in the order given: how much of the probability is lost (left) or won (right) without it, in bits.
    Its name says the probability before and after.
    """
    colours = theme(dark)
    scale = diverging(dark)
    costs, helps = scale[len(scale) // 4][1], scale[-1 - len(scale) // 4][1]
    style = axis_style(colours) | {"fixedrange": True}
    low, high = min([0.0, *(effect.bits for effect in effects)]), max([0.0, *(effect.bits for effect in effects)])
    room = 0.05 * (high - low or 1.0)
    places = list(range(len(effects)))
    names = [
        f"without “{token_text(effect.word.label, 14)}”: {percent(effect.before)} → {percent(effect.after)}"
        for effect in effects
    ]
    return go.Figure(
        data=[
            go.Bar(
                x=[effect.bits for effect in effects],
                y=places,
                orientation="h",
                marker={"color": [helps if effect.bits > 0 else costs for effect in effects]},
                hovertext=[
                    f"{name}, {effect.bits:+.2f} bits; the guess: {token_text(effect.guess.token)}"
                    for name, effect in zip(names, effects, strict=True)
                ],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        ],
        layout=base_layout(
            dark,
            bargap=0.25,
            dragmode=False,
            title=headline(title, dark),
            height=_BAR * len(effects) + 76,
            margin={"l": 8, "r": 16, "t": 28, "b": 44},
            xaxis=style
            | {
                "range": [low - room, high + room],
                "title": style["title"] | {"text": "bits (−1: half the probability)"},
                "zeroline": True,
                "zerolinecolor": colours.line,
                "automargin": True,
            },
            yaxis=style
            | {
                "tickvals": places,
                "ticktext": names,
                "range": [len(effects) - 0.5, -0.5],
                "ticklabelstandoff": 6,
                "automargin": True,
            },
        ),
    )
