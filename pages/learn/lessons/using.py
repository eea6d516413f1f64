"""Putting it to use: a model fine-tuned on labels of texts, tried, looked into, trained at a wrong rate, and asked with
dropout on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Final

import numpy as np
import pandas as pd
import streamlit as st
from propcache.api import cached_property

from analysis.before_after import turned
from jobs.tuning import Candidate
from model_zoo.types import FloatArray
from pages.learn import pictures, tuning
from pages.learn.lesson import Choice, Sketch, read_lesson
from training.finetuning.data import Labelled
from training.finetuning.predict import DROPOUT, Predict
from training.finetuning.results import Classified, Tuned
from training.finetuning.settings import Settings
from ui import as_text, page_link
from ui.glossary import quote
from web.engine import engine

_AFTERWARDS: Final = (3, 4, 5, 6)  # steps whose questions are other ones once there is a tuned model


class UsingStep(tuning.TuningStep):
    """A step about the model that is tuned, beside the reviews that it learns from."""

    lesson = "using"
    trains = "sentiment"
    settings = Settings(learns="all", examples=320, epochs=3)
    too_fast: ClassVar[float] = 2e-3
    """A learning rate from the tables of common mistakes."""
    draws: ClassVar[int] = 5
    """How many predictions are made with dropout on."""

    @property
    def n_labels(self) -> int:
        """How many labels the task head tells apart."""
        return len(self.data.labels)

    @property
    def baseline(self) -> float | None:
        return 1 / self.n_labels

    def predicted(self, dropout: int | None = None) -> Classified | None:
        """What the tuned model says of the visitor's sentence; None where nothing was tuned."""
        if self.tuned is None:
            return None
        (prediction,) = engine().ask(Predict(self.tuned.id, ((self.case.text, None),), dropout=dropout))
        assert isinstance(prediction, Classified)
        return prediction

    def figure(self) -> None:
        data = self.data
        items = [item for item in data.train[:4] if isinstance(item, Labelled)]
        st.table([{"text": as_text(item.text), "label": as_text(item.label)} for item in items])
        caption = as_text(f"{data.title}: {len(data.train)} training reviews, written for this app. Model: ")
        st.caption(caption + self.base_model)


class NewHead(UsingStep):
    @property
    def new(self) -> int:
        """How many numbers no pretraining has set."""
        return tuning.new_numbers(engine().info(self.base).family, self.width, self.n_labels)

    def ask(self) -> Choice:
        is_simple = self.new == self.width * self.n_labels + self.n_labels
        return self.choice(head=self.say("made_of" if is_simple else "with_a_layer"))

    def reveal(self) -> None:
        pictures.bars("new-head", self.numbers(), written=",.0f")

    def why(self) -> str:
        return self.say("why", share=self.new / (self.new + self.pretrained))

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"part": ["new task head", "pretrained"], "numbers": [self.new, self.pretrained]})


