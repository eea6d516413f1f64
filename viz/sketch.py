"""Heights to draw as a guess over labels, and what the model says beside them; drawn by a component.

``payload`` makes what the component reads, ``SOURCE`` holds its files. It tells what was drawn as ``drawn``: a height
for each label.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypedDict

from viz import component
from viz.layout import visible_text
from viz.palette import categorical

SOURCE = component.source("sketch")
LEVELS: Final = 35
"""A drawn height is one of 0 to so many equal steps of the scale."""


class Payload(TypedDict):
    labels: list[str]
    drawn: list[float] | None
    truth: list[float] | None
    top: float
    unit: str
    kind: Literal["bars", "curve"]
    done: str
    most: int
    colours: list[str]
    dark_colours: list[str]


def payload(
    labels: Sequence[str],
    drawn: Sequence[float] | None,
    truth: Sequence[float] | None,
    *,
    top: float,
    unit: str,
    kind: Literal["bars", "curve"],
    done: str = "Compare with the model",
) -> Payload:
    """What the component reads: heights from 0 to ``top``, one a label, written with their ``unit``; with "%" they are
    shares of one.

    ``drawn`` is None where nobody has drawn, ``truth`` while it is not to be seen; without it the visitor draws, and
    ``done`` is the label of the button that ends it. Raises ValueError where heights do not fit the labels, or the
    scale has no height.
    """
    if (
        not labels
        or not top > 0
        or any(heights is not None and len(heights) != len(labels) for heights in (drawn, truth))
    ):
        raise ValueError(f"Heights of 0 to {top} do not fit {len(labels)} labels.")
    return {
        "labels": [visible_text(label) for label in labels],
        "drawn": None if drawn is None else list(map(float, drawn)),
        "truth": None if truth is None else list(map(float, truth)),
        "top": float(top),
        "unit": unit,
        "kind": kind,
        "done": done,
        "most": LEVELS,
        "colours": categorical(2, False),
        "dark_colours": categorical(2, True),
    }
