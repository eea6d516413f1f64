"""A lesson and its steps: what to look at, what to predict, what the model reveals, and why.

A lesson is two files in ``pages/learn/lessons``: its words (see ``pages.learn.words``), and what its steps compute
from the visitor's own sentence, their ``case``. Methods that return something draw nothing, so that worksheets and
tests read them, too.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any, ClassVar, Literal, cast, get_args

import numpy as np
import pandas as pd
import streamlit as st

from model_zoo import DEFAULT_MODEL
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import FloatArray
from pages.learn import walk, words
from pages.learn.case import Case, name_of
from pages.learn.words import Answer, Chapter, Filled
from ui import as_text
from ui.glossary import link_terms, quote
from ui.sources import SOURCES, Source

Place = Literal["text", "pieces", "embeddings", "heads", "norm", "feed-forward", "layers", "guess"]
"""Where on the map of the model a step is: see ``pages.learn.model_map``."""

_MOST_ANSWERS = 4

Control = Literal["token", "layer", "head"]
"""What of the model a visitor chooses beside the sentence."""


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


@dataclass(frozen=True)
class Step(ABC):
    """One step about a case: ``text`` and ``figure`` are looked at, ``ask`` is answered, then ``reveal`` shows what the
    model says and ``why`` says in one sentence why.

    ``text``, the questions, the replies and ``why`` are Markdown with terms as in ``ui.glossary``, and stand in the
    file of the lesson's words; a step computes what is filled in. ``figure`` and ``reveal`` draw; they stand in one
    place, the second instead of the first. ``numbers`` is what a worksheet prints and a visitor can save. Any of them
    may raise InvalidInput or NotSupported for a case that does not do: then another one is shown, see ``fitting``.
    """

    chapter: ClassVar[Chapter]
    """Its chapter of the lesson's words, from which ``read_lesson`` takes the next five."""

    title: ClassVar[str]
    at: ClassVar[Place]
    terms: ClassVar[tuple[str, ...]] = ()
    """What the literature calls what the step explains, by their names in the glossary; beside its title."""

    minutes: ClassVar[float] = 2.0
    """How long reading, looking and answering take: see ``tests/pages/learn/test_every_lesson.py``."""

    sources: ClassVar[tuple[Source, ...]] = ()
    stage: ClassVar[str | None] = None
    """What is marked in the picture of the whole model (see ``pages.learn.walk``), where that is the figure. The page
    then leaves most of its width to it.
    """

    after: ClassVar[type[Step] | None] = None
    """The step before whose answer one goes on looking at, where that is the figure."""

    case: Case

    def say(self, name: str, **values: Any) -> str:
        """A part of its words, names filled with ``values``. Raises ValueError for a part that there is not."""
        return Filled(self.chapter, self, values).fill(self.chapter.part(name).text)

    def choice(self, name: str = "ask", **values: Any) -> Choice:
        """A question of its words and the answers below it. Raises ValueError unless exactly one of them is right."""
        part, filled = self.chapter.part(name), Filled(self.chapter, self, values)
        answers = [replace(answer, text=filled.fill(answer.text)) for answer in part.answers]
        if part.order == "numbers":
            answers = _by_size(answers)
        if part.order.startswith("range of "):
            value = filled.value(part.order.removeprefix("range of "))
            below = [value < _bound(answer, filled) for answer in answers]
            right = [place == below.index(True) for place in range(len(answers))]
        else:
            right = [_is_right(answer, filled) for answer in answers]
        options = [
            Option(answer.text, filled.fill(_reply(answer, place, right)), right[place])
            for place, answer in enumerate(answers)
        ]
        return Choice(filled.fill(part.text), tuple(options))

    def choose(self, labels: Mapping[int, str], right: int, values: Callable[[int], Mapping[str, Any]]) -> Choice:
        """The question of its words with computed answers, by their numbers: to who chooses one, “reply_right” or
        “reply_wrong” of its words is said, filled with the ``values`` of its number.
        """
        options = (
            Option(label, self.say("reply_right" if at == right else "reply_wrong", **values(at)), at == right)
            for at, label in labels.items()
        )
        return Choice(self.say("ask"), tuple(options))

    def sketch(self, labels: Iterable[str], truth: Iterable[float], **settings: Any) -> Sketch:
        """The question of its words, answered by drawing, with the ``settings`` of a ``Sketch``; see ``reply``."""
        names, heights = tuple(labels), tuple(map(float, truth))

        def reply(drawn: Sequence[float]) -> str:
            return self.reply(_compare(names, heights, drawn))

        return Sketch(self.say("ask"), names, heights, reply, **settings)

    def reply(self, compared: Mapping[str, Any]) -> str:
        """What is said to a drawing, filled with what ``_compare`` says of it. ``start`` is “right” or “wrong” of its
        words, where there are such: whether the highest is where the model has it.
        """
        start = "right" if compared["guessed"] == compared["most"] else "wrong"
        return self.say("reply", **compared, start=self.say(start, **compared) if self.chapter.find(start) else "")

    @property
    def tokens(self) -> Sequence[str]:
        """The tokens of the first text."""
        return self.case.encoding.tokens

    @property
    def followed(self) -> int:
        """The place of the token that is followed."""
        return self.case.followed

    @property
    def token(self) -> str:
        """The token that is followed, in quotation marks."""
        return self.quoted(self.followed)

    def quoted(self, place: int) -> str:
        """The token at a place, in quotation marks."""
        return quote(self.tokens[place])

    def labels(self, places: Iterable[int]) -> list[str]:
        """Tokens with their places, from 1, as they stand beside bars: "3 · cat"."""
        return [f"{place + 1} · {self.tokens[place]}" for place in places]

    def by_token(self, columns: Mapping[str, object]) -> pd.DataFrame:
        """A table with a row a token: its place, from 1, the token, and what the columns say of it."""
        return pd.DataFrame({"place": range(1, len(self.tokens) + 1), "token": self.tokens, **columns})

    def by_dimension(self, columns: Mapping[str, FloatArray]) -> pd.DataFrame:
        """A table with a row a number of vectors that are equally long: the dimension, from 1, and the vectors."""
        width = len(next(iter(columns.values())))
        return pd.DataFrame({"dimension": range(1, width + 1), **columns})

    def check(self) -> None:
        """Work out all that the step says and draws. Raises what keeps it from being about its case."""
        if self.stage is not None and not self.case.anatomy.attention.size:
            raise NotSupported(f"{name_of(self.case.model)} has no attention.")
        if self.after is not None:
            self.after(self.case).check()
        self.text(), self.ask(), self.why(), self.numbers()

    def text(self) -> str:
        """What one reads first."""
        return self.say("text")

    def look(self) -> None:
        """Draw what one looks at before the answer."""
        (self.figure if self.after is None else self.after(self.case).reveal)()

    def figure(self) -> None:
        """Draw that of a step that comes after none."""
        assert self.stage is not None, f"{self.title}: a step draws a figure, or names a stage, or comes after another"
        walk.draw(self.case, self.stage)

    def ask(self) -> Choice | Sketch:
        """What one guesses."""
        return self.choice()

    def reveal(self) -> None:
        """Draw what the model says; where all of it is looked at before, the same again."""
        self.figure()

    def why(self) -> str:
        """Why it says so."""
        return self.say("why")

    @abstractmethod
    def numbers(self) -> pd.DataFrame:
        """The numbers of the figures."""


