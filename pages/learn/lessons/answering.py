"""Answers in a passage: start and end scores, no answer, a model trained, scores by hand, a passage cut off."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st
from propcache.api import cached_property

from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding
from pages.learn import pictures, tuning
from pages.learn.lesson import Choice, read_lesson
from training.finetuning.data import PassageQuestion
from training.finetuning.predict import Predict
from training.finetuning.results import Answered
from training.finetuning.scores import overlap
from training.finetuning.settings import Settings
from ui import as_text
from ui.glossary import quote
from viz.layout import clipped
from web.engine import engine

# Scores that are made up: a span is the better the higher its start score plus its end score.
_WORDS: Final = ("The", "mill", "stands", "by", "a", "river", ".")
_START: Final = (0.5, 1.0, 0.2, 2.5, 2.2, 3.0, -1.0)
_END: Final = (0.1, 1.8, 0.3, 0.4, 0.2, 4.0, 0.6)
_SPANS: Final = ((3, 5), (4, 5), (5, 5), (1, 1))  # to choose from, by their first and last words
_NO_ANSWER: Final = 5.0
_BATCH: Final = 16


def best_span(start: tuple[float, ...], end: tuple[float, ...]) -> tuple[int, int, float]:
    """The first and the last place of the best span, and its score: start + end, the start not after the end."""
    spans = [(i, j, start[i] + end[j]) for i in range(len(start)) for j in range(i, len(end))]
    return max(spans, key=lambda span: span[2])


def _span(first: int, last: int) -> str:
    return quote(" ".join(_WORDS[first : last + 1]))


class AnsweringStep(tuning.TuningStep):
    """A step about a question and a passage."""

    lesson = "answering"
    trains = "questions"
    settings = Settings(learns="all", epochs=3)
    no_answer = _NO_ANSWER

    @property
    def passage(self) -> str:
        """The second text. Raises InvalidInput where there is none."""
        if self.case.pair is None:
            raise InvalidInput("This lesson needs a passage. Type one as the second text, or take an example.")
        return self.case.pair

    def figure(self) -> None:
        examples = [item for item in self.data.train if isinstance(item, PassageQuestion)][:3]
        st.table(
            [
                {
                    "question": as_text(item.text),
                    "passage": as_text(clipped(item.pair, 160)),
                    "answer": as_text(item.answers[0][1]) if item.answers else "(no answer)",
                }
                for item in examples
            ]
        )


class StartEnd(AnsweringStep):
    def figure(self) -> None:
        pictures.bars("start-end", self.numbers(), written=".1f")

    def ask(self) -> Choice:
        first, last, score = best_span(_START, _END)
        spans = [(_span(i, j), _START[i] + _END[j]) for i, j in _SPANS]
        return self.choice(spans=spans, best=_span(first, last), score=score)

    def reveal(self) -> None:
        scores = {" ".join(_WORDS[i : j + 1]): _START[i] + _END[j] for i, j in _SPANS}
        pictures.bars("spans", {"span": scores.keys(), "score": scores.values()}, written=".1f")

    def why(self) -> str:
        n = len(_WORDS)
        return self.say(
            "why", n=n, n_pairs=n * n, n_ruled_out=n * (n - 1) // 2, best=_span(*best_span(_START, _END)[:2])
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"token": _WORDS, "as start": _START, "as end": _END})


class NoAnswer(AnsweringStep):
    @property
    def score(self) -> float:
        return best_span(_START, _END)[2]

    def figure(self) -> None:
        pictures.bars("no-answer", self.numbers(), written=".1f")

    def ask(self) -> Choice:
        first, last, _ = best_span(_START, _END)
        return self.choice(best=_span(first, last))

    def why(self) -> str:
        return self.say("why", margin=_NO_ANSWER - self.score)

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"answer": ["best span", "no answer"], "score": [self.score, _NO_ANSWER]})


class Training(tuning.TrainingStep, AnsweringStep):
    items = "questions"
    afterwards = (4,)

    @property
    def unanswered(self) -> int:
        """How many training questions have no answer in their passage."""
        return sum(isinstance(item, PassageQuestion) and not item.answers for item in self.data.train)

    def ask(self) -> Choice:
        width = self.width
        return self.choice(width=width, two_columns=2 * width + 2, one_column=width + 1, width_squared=width * width)


class Trial(AnsweringStep):
    @cached_property
    def answer(self) -> Answered | None:
        """What the tuned model answers; None where nothing was tuned."""
        if self.tuned is None:
            return None
        (answer,) = engine().ask(Predict(self.tuned.id, ((self.case.text, self.passage),)))
        assert isinstance(answer, Answered)
        return answer

    def ask(self) -> Choice:
        has_span = self.answer is not None and bool(self.answer.text)
        fact = self.say("with_span" if has_span else "without_span")
        return self.choice(has_span=has_span, fact=fact, no_span=not has_span)

    def reveal(self) -> None:
        answer = self.answer
        if answer is None:
            self.not_yet("one step")
            return
        rows = [*((as_text(span.text), span.score) for span in answer.spans[:4]), ("no answer", answer.no_answer)]
        pictures.bars("answers", pd.DataFrame(rows, columns=["answer", "score"]))

    def why(self) -> str:
        margin = 0.0 if self.answer is None else self.answer.margin
        return self.say("why", distance=abs(margin), side="above" if margin > 0 else "below")

    def numbers(self) -> pd.DataFrame:
        answer = self.answer
        if answer is None:
            return pd.DataFrame({"answer": ["not trained yet"]})
        return pd.DataFrame([(span.text, span.score) for span in answer.spans], columns=["span", "score"])


class Scored(AnsweringStep):
    gold = "by the old river"
    predicted = "by the river bank"

    def figure(self) -> None:
        st.table([{"true": self.gold, "predicted": self.predicted}])

    def ask(self) -> Choice:
        return self.choice(right=overlap(self.predicted, self.gold))

    def reveal(self) -> None:
        pictures.shares("answer-f1", self.numbers())

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"measure": ["exact match", "F1"], "score": [0.0, overlap(self.predicted, self.gold)]})


class CutOff(AnsweringStep):
    full, usual = 512, 64  # tokens that a batch is padded to
    times = (full // usual) ** 2

    @cached_property
    def long(self) -> Encoding:
        """The question with a passage that is too long, and the visitor’s passage at its end."""
        filler = "The museum is open from nine to five, and children pay half. "
        limit = engine().info(self.base).max_tokens or self.full
        n = 2 + limit // max(1, len(engine().encode(self.base, filler)) - 2)
        return engine().encode(self.base, self.case.text, filler * n + self.passage)

    @property
    def n_tokens(self) -> int:
        """How many tokens there are to read."""
        return len(self.long) + self.long.n_dropped

    def figure(self) -> None:
        parts = ["tokens of both", "read by the model"]
        pictures.bars("too-long", {"part": parts, "tokens": [self.n_tokens, len(self.long)]}, written=",.0f")

    def ask(self) -> Choice:
        return self.choice(limit=len(self.long))

    def reveal(self) -> None:
        self.figure()
        lengths = (self.usual, self.full)
        millions = [_BATCH * n * n / 1e6 for n in lengths]
        label = f"million attention weights a head, {_BATCH} texts"
        pictures.bars("padding", {"length": [f"padded to {n}" for n in lengths], label: millions})

    def numbers(self) -> pd.DataFrame:
        n = [self.n_tokens, len(self.long), self.long.n_dropped]
        return pd.DataFrame({"what": ["tokens", "read", "cut off"], "n": n})


LESSON = read_lesson(__file__, StartEnd, NoAnswer, Training, Trial, Scored, CutOff)
