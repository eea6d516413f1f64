"""Answers in a passage: start and end scores, no answer, a model trained, scores by hand, a passage cut off."""

from __future__ import annotations

from typing import ClassVar, Final

import pandas as pd
import streamlit as st
from propcache.api import cached_property

from jobs.tuning import Candidate
from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding
from pages.learn import pictures, tuning
from pages.learn.lesson import Choice, Place, read_lesson
from training.finetuning.data import PassageQuestion
from training.finetuning.predict import Predict
from training.finetuning.results import Answered
from training.finetuning.scores import overlap
from training.finetuning.settings import Settings
from ui import as_text
from ui.glossary import quote
from viz.layout import clipped
from web.engine import engine

_SET: Final = "questions"
_SETTINGS: Final = Settings(learns="all", epochs=3)
_AFTERWARDS: Final = (4,)

# Scores that are made up: a span is the better the higher its start score plus its end score.
_WORDS: Final = ("The", "mill", "stands", "by", "a", "river", ".")
_START: Final = (0.5, 1.0, 0.2, 2.5, 2.2, 3.0, -1.0)
_END: Final = (0.1, 1.8, 0.3, 0.4, 0.2, 4.0, 0.6)
_SPANS: Final = ((3, 5), (4, 5), (5, 5), (1, 1))  # to choose from, by their first and last words
_NO_ANSWER: Final = 5.0
_GOLD: Final = "by the old river"
_PREDICTED: Final = "by the river bank"
_BATCH: Final = 16
_FULL, _USUAL = 512, 64  # tokens that a batch is padded to


def best_span(start: tuple[float, ...], end: tuple[float, ...]) -> tuple[int, int, float]:
    """The first and the last place of the best span, and its score: start + end, the start not after the end."""
    spans = [(i, j, start[i] + end[j]) for i in range(len(start)) for j in range(i, len(end))]
    return max(spans, key=lambda span: span[2])


def _span(first: int, last: int) -> str:
    return quote(" ".join(_WORDS[first : last + 1]))


class AnsweringStep(tuning.TuningStep):
    """A step about a question and a passage."""

    at: ClassVar[Place] = "guess"
    lesson = "answering"
    trains = _SET

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
        pictures.bars("start-end", _WORDS, [("as start", _START), ("as end", _END)], written=".1f")

    def ask(self) -> Choice:
        first, last, score = best_span(_START, _END)
        spans = [(_span(i, j), _START[i] + _END[j]) for i, j in _SPANS]
        return self.choice(spans=spans, best=_span(first, last), score=score)

    def reveal(self) -> None:
        scores = [_START[i] + _END[j] for i, j in _SPANS]
        pictures.bars("spans", [" ".join(_WORDS[i : j + 1]) for i, j in _SPANS], [("score", scores)], written=".1f")

    def why(self) -> str:
        n = len(_WORDS)
        return self.say(
            "why", n=n, n_pairs=n * n, n_ruled_out=n * (n - 1) // 2, best=_span(*best_span(_START, _END)[:2])
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"token": _WORDS, "as start": _START, "as end": _END})


class NoAnswer(AnsweringStep):
    def text(self) -> str:
        *_, score = best_span(_START, _END)
        return self.say("text", no_answer=_NO_ANSWER, score=score)

    def figure(self) -> None:
        *_, score = best_span(_START, _END)
        pictures.bars("no-answer", ["best span", "no answer"], [("score", [score, _NO_ANSWER])], written=".1f")

    def ask(self) -> Choice:
        first, last, score = best_span(_START, _END)
        return self.choice(best=_span(first, last), score=score, no_answer=_NO_ANSWER)

    def reveal(self) -> None:
        self.figure()

    def why(self) -> str:
        *_, score = best_span(_START, _END)
        return self.say("why", no_answer=_NO_ANSWER, score=score, margin=_NO_ANSWER - score)

    def numbers(self) -> pd.DataFrame:
        *_, score = best_span(_START, _END)
        return pd.DataFrame({"answer": ["best span", "no answer"], "score": [score, _NO_ANSWER]})


