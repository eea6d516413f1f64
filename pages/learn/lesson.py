"""A lesson and its steps: what to look at, what to predict, what the model reveals, and why.

A lesson is one file in ``pages/learn/lessons``. Everything a step says is computed from the visitor's own sentence, its
``case``. Methods that return something draw nothing, so that worksheets and tests read them, too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import pandas as pd
import streamlit as st

from model_zoo import DEFAULT_MODEL
from model_zoo.errors import InvalidInput, NotSupported
from pages.learn import walk
from pages.learn.case import Case, name_of
from ui import as_text
from ui.glossary import link_terms, quote
from ui.sources import Source

Place = Literal["text", "pieces", "embeddings", "heads", "norm", "feed-forward", "layers", "guess"]
"""Where on the map of the model a step is: see ``pages.learn.model_map``."""

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

    ``text``, the questions, the replies and ``why`` are Markdown with terms as in ``ui.glossary``. ``figure``
    and ``reveal`` draw; they stand in one place, the second instead of the first. ``numbers`` is what a worksheet
    prints and a visitor can save. Any of them may raise InvalidInput or NotSupported for a case that does not do: then
    another one is shown, see ``fitting``.
    """

    title: ClassVar[str]
    at: ClassVar[Place]
    terms: ClassVar[tuple[str, ...]] = ()
    """What the literature calls what the step explains, by their names in the glossary; beside its title."""

    minutes: ClassVar[float] = 2.0
    """How long reading, looking and answering take: see ``tests/pages/learn/test_times.py``."""

    sources: ClassVar[tuple[Source, ...]] = ()
    stage: ClassVar[str | None] = None
    """What is marked in the picture of the whole model (see ``pages.learn.walk``), where that is the figure. The page
    then leaves most of its width to it.
    """

    after: ClassVar[type[Step] | None] = None
    """The step before whose answer one goes on looking at, where that is the figure."""

    case: Case

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

    def check(self) -> None:
        """Work out all that the step says and draws. Raises what keeps it from being about its case."""
        if self.stage is not None and not self.case.anatomy.attention.size:
            raise NotSupported(f"{name_of(self.case.model)} has no attention.")
        if self.after is not None:
            self.after(self.case).check()
        self.text(), self.ask(), self.why(), self.numbers()

    @abstractmethod
    def text(self) -> str:
        """What one reads first."""

    def figure(self) -> None:
        """Draw what one looks at before the answer."""
        if self.after is not None:
            self.after(self.case).reveal()
            return
        assert self.stage is not None, f"{self.title}: a step draws a figure, or names a stage, or comes after another"
        walk.draw(self.case, self.stage)

    @abstractmethod
    def ask(self) -> Choice | Sketch:
        """What one guesses."""

    @abstractmethod
    def reveal(self) -> None:
        """Draw what the model says."""

    @abstractmethod
    def why(self) -> str:
        """Why it says so."""

    @abstractmethod
    def numbers(self) -> pd.DataFrame:
        """The numbers of the figures."""


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
    """What a step says where it is about another text than was asked, or another model."""
    notices = []
    if (requested.text, requested.pair) != (used.text, used.pair):
        example = " – ".join(quote(text) for text in (used.text, used.pair) if text)
        why = f"{as_text(str(reason))} Until then," if requested.model == used.model else "Your text does not fit, so"
        notices.append(f"{why} this step is about an example: {example}")
    if requested.model != used.model:
        model, other = as_text(name_of(requested.model)), as_text(name_of(used.model))
        notices.append(f"{model} lacks what this step is about, so {other} answers here.")
    return " ".join(notices)


@dataclass(frozen=True, slots=True)
class Recall:
    """A question about what a lesson has said, to be answered from memory: ``options`` are the answers, ``point`` is
    the sentence of the summary that holds the right one.
    """

    question: str
    options: tuple[Option, ...]
    point: str


class RecallStep(Step):
    """One of the questions that end a lesson; its answer shows the summary up to its own point. See ``recalled``."""

    minutes = 0.5
    place: ClassVar[int]
    questions: ClassVar[tuple[Recall, ...]]

    def text(self) -> str:
        return "Answer from memory, without going back." if self.place == 0 else "Still from memory."

    def figure(self) -> None:
        """The summary so far: its next point would give the answer away."""
        self._summary(self.place)

    def ask(self) -> Choice:
        recall = self.asked[self.place]
        return Choice(recall.question, recall.options)

    def reveal(self) -> None:
        self._summary(self.place + 1)

    def _summary(self, n: int) -> None:
        if not n:
            return
        points = "".join(f"\n- {recall.point}" for recall in self.asked[:n])
        with st.container(border=True, key="summary"):
            st.markdown(link_terms(f"**Summary**\n{points}"), unsafe_allow_html=True)

    def why(self) -> str:
        return self.asked[self.place].point

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame()


def recalled(at: Place, *questions: Recall) -> tuple[type[Step], ...]:
    """The steps that end a lesson, one a question; ``at`` is where on the map they are."""
    return tuple(
        type(
            f"Recall{place + 1}",
            (RecallStep,),
            {"title": f"Recall {place + 1} of {len(questions)}", "at": at, "place": place, "asked": questions},
        )
        for place in range(len(questions))
    )


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
