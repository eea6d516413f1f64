"""A sentence as BERT's training hides it: what was chosen, what became of it, what the model answered."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.corruption import Corruption
from model_zoo.types import Encoding, MaskPrediction, Vocabulary
from viz.direction import direction_of
from viz.palette import categorical
from viz.token_line import Cell, Item, Line, filled_with

NAMES = {"masked": "masked", "random": "random token", "kept": "kept as it is"}


def corrupted(
    encoding: Encoding,
    corruption: Corruption,
    vocabulary: Vocabulary,
    answers: Sequence[MaskPrediction],
    *,
    dark: bool = False,
) -> Line:
    """What the model is given above the original token (struck out); under it the loss in nats and the answer."""
    colours = dict(zip(NAMES, categorical(3, dark), strict=True))
    by_position = {answer.position: answer for answer in answers}
    items = []
    for place, (token, kind) in enumerate(zip(encoding.tokens, corruption.kinds, strict=True)):
        if kind is None:
            items.append(Item((Cell(token),)))
            continue
        replacement = filled_with(vocabulary.tokens[corruption.ids[place]], colours[kind])
        cells = [replacement] if kind == "kept" else [replacement, Cell(token, small=True, struck=True)]
        answer = by_position[place]
        guess = answer.best[0].token
        right = answer.original is not None and answer.best[0].id == answer.original.id
        cells.append(Cell(f"{'✓' if right else '✗'} {guess}", small=True))
        if answer.log_probability is not None:
            cells.append(Cell(f"{-answer.log_probability:.2f}", small=True))
        items.append(Item(tuple(cells), f"{NAMES[kind]}; original {token}; prediction: {guess}"))
    return Line(tuple(items), dir=direction_of([encoding.text]))


def legend(corruption: Corruption, *, dark: bool = False) -> Line:
    """The three kinds with their colours and how often each was drawn."""
    colours = dict(zip(NAMES, categorical(3, dark), strict=True))
    return Line(
        tuple(
            Item((filled_with(f"{name}: {corruption.kinds.count(kind)}", colours[kind]),))
            for kind, name in NAMES.items()
        )
    )