def spread(n: int, most: int) -> list[int]:
    """At most so many of the places 0 to n - 1, evenly spread, the first and the last among them."""
    return sorted(set(np.linspace(0, n - 1, min(n, most)).round().astype(int).tolist()))


def _compare(labels: Sequence[str], truth: Sequence[float], drawn: Sequence[float]) -> dict[str, Any]:
    """What there is to say of a drawing beside the truth: the highest label of each, the mean ``gap``, all gaps, where
    the largest is, and the extremes of the truth.
    """
    gaps = np.abs(np.subtract(drawn, truth))
    worst = int(gaps.argmax())
    return {
        "drawn": drawn,
        "truth": truth,
        "most": labels[int(np.argmax(truth))],
        "least": labels[int(np.argmin(truth))],
        "guessed": labels[int(np.argmax(drawn))],
        "highest": max(truth),
        "lowest": min(truth),
        "last": truth[-1],
        "gap": gaps.mean(),
        "gaps": gaps,
        "worst": labels[worst],
        "drawn_there": drawn[worst],
        "truth_there": truth[worst],
    }


def _by_size(answers: list[Answer]) -> list[Answer]:
    """Answers that are numbers, the smallest first, each once and at most four: a wrong one that reads like the right
    one on this sentence is left out, as is a repeated one.
    """
    once: dict[str, Answer] = {}
    for answer in sorted(answers, key=lambda answer: answer.mark != "x"):
        once.setdefault(answer.text, answer)
    return sorted([*once.values()][:_MOST_ANSWERS], key=lambda answer: int(re.sub(r"\D", "", answer.text)))


