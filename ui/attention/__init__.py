"""The views of the page "Attention": one file a view, found by name in ``VIEWS``.

A view is a function from a ``Scene`` to what is drawn; it computes nothing that a room below can compute.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ui.attention import bertviz, combined, grid, heads, lines, neuron, rollout
from ui.attention.scene import Scene


@dataclass(frozen=True, slots=True)
class View:
    """``title`` names the view on its button; ``about`` says in a sentence how to read it. ``filters``: whether the
    filters change what it draws. ``left_out_of_link`` says what the page's address does not restore of it.
    """

    title: str
    about: str
    draw: Callable[[Scene], None]
    filters: bool = True
    left_out_of_link: Callable[[], str] = str


VIEWS: dict[str, View] = {
    "grid": View(
        "All heads",
        "One small picture a head: rows look, columns are looked at. Click one to open it beside the grid.",
        grid.draw,
    ),
    "lines": View(
        "Lines",
        "A line runs from each token that looks to the tokens it looks at; the stronger the line, the larger the "
        "weight. Hover over a token to see only its lines, click to keep them.",
        lines.draw,
    ),
    "combined": View(
        "Several heads",
        "The mean, the largest or the sum of the weights of several heads, cell by cell; or the norm of the sum: how "
        "much one token gives another through all heads of a layer together.",
        combined.draw,
    ),
    "neuron": View(
        "Query and key",
        "How one token's weights come about: its query vector times each key vector, number by number, summed, scaled, "
        "and turned into shares of 100% by softmax.",
        neuron.draw,
        filters=False,
    ),
    "rollout": View(
        "Rollout",
        "Attention of several layers multiplied together: how much of each input token could have reached a position, "
        "if attention alone moved information and half of every layer were the residual path "
        "(Abnar & Zuidema 2020). A model of the flow, not a measurement of it.",
        rollout.draw,
    ),
    "heads": View(
        "Which head?",
        "Every head measured on your text, and a label where a stated rule fits.",
        heads.draw,
        filters=False,
        left_out_of_link=heads.left_out_of_link,
    ),
    "bertviz": View(
        "BertViz",
        "BertViz's own views, for those who know them. They hold short texts only.",
        bertviz.draw,
    ),
}
