"""Plans of a class: what happens minute by minute, in which steps of which lessons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from pages.learn.lessons import LESSONS


@dataclass(frozen=True, slots=True)
class Row:
    """Some minutes of a class: what the teacher and the class do, as Markdown, and ``steps``, each by its lesson's name
    and its number from 1.
    """

    minutes: int
    teacher: str
    students: str
    steps: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """``name`` tells it from others; ``rows`` in the order of the class."""

    name: str
    title: str
    about: str
    rows: tuple[Row, ...]

    @property
    def minutes(self) -> int:
        """How long all rows take together."""
        return sum(row.minutes for row in self.rows)

    def timed(self) -> Iterator[tuple[int, Row]]:
        """Tell each row with the minute at which it begins, the first at 0."""
        begin = 0
        for row in self.rows:
            yield begin, row
            begin += row.minutes

    def steps(self) -> dict[str, tuple[int, ...]]:
        """The steps of each lesson, lessons in the order in which they come."""
        found: dict[str, list[int]] = {}
        for row in self.rows:
            for lesson, step in row.steps:
                found.setdefault(lesson, []).append(step)
        return {lesson: tuple(dict.fromkeys(steps)) for lesson, steps in found.items()}


def title(lesson: str, step: int) -> str:
    """What a step of a plan is called: the numbers of its lesson and of the step, and its own title."""
    return f"{list(LESSONS).index(lesson) + 1}.{step} {LESSONS[lesson].steps[step - 1].title}"


# What both plans have.
_BEGIN: Final = Row(
    5,
    "Start a room with “Teach” and show its code. Ask what a computer reads when it reads a sentence.",
    "Opens the link or types the code. Guesses the number of tokens.",
    (("pieces", 1),),
)
_HEADS: Final = Row(
    8,
    "Change layer and head. Say once what attention weights are and that they are no explanation of an answer.",
    "Compares two heads and names what differs.",
    (("heads", 2), ("heads", 4)),
)
_END: Final = Row(
    3,
    "Hand out the worksheet for home; its solutions are on pages of their own. End the room.",
    "Notes one question that is still open.",
)

PLANS: Final = (
    Plan(
        "45",
        "45 minutes: from a sentence to attention",
        "For a first meeting: tokens, vectors, one attention head by hand, and what a model is trained on.",
        (
            _BEGIN,
            Row(
                7,
                "Type a sentence from the class, with a long and a rare word. Before each answer, ask for reasons.",
                "Proposes sentences. Guesses where a word is cut and which tokens nobody typed.",
                (("pieces", 2), ("pieces", 3)),
            ),
            Row(
                8,
                "Follow one token: it becomes a vector, and vectors are added.",
                "Reads numbers off the picture and answers.",
                (("embeddings", 1), ("embeddings", 2)),
            ),
            Row(
                12,
                "Compute one row of attention on the board, with the numbers on the screen: query times key, scaled, "
                "softmax.",
                "Computes one score by hand, then draws the shares before the model shows them.",
                (("head", 1), ("head", 2), ("head", 3)),
            ),
            replace(_HEADS, minutes=6),
            Row(
                5,
                "Hide a word of the class’s sentence: what is the model trained to do, and what does a wrong guess "
                "cost?",
                "Guesses the word before the model does.",
                (("guessing", 1), ("guessing", 3)),
            ),
            replace(_END, minutes=2),
        ),
    ),
    Plan(
        "90",
        "90 minutes: from a sentence to a trained model",
        "The whole way: tokens, vectors, attention by hand, layers, training, and what to take to use it.",
        (
            _BEGIN,
            Row(
                10,
                "Type a sentence from the class, with a long and a rare word. Before each answer, ask for reasons.",
                "Proposes sentences. Guesses where words are cut, here and in other models.",
                (("pieces", 2), ("pieces", 3), ("pieces", 4)),
            ),
            Row(
                10,
                "Follow one token: it becomes a vector, vectors are added, and similar tokens lie near each other.",
                "Answers, and looks for a neighbour that surprises.",
                (("embeddings", 1), ("embeddings", 2), ("embeddings", 5)),
            ),
            Row(
                15,
                "Compute one row of attention on the board, with the numbers on the screen: query times key, scaled, "
                "softmax, times the values.",
                "Computes one score by hand, then draws the shares before the model shows them.",
                (("head", 1), ("head", 2), ("head", 3), ("head", 5)),
            ),
            _HEADS,
            Row(
                7,
                "Let the class work alone, and walk around.",
                "Presses “Leave”, types a sentence of its own, and looks for a head with one clear habit. Then types "
                "the code again.",
                (("heads", 4),),
            ),
            Row(
                10,
                "Put the layer together: the way around it, the feed-forward network, and how much vectors change from "
                "layer to layer.",
                "Draws before the model shows.",
                (("layer", 1), ("layer", 3), ("layers", 3)),
            ),
            Row(
                5,
                "What may a token see? BERT sees both sides, GPT one.",
                "Says which tasks need which.",
                (("sight", 1), ("sight", 3)),
            ),
            Row(
                10,
                "Training: hide words, compute what a guess costs, and take one step.",
                "Guesses the word, then computes a loss: −ln of a probability on the screen.",
                (("guessing", 1), ("guessing", 2), ("guessing", 3), ("guessing", 5)),
            ),
            Row(
                7,
                "Smaller models, and what each of them saves.",
                "Chooses a model for a telephone and gives a reason.",
                (("smaller", 1), ("smaller", 5)),
            ),
            _END,
        ),
    ),
)
