"""The views of the page "Compare": one file a view, found by name in ``VIEWS``.

A view is a function from a ``Scene`` to what is drawn; it computes nothing that a room below can compute.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ui.compare import attention, cost, predictions, representations, tokens
from ui.compare.scene import Scene


@dataclass(frozen=True, slots=True)
class View:
    """``title`` names the view on its button; ``about`` says in a sentence how to read it, ``left_out_of_link`` what
    the page's address does not restore of it. ``sets_b_against_a``: whether it matters which of the models is B.
    """

    title: str
    about: str
    draw: Callable[[Scene], None]
    left_out_of_link: str = ""
    sets_b_against_a: bool = True


VIEWS: dict[str, View] = {
    "tokens": View(
        "Tokens",
        "How each model cuts the text. A row is a word that all of them see whole.",
        tokens.draw,
        sets_b_against_a=False,
    ),
    "attention": View(
        "Attention",
        "A head of each model, on words that all of them see whole. Attention shows where a head looks, not why a "
        "model answers as it does.",
        attention.draw,
    ),
    "predictions": View(
        "Predictions",
        "What each model puts in the place of a mask (masked language modelling, **MLM**), and how surprising it finds "
        "every word.",
        predictions.draw,
    ),
    "representations": View(
        "Representations",
        "How alike the layers of A and B are, over the words of many sentences. The text above is not among them.",
        representations.draw,
    ),
    "cost": View(
        "Cost",
        "What each model costs in time and memory by length of text, measured here and now, and how good it is. The "
        "text above is not used: all models are given the same running text.",
        cost.draw,
        left_out_of_link="Not in it: times, which hold for one machine at one moment and are measured anew.",
        sets_b_against_a=False,
    ),
}
