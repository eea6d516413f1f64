"""The input as BERT sees it: for every token its own vector, one for the sentence it is in, one for its position."""

from __future__ import annotations

from model_zoo.types import Encoding
from viz.direction import direction_of
from viz.palette import categorical
from viz.token_line import Cell, Item, Line, filled_with


def sentence_input(encoding: Encoding, *, dark: bool = False) -> Line:
    """Per token its text, segment (A or B, by colour) and position from 0: the three embeddings that are summed."""
    colours = categorical(2, dark)
    return Line(
        tuple(
            Item(
                (
                    Cell(token),
                    filled_with("AB"[segment], colours[segment]),
                    Cell(str(place), small=True),
                ),
                f"{token}: token {place}, sentence {'AB'[segment]}",
            )
            for place, (token, segment) in enumerate(zip(encoding.tokens, encoding.segment_ids, strict=True))
        ),
        dir=direction_of([encoding.text]),
    )
