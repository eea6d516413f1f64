"""The walk: one picture of the whole model that lessons 2 to 5 share, from characters to probabilities."""

from __future__ import annotations

from ui import figures
from ui.learn.case import Case
from viz.strips import Strip, strips


def draw(case: Case, at: str) -> None:  # noqa: ARG001
    """The anatomy of the chosen layer, the visitor's place in it marked."""
    found = case.anatomy
    rows = [Strip(stage.name, stage.values[case.followed]) for stage in found.stages]
    figures.show(strips(rows, dark=case.dark), "learn walk", "walk")
