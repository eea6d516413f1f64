"""A lesson and its steps as data: what to look at, what to predict, what the model reveals, and why.

A lesson is one file in ``pages/learn/lessons``. Everything a step says is computed from the visitor's own sentence: its
functions are given a ``Case``. Those that return something draw nothing, so that worksheets and tests read them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from pages.learn.case import Case

Place = Literal["text", "pieces", "embeddings", "heads", "norm", "feed-forward", "layers", "guess"]
"""Where on the map of the model a step is: see ``pages.learn.model_map``."""

Control = Literal["token", "layer", "head"]
"""What of the model a visitor chooses beside the sentence."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a claim comes from: who, when, and the title."""

    authors: str
    year: int
    title: str

    def __str__(self) -> str:
        return f"{self.authors} {self.year}, “{self.title}”"


@dataclass(frozen=True, slots=True)
class Option:
    """One answer to choose, and what is said to who chose it: why it is right, or what is wrong with it."""

    text: str
    reply: str
    right: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with two to five answers, exactly one of which is right. Raises ValueError for any other number."""

    question: str
    options: tuple[Option, ...]

    def __post_init__(self) -> None:
        rights = sum(option.right for option in self.options)
        if rights != 1 or not 2 <= len(self.options) <= 5:
            raise ValueError(f"{self.question}: {rights} of {len(self.options)} answers are right")
        if len({option.text for option in self.options}) != len(self.options):
            raise ValueError(f"{self.question}: two answers read the same")

    @property
    def right(self) -> int:
        """The place of the right answer, from 0."""
        return next(place for place, option in enumerate(self.options) if option.right)


@dataclass(frozen=True, slots=True)
class Sketch:
    """A question that is answered by drawing: a height from 0 to ``top`` over each of the ``labels``.

    ``truth`` is what the model says. ``reply`` answers the heights that were drawn. Numbers are written with their
    ``unit``; with "%" heights are shares of one, written as percent.
    """

    question: str
    labels: tuple[str, ...]
    truth: tuple[float, ...]
    reply: Callable[[Sequence[float]], str]
    top: float = 1.0
    unit: str = ""
    kind: Literal["bars", "curve"] = "bars"

    def __post_init__(self) -> None:
        if len(self.truth) != len(self.labels) or not self.labels:
            raise ValueError(f"{self.question}: {len(self.truth)} heights do not fit {len(self.labels)} labels")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: ``text`` and ``figure`` are looked at, ``ask`` is answered, then ``reveal`` shows what the model says
    and ``why`` says in one sentence why.

    ``text``, the questions, the replies and ``why`` are Markdown with terms as in ``pages.learn.glossary``. ``figure``
    and ``reveal`` draw; they stand in one place, the second instead of the first. ``numbers`` is what a worksheet
    prints and a visitor can save. A ``wide`` step leaves most of the page to its figure.
    """

    title: str
    at: Place
    text: Callable[[Case], str]
    figure: Callable[[Case], None]
    ask: Callable[[Case], Choice | Sketch]
    reveal: Callable[[Case], None]
    why: Callable[[Case], str]
    numbers: Callable[[Case], pd.DataFrame]
    sources: tuple[Source, ...] = ()
    wide: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """``name`` is that of its file and stands in the address; ``question`` is what the lesson answers.

    ``examples`` are sentences, or pairs of them, on which there is something to see: the first is the one that fits
    best. With ``paired`` the lesson needs a second text. ``controls`` are chosen beside the sentence. ``pages`` are
    where to go on, by the names of pages.
    """

    name: str
    title: str
    question: str
    steps: tuple[Step, ...]
    examples: tuple[tuple[str, str], ...]
    paired: bool = False
    controls: tuple[Control, ...] = ()
    pages: tuple[str, ...] = ()
    minutes: int = 10