class Training(AnsweringStep):
    at = "layers"

    @property
    def unanswered(self) -> int:
        """How many training questions have no answer in their passage."""
        return sum(isinstance(item, PassageQuestion) and not item.answers for item in self.data.train)

    def text(self) -> str:
        return self.say("text", n_train=len(self.data.train), settings=_SETTINGS, base_model=tuning.name(self.base))

    def ask(self) -> Choice:
        width = self.width
        return self.choice(width=width, two_columns=2 * width + 2, one_column=width + 1, width_squared=width * width)

    def reveal(self) -> None:
        name = f"{tuning.name(self.base)}, questions"
        self.train([Candidate(name, self.base, self.data, _SETTINGS)], _AFTERWARDS)

    def why(self) -> str:
        tuned = self.tuned
        if tuned is None:
            return self.say("why untrained")
        score = tuned.score()
        return self.say("why", n_test=len(tuned.data.test), score=tuning.describe_score(score))

    def numbers(self) -> pd.DataFrame:
        tuned = self.tuned
        if tuned is None:
            splits = {"train": self.data.train, "test": self.data.test}
            return pd.DataFrame({"split": splits.keys(), "questions": [len(items) for items in splits.values()]})
        rows = [(epoch.epoch, epoch.loss, epoch.score) for epoch in tuned.evaluated]
        return pd.DataFrame(rows, columns=["epoch", "loss", "answer F1"])


class Trial(AnsweringStep):
    @cached_property
    def answer(self) -> Answered | None:
        """What the tuned model answers; None where nothing was tuned."""
        if self.tuned is None:
            return None
        (answer,) = engine().ask(Predict(self.tuned.id, ((self.case.text, self.passage),)))
        assert isinstance(answer, Answered)
        return answer

    def text(self) -> str:
        if self.tuned is None:
            return self.say("text untrained")
        return self.say("text")

    def ask(self) -> Choice:
        answer = self.answer
        if answer is None:
            return self.choice("ask untrained")
        fact = self.say("with_span", answer=answer) if answer.text else self.say("without_span")
        return self.choice(has_span=bool(answer.text), fact=fact, no_span=not answer.text)

    def reveal(self) -> None:
        answer = self.answer
        if answer is None:
            self.not_yet("one step")
            return
        names = [as_text(span.text) for span in answer.spans[:4]]
        scores = [span.score for span in answer.spans[:4]]
        pictures.bars("answers", [*names, "no answer"], [("score", [*scores, answer.no_answer])], written=".2f")

    def why(self) -> str:
        answer = self.answer
        if answer is None:
            return self.say("why untrained")
        return self.say("why", distance=abs(answer.margin), side="above" if answer.margin > 0 else "below")

    def numbers(self) -> pd.DataFrame:
        answer = self.answer
        if answer is None:
            return pd.DataFrame({"answer": ["not trained yet"]})
        return pd.DataFrame([(span.text, span.score) for span in answer.spans], columns=["span", "score"])


class Scored(AnsweringStep):
    def text(self) -> str:
        return self.say("text", gold=_GOLD, predicted=_PREDICTED)

    def figure(self) -> None:
        st.table([{"true": _GOLD, "predicted": _PREDICTED}])

    def ask(self) -> Choice:
        right = overlap(_PREDICTED, _GOLD)
        return self.choice(right=right)

    def reveal(self) -> None:
        pictures.shares("answer-f1", ["exact match", "F1"], [("score", [0.0, overlap(_PREDICTED, _GOLD)])])

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"score": ["exact match", "F1"], "value": [0.0, overlap(_PREDICTED, _GOLD)]})


class CutOff(AnsweringStep):
    at = "text"

    @cached_property
    def long(self) -> Encoding:
        """The question with a passage that is too long, and the visitor’s passage at its end."""
        filler = "The museum is open from nine to five, and children pay half. "
        limit = engine().info(self.base).max_tokens or _FULL
        n = 2 + limit // max(1, len(engine().encode(self.base, filler)) - 2)
        return engine().encode(self.base, self.case.text, filler * n + self.passage)

    @property
    def limit(self) -> int:
        """The most tokens that the model reads here."""
        return len(self.long)

    def text(self) -> str:
        return self.say("text", n_tokens=self.limit + self.long.n_dropped)

    def figure(self) -> None:
        parts = {"tokens of both": float(self.limit + self.long.n_dropped), "read by the model": float(self.limit)}
        pictures.bars("too-long", list(parts), [("tokens", list(parts.values()))], written=",.0f")

    def ask(self) -> Choice:
        dropped = self.long.n_dropped
        return self.choice(dropped=dropped)

    def reveal(self) -> None:
        sizes = {f"padded to {n}": _BATCH * n * n / 1e6 for n in (_USUAL, _FULL)}
        self.figure()
        pictures.bars(
            "padding", list(sizes), [(f"million attention weights a head, {_BATCH} texts", list(sizes.values()))]
        )

    def why(self) -> str:
        times = (_FULL // _USUAL) ** 2
        return self.say("why", full=_FULL, usual=_USUAL, times=times)

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "what": ["tokens", "read", "cut off"],
                "n": [self.limit + self.long.n_dropped, self.limit, self.long.n_dropped],
            }
        )


LESSON = read_lesson(__file__, StartEnd, NoAnswer, Training, Trial, Scored, CutOff)