class Training(UsingStep):
    @property
    def candidates(self) -> list[Candidate]:
        """All weights, the task head only, and all weights at a rate that is too high."""
        name = f"{self.base_model}, fine-tuned in the lesson"
        head, fast = replace(self.settings, learns="head"), replace(self.settings, rate=self.too_fast)
        return [
            Candidate(name, self.base, self.data, self.settings),
            Candidate(f"{name}, task head only", self.base, self.data, head, keep=False),
            Candidate(f"{name}, learning rate {self.too_fast:g}", self.base, self.data, fast, keep=False),
        ]

    @property
    def steps(self) -> int:
        """How many steps of training there are."""
        return -(-(self.settings.examples or 0) // self.settings.batch) * self.settings.epochs

    @property
    def n_steps(self) -> int:
        """How many steps there have been; 0 where nothing was tuned."""
        return self.tuned.steps[-1].step if self.tuned else 0

    def ask(self) -> Choice:
        examples, epochs = self.settings.examples or 0, self.settings.epochs
        return self.choice(
            examples=examples, steps_an_epoch=self.steps // epochs, epochs=epochs, n_readings=examples * epochs
        )

    def reveal(self) -> None:
        self.train(self.candidates, _AFTERWARDS)

    def numbers(self) -> pd.DataFrame:
        tuned = self.tuned
        if tuned is None:
            settings = {key: getattr(self.settings, key) for key in ("examples", "epochs", "batch")}
            return pd.DataFrame((settings | {"steps": self.steps}).items(), columns=["setting", "value"])
        rows = [("train", step.step, step.epoch, step.loss, None) for step in tuned.steps]
        evaluated = [("development", epoch.step, epoch.epoch, epoch.loss, epoch.score) for epoch in tuned.evaluated]
        return pd.DataFrame([*rows, *evaluated], columns=["split", "step", "epoch", "loss", "accuracy"])


class Trial(UsingStep):
    @cached_property
    def answer(self) -> Classified | None:
        """What the tuned model says; None where nothing was tuned."""
        return self.predicted()

    @property
    def sure(self) -> float:
        """The probability of what it predicts; 0 where nothing was tuned."""
        return max(self.answer.probabilities) if self.answer else 0.0

    def reveal(self) -> None:
        if self.answer is None:
            self.not_yet("one step")
            return
        pictures.shares("labels", self.numbers(), marked=int(np.argmax(self.answer.probabilities)))

    def numbers(self) -> pd.DataFrame:
        table = pd.DataFrame({"label": self.data.labels})
        return table if self.answer is None else table.assign(probability=self.answer.probabilities)


class Inside(UsingStep):
    @cached_property
    def turned(self) -> FloatArray | None:
        """1 − cosine of each token's vector before and after tuning, (layers + 1, n); None where nothing was tuned."""
        tuned = self.tuned
        if tuned is None:
            return None
        return turned(*(engine().encoded_states(model, self.case.text) for model in (tuned.base, tuned.id)))

    @property
    def moved(self) -> dict[str, float] | None:
        """The mean over the tokens, by layer."""
        if self.turned is None:
            return None
        means: list[float] = self.turned.mean(axis=1).tolist()
        return {f"layer {layer}" if layer else "embeddings": mean for layer, mean in enumerate(means)}

    def ask(self) -> Choice | Sketch:
        moved = self.moved
        if moved is None:
            return self.choice()
        top = float(max(0.05, np.ceil(max(moved.values()) * 24) / 20))
        return self.sketch(moved, moved.values(), top=top, kind="curve")

    def reveal(self) -> None:
        moved = self.moved
        if moved is None:
            self.not_yet("two steps")
            return
        columns = {"layer": moved.keys(), "1 − cosine before and after": moved.values()}
        pictures.bars("moved", columns, written=".3f")
        if self.tuned is not None:
            page_link("compare", "Before and after, on Compare", models=(self.tuned.base, self.tuned.id))

    def why(self) -> str:
        moved, apart = self.moved, self.turned
        if moved is None or apart is None:
            return self.say("why")
        most, token = max(moved, key=moved.__getitem__), int(apart[-1].argmax())
        where = self.say("where") if most == "embeddings" else f"{most} of {len(moved) - 1}"
        return self.say("why", where=where, token=self.quoted(token))

    def numbers(self) -> pd.DataFrame:
        apart = self.turned
        if apart is None:
            return pd.DataFrame({"layer": ["not trained yet"]})
        return pd.DataFrame(
            [
                {"layer": layer, "place": place + 1, "token": token, "1 - cosine": float(apart[layer, place])}
                for layer in range(len(apart))
                for place, token in enumerate(self.tokens)
            ]
        )


class WrongRate(UsingStep):
    @property
    def both(self) -> tuple[Tuned, Tuned] | None:
        """The copy at the recommended rate and the one at the rate that is too high; None before both were trained."""
        done = {run.candidate.settings.rate: run.tuned for run in self.runs if run.candidate.settings.learns == "all"}
        usual, fast = done.get(None), done.get(self.too_fast)
        return None if usual is None or fast is None else (usual, fast)

    @property
    def is_trained(self) -> bool:
        return self.both is not None

    def figure(self) -> None:
        self.draw_curves()

    def ask(self) -> Choice:
        both = self.both
        if both is None:
            return self.choice()
        usual, fast = (tuned.score() for tuned in both)
        return self.choice(
            worse=fast.high < usual.low,
            fast_score=tuning.describe_score(fast),
            usual_score=tuning.describe_score(usual),
            unclear=fast.high >= usual.low and fast.low <= usual.high,
            better=fast.low > usual.high,
        )

    def reveal(self) -> None:
        if self.both is None:
            self.not_yet("three steps")
            return
        self.draw_curves()

    def numbers(self) -> pd.DataFrame:
        if self.both is None:
            return pd.DataFrame({"learning rate": [self.too_fast]})
        rows = [(tuned.rate, *(getattr(tuned.score(), key) for key in ("value", "low", "high"))) for tuned in self.both]
        return pd.DataFrame(rows, columns=["learning rate", "accuracy", "low", "high"])


class Forgotten(UsingStep):
    @cached_property
    def drawn(self) -> tuple[float, ...]:
        """P(first label) of the visitor's sentence with dropout on, a number a draw; empty where nothing was tuned."""
        every = [self.predicted(seed) for seed in range(self.draws)]
        return tuple(prediction.probabilities[0] for prediction in every if prediction is not None)

    @property
    def spread(self) -> float:
        """The gap between the highest and the lowest P, in percentage points."""
        return 100 * (max(self.drawn) - min(self.drawn))

    def text(self) -> str:
        about = quote(self.case.text) if self.tuned else self.say("same_sentence")
        return self.say("text", about=about, dropout=DROPOUT)

    def reveal(self) -> None:
        usual = self.predicted()
        if usual is None or self.tuned is None:
            self.not_yet("four steps")
            return
        names = ["with eval()", *(f"without, {place}" for place in range(1, self.draws + 1))]
        label = f"P({self.tuned.data.labels[0]})"
        pictures.shares("draws", {"draw": names, label: [usual.probabilities[0], *self.drawn]}, marked=0)

    def numbers(self) -> pd.DataFrame:
        usual = self.predicted()
        if usual is None:
            return pd.DataFrame({"draw": range(1, self.draws + 1)})
        rows = [("off", 0, usual.probabilities[0]), *(("on", draw, p) for draw, p in enumerate(self.drawn, start=1))]
        return pd.DataFrame(rows, columns=["dropout", "draw", "probability of the first label"])


LESSON = read_lesson(__file__, NewHead, Training, Trial, Inside, WrongRate, Forgotten)
