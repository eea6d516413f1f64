"""A text as its sentences with the probability between each two neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from viz.direction import direction_of
from viz.palette import diverging
from viz.token_line import Cell, Item, Line, filled


def coherence(sentences: Sequence[str], p_next: Sequence[float], *, dark: bool = False) -> tuple[Line, ...]:
    """One line per sentence, and between two lines P(the second follows the first): orange below ½, blue above."""
    lines, runs = [], direction_of(sentences)
    for place, sentence in enumerate(sentences):
        lines.append(Line((Item((Cell(sentence),)),), f"{place + 1}", runs))
        if place < len(p_next):
            value = p_next[place]
            chip = filled(f"↓ {value:.3f}", diverging(dark), value)
            lines.append(Line((Item((chip,), f"from {place + 1} to {place + 2}: P = {value:.6f}"),), " ", runs))
    return tuple(lines)
