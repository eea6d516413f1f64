"""Figures of the structural probe: its scores by layer, and a sentence's tree beside the one that was found."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from analysis.probing.structural import Kind
from analysis.probing.structural_results import Estimate, ParsedSentence, Scores, StructuralResult
from viz.layout import axis, columns, layer_names, make_figure, note, token_text
from viz.marks import error_bars, line, points
from viz.palette import categorical, opposes, theme

_WORD: Final = 26  # px per word
_LONGEST_WORD: Final = 16  # characters that have room between the trees on a phone
_ARC: Final = 24  # pieces of an arc

# The two scores of each probe: the upper panel's and the lower one's, with what is written beside them.
_PANELS: Final[dict[Kind, tuple[tuple[str, str], tuple[str, str]]]] = {
    "distance": (("uuas", "UUAS"), ("distance_spearman", "Spearman of distances")),
    "depth": (("root_accuracy", "root found"), ("depth_spearman", "Spearman of depths")),
}


def by_layer(result: StructuralResult, kind: Kind = "distance", *, dark: bool = False) -> go.Figure:
    """A probe's two scores at every layer with their 95 % intervals, beside the chain and random weights.

    "distance" has UUAS and Spearman's correlation of distances; "depth" the share of roots found and that of depths.
    A score that the test sentences do not give leaves its panel empty, with a note saying so.
    """
    real, untrained, without = categorical(3, dark)
    x = [layer.layer for layer in result.layers]
    traces: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    panels: dict[str, Any] = {}
    for panel, (measure, title) in enumerate(_PANELS[kind]):
        name = "y" if panel == 0 else "y2"
        series: list[tuple[str, list[Scores], str, str, str]] = [
            ("this model", [layer.scores for layer in result.layers], real, "solid", "circle")
        ]
        by_chance = [layer.untrained for layer in result.layers if layer.untrained is not None]
        if len(by_chance) == len(x):
            series.append(("random weights", by_chance, untrained, "dot", "square"))
        series.append(("chain of words", [result.chain] * len(x), without, "dash", "line-ew"))
        lowest = 0.0
        for label, scores, colour, dash, marked in series:
            known = (_estimate(of_layer, measure) for of_layer in scores)
            estimates = [estimate for estimate in known if estimate is not None]
            if len(estimates) < len(x):
                continue
            values, lows, highs = ([getattr(of, part) for of in estimates] for part in ("value", "low", "high"))
            lowest = min(lowest, *lows)
            hover = f"%{{y:.3f}} (%{{customdata[0]:.3f}}–%{{customdata[1]:.3f}})<extra>{label}</extra>"
            of_panel: dict[str, Any] = {
                "yaxis": name,
                "legendgroup": label,
                "showlegend": panel == 0,
                "error_y": error_bars(values, lows, highs, colour, 1),
                "customdata": list(zip(lows, highs, strict=True)),
            }
            traces.append(line(label, x, values, colour, marked=marked, size=7, dash=dash, hover=hover, **of_panel))
        if _estimate(result.chain, measure) is None:
            why = "no root to score" if measure == "root_accuracy" else "no test sentence has 5 to 50 words"
            notes.append(note(why, 0.5, 0.5, theme(dark).muted, xref="x domain", yref=f"{name} domain"))
        panels["yaxis" if panel == 0 else "yaxis2"] = axis(
            dark,
            title,
            grid=True,
            domain=(0.55, 1.0) if panel == 0 else (0.0, 0.45),
            range=[min(1.1 * lowest, 0.0), 1.03],
            tickformat=".1f" if measure.endswith("spearman") else ".0%",
            fixedrange=False,
        )
    settings = {"anchor": "y2", "range": [-0.3, len(x) - 0.7], "fixedrange": False}
    return make_figure(
        traces,
        dark,
        dragmode="zoom",
        height=520,
        margin=(10, 10, 20, 10),
        hovermode="x unified",
        xaxis=columns(layer_names(len(x)), dark, "layer", **settings),
        legend={"orientation": "h", "y": -0.15},
        annotations=notes,
        **panels,
    )


def _estimate(scores: Scores, measure: str) -> Estimate | None:
    estimate: Estimate | None = getattr(scores, measure)
    return estimate


def trees(sentence: ParsedSentence, layer: int, *, dark: bool = False) -> go.Figure:
    """A sentence from top to bottom, its tree's edges on the left and those found at a layer on the right.

    On the right, edges that are in the tree are solid, others dashed; on the left, edges that were not found are
    dotted. A diamond is the root, on the right the word of least depth, open if it is the wrong one. Words run down so
    that long ones have room on a narrow screen too. Raises ValueError where the layer does not exist.
    """
    if not 0 <= layer < len(sentence.recovered):
        raise ValueError(f"layer {layer} of {len(sentence.recovered)}")
    colours = theme(dark)
    good, bad = colours.primary, opposes(dark)
    gold, recovered = set(sentence.edges), set(sentence.recovered[layer])
    n = len(sentence.words)
    kinds = [
        ("in the tree and found", sentence.edges, gold & recovered, "x", good, "solid", True),
        ("in the tree, not recovered", sentence.edges, gold - recovered, "x", colours.muted, "dot", True),
        ("in the tree and found", sentence.recovered[layer], gold & recovered, "x2", good, "solid", False),
        ("recovered, not in the tree", sentence.recovered[layer], recovered - gold, "x2", bad, "dash", True),
    ]
    traces = []
    for label, ordered, wanted, side, colour, dash, legend in kinds:
        x: list[float | None] = []
        y: list[float | None] = []
        hover: list[str] = []
        for a, b in ordered:
            if (a, b) in wanted:
                arc = _arc(a, b, n)
                x += [*arc[0], None]
                y += [*arc[1], None]
                words = " – ".join(token_text(sentence.words[i]) for i in (a, b))
                hover += [f"{words}<br>{label}"] * (len(arc[0]) + 1)
        style: dict[str, Any] = {"xaxis": side, "legendgroup": label, "showlegend": legend, "text": hover}
        traces.append(line(label, x, y, colour, dash=dash, hover="%{text}<extra></extra>", **style))
    for side, root in (("x", sentence.root), ("x2", sentence.roots[layer])):
        if root is not None:
            right = side == "x" or root == sentence.root or sentence.root is None
            form, ink = ("diamond", good) if right else ("diamond-open", bad)
            marker = {"symbol": form, "size": 10, "color": ink, "line": {"width": 2, "color": ink}}
            text = f"root: {token_text(sentence.words[root])}{'' if right else ' (wrong)'}"
            place: dict[str, Any] = {"xaxis": side, "legendgroup": "root", "showlegend": side == "x"}
            hover_text = "%{text}<extra></extra>"
            traces.append(
                points([0.03], [root], marker, hover_text, name="root", text=[text], cliponaxis=False, **place)
            )
    inks = [colours.muted if punctuation else colours.text for punctuation in sentence.punctuation]
    written = [
        note(token_text(word, _LONGEST_WORD), 0.5, place, ink, yref="y", xanchor="center")
        for place, (word, ink) in enumerate(zip(sentence.words, inks, strict=True))
    ]
    name = layer_names(len(sentence.recovered))[layer]
    titles = [(0.18, "in the file"), (0.82, f"found at {'the embeddings' if layer == 0 else f'layer {name}'}")]
    written += [note(text, place, 1, colours.muted, yanchor="bottom", yshift=6) for place, text in titles]
    hidden: dict[str, Any] = {"visible": False, "fixedrange": False, "automargin": False}
    return make_figure(
        traces,
        dark,
        dragmode="zoom",
        annotations=written,
        height=_WORD * n + 120,
        margin=(10, 10, 36, 70),
        xaxis=axis(dark, domain=[0.0, 0.36], range=[1.05, 0.0], **hidden),
        xaxis2=axis(dark, domain=[0.64, 1.0], range=[0.0, 1.05], anchor="y", **hidden),
        yaxis=axis(dark, range=[n - 0.5, -0.5], **hidden),
        legend={"orientation": "h", "x": 0, "y": -10 / (_WORD * n), "yanchor": "top"},
    )


def _arc(a: int, b: int, n: int) -> tuple[list[float], list[float]]:
    """Half an ellipse from word to word; its reach grows with the root of their distance, so that short ones show."""
    turn = np.linspace(0, np.pi, _ARC)
    reach = np.sqrt((b - a) / max(n - 1, 1))
    return (reach * np.sin(turn)).tolist(), ((a + b) / 2 - (b - a) / 2 * np.cos(turn)).tolist()