def _bound(answer: Answer, filled: Filled) -> float:
    bound = answer.mark.removeprefix("<")
    if bound == "else":
        return inf
    return float(bound if bound[0].isdigit() else filled.value(bound))


def _is_right(answer: Answer, filled: Filled) -> bool:
    return answer.mark == "x" if answer.mark in ("x", " ") else bool(filled.value(answer.mark))


def _reply(answer: Answer, place: int, right: Sequence[bool]) -> str:
    """What is said to who chooses the answer at a place, where others may be right; see ``Answer``."""
    if right[place] or len(answer.replies) == 1:
        return answer.replies[0]
    return answer.replies[1 if len(answer.replies) == 2 or True in right[place:] else 2]


def fitting(lesson: Lesson, step: type[Step], case: Case) -> tuple[Step, str]:
    """The step for this case; if the text does not fit, for the lesson's own example, and if the model does not fit,
    with the bundled model. Beside it, a sentence that says so; "" if the case fits.

    If nothing fits, raises what the step says of the case itself.
    """
    text, pair = lesson.examples[0]
    example = replace(case, text=text, pair=(pair or None) if lesson.paired else None, token=None)
    first: InvalidInput | NotSupported | None = None
    for candidate in (case, example, _by_default(case), _by_default(example)):
        made = step(candidate)
        try:
            made.check()
        except (InvalidInput, NotSupported) as error:
            first = first or error
            continue
        return made, "" if first is None else _instead(case, candidate, first)
    assert first is not None
    raise first


def _by_default(case: Case) -> Case:
    return replace(case, model=DEFAULT_MODEL, layer=0, head=0)


def _instead(requested: Case, used: Case, reason: Exception) -> str:
    """What a step says where it is about another text than was typed, or another model."""
    notices = []
    if (requested.text, requested.pair) != (used.text, used.pair):
        example = " – ".join(quote(text) for text in (used.text, used.pair) if text)
        why = f"{as_text(str(reason))} Until then," if requested.model == used.model else "Your text does not fit, so"
        notices.append(f"{why} this step is about an example: {example}")
    if requested.model != used.model:
        model, other = as_text(name_of(requested.model)), as_text(name_of(used.model))
        notices.append(f"{model} lacks what this step is about, so {other} answers here.")
    return " ".join(notices)


class RecallStep(Step):
    """One of the questions that end a lesson, about what it has said, to be answered from memory. ``points`` are the
    sentences of the summary up to the one that holds the right answer, which the answer shows.
    """

    minutes = 0.5
    question: ClassVar[Choice]
    points: ClassVar[tuple[str, ...]]

    def text(self) -> str:
        return "Answer from memory, without going back." if len(self.points) == 1 else "Still from memory."

    def figure(self) -> None:
        """The summary so far: its next point would give the answer away."""
        self._summary(self.points[:-1])

    def ask(self) -> Choice:
        return self.question

    def reveal(self) -> None:
        self._summary(self.points)

    def _summary(self, points: Sequence[str]) -> None:
        if points:
            with st.container(border=True, key="summary"):
                summary = "".join(f"\n- {point}" for point in points)
                st.markdown(link_terms(f"**Summary**\n{summary}"), unsafe_allow_html=True)

    def why(self) -> str:
        return self.points[-1]

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """``name`` is that of its file and is part of the address; ``question`` is what the lesson answers, ``terms`` what
    the literature calls its topic. ``aims`` complete the sentence "After this lesson you can …".

    ``examples`` are sentences, or pairs of them, on which there is something to see: the first is the one that fits
    best. With ``paired`` the lesson needs a second text. ``controls`` are chosen beside the sentence. ``pages`` are
    where to go on, by the names of pages. With ``sizes`` the card that sets BERT-base, BERT-large and the bundled
    models side by side can be opened on every step.
    """

    name: str
    title: str
    question: str
    steps: tuple[type[Step], ...]
    examples: tuple[tuple[str, str], ...]
    aims: tuple[str, ...]
    terms: tuple[str, ...] = ()
    paired: bool = False
    controls: tuple[Control, ...] = ()
    pages: tuple[str, ...] = ()
    sizes: bool = False

    @property
    def minutes(self) -> int:
        """How long all of its steps take together."""
        return round(sum(step.minutes for step in self.steps))


