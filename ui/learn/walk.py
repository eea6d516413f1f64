"""The walk: one picture of the whole model that lessons 2 to 5 share, from characters to probabilities."""

from __future__ import annotations

from ui.learn.case import Case


def draw(case: Case, at: str) -> None:
    """The anatomy of the chosen layer, the visitor's place in it marked."""
    raise NotImplementedError
