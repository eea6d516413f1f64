"""Example sentences to start from: what to look for, the text, and the second text if there is one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    title: str
    text: str
    pair: str = ""


EXAMPLES = (
    Example("What does “it” refer to?", "The cat sat on the mat because it was tired."),
    Example("Agreement over a distance", "The keys to the old wooden cabinet are on the table."),
    Example("Two sentences", "She opened the window.", "Cold air came into the room."),
    Example("One word, two meanings", "He sat on the bank of the river, far from the bank that held his money."),
    Example("Words in pieces", "Unbelievably, the electroencephalogram looked unremarkable."),
    Example("A word repeated", "Time after time, the time on the clock was wrong."),
)