def read_lesson(file: str, *steps: type[Step]) -> Lesson:
    """The lesson of a Python file: its steps, with the words of the Markdown file beside it, and its questions from
    memory. Raises ValueError, with file and line, for words that are missing or belong to no step.
    """
    path = Path(file).with_suffix(".md")
    chapters = words.read(path)
    about, aims, examples, recall = (_take(chapters, path.name, name) for name in ("", "Aims", "Examples", "Recall"))
    for step in steps:
        chapter = step.chapter = _take(chapters, path.name, step.__name__)
        step.title, step.terms, step.at = chapter.title, chapter.listed("terms"), _place(chapter, about)
        step.sources = tuple(_source(chapter, key) for key in chapter.listed("sources"))
        step.minutes = float(minutes.text) if (minutes := chapter.find("minutes")) else 2.0
    for chapter in chapters.values():
        raise ValueError(f"{path.name}:{chapter.line}: there is no step “{chapter.name}” in {Path(file).name}.")
    return Lesson(
        name=path.stem,
        title=about.title,
        question=about.part("question").text,
        steps=(*steps, *_recall(recall, _place(about, about))),
        examples=tuple((text, pair) for text, _, pair in (item.partition(" || ") for item in examples.items)),
        aims=tuple(aims.items),
        terms=about.listed("terms"),
        paired=about.find("paired") is not None,
        controls=cast(tuple[Control, ...], about.listed("controls")),
        pages=about.listed("pages"),
        sizes=about.find("sizes") is not None,
    )


def _take(chapters: dict[str, Chapter], file: str, name: str) -> Chapter:
    if name not in chapters:
        raise ValueError(f"{file} has no “## {name}”.")
    return chapters.pop(name)


def _place(chapter: Chapter, lesson: Chapter) -> Place:
    """Where on the map a step is: as its chapter says, else as its lesson."""
    place = chapter.find("place") or lesson.part("place")
    if place.text not in get_args(Place):
        raise ValueError(
            f"{chapter.file}:{place.line}: “{place.text}” is no place on the map: {', '.join(get_args(Place))}."
        )
    return cast(Place, place.text)


def _source(chapter: Chapter, key: str) -> Source:
    if key not in SOURCES:
        raise ValueError(
            f"{chapter.file}:{chapter.part('sources').line}: there is no source “{key}” in ui/sources.tsv."
        )
    return SOURCES[key]


def _recall(chapter: Chapter, at: Place) -> tuple[type[Step], ...]:
    """The steps that end a lesson, one a question."""
    parts = [part for name, part in chapter.parts if name == "ask"]
    points = tuple(part.text for name, part in chapter.parts if name == "point")
    if len(parts) != len(points):
        raise ValueError(f"{chapter.file}:{chapter.line}: {len(parts)} questions, and {len(points)} points of them.")
    steps: list[type[Step]] = []
    for number, part in enumerate(parts, start=1):
        options = tuple(Option(answer.text, answer.replies[0], answer.mark == "x") for answer in part.answers)
        made = {"title": f"Recall {number} of {len(parts)}", "question": Choice(part.text, options)}
        steps.append(type(f"Recall{number}", (RecallStep,), {**made, "at": at, "points": points[:number]}))
    return tuple(steps)
