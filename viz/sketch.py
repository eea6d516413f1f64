"""A prediction by drawing: bars as long as a reader makes them, and under them those of the model.

``payload`` makes what the component reads, ``SOURCE`` holds its files. It reports ``drawn``: a number a label, from 0
to the top, each time the reader asks to compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from viz import component
from viz.layout import visible_text
from viz.palette import categorical

SOURCE = component.source("sketch")


def payload(
    question: str,
    labels: Sequence[str],
    *,
    drawn: Sequence[float] | None = None,
    truth: Sequence[float] | None = None,
    top: float = 1.0,
    unit: str = "",
) -> dict[str, Any]:
    """What the component reads. ``drawn`` are the reader's bars, ``truth`` the model's, each None where there are none
    yet. Raises ValueError where they do not fit the labels.
    """
    for bars in (drawn, truth):
        if bars is not None and len(bars) != len(labels):
            raise ValueError(f"{len(bars)} bars do not fit {len(labels)} labels")
    return {
        "question": question,
        "labels": [visible_text(label) for label in labels],
        "drawn": None if drawn is None else list(drawn),
        "truth": None if truth is None else list(truth),
        "top": top,
        "unit": unit,
        "colour": categorical(2, dark=False)[1],
        "dark_colour": categorical(2, dark=True)[1],
    }
