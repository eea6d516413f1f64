"""Putting it to use: a model fine-tuned on labels of texts, tried, looked into, trained at a wrong rate, and asked with
dropout on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final

import numpy as np
import pandas as pd
import streamlit as st
from propcache.api import cached_property

from analysis.before_after import turned
from jobs.tuning import Candidate
from model_zoo.types import FloatArray
from pages.learn import options, pictures, tuning
from pages.learn.lesson import Choice, Place, Sketch, read_lesson
from training.finetuning.data import Labelled
from training.finetuning.predict import DROPOUT, Predict
from training.finetuning.results import Classified, Tuned
from training.finetuning.sets import SETS
from training.finetuning.settings import Settings
from ui import as_text, page_link
from ui.glossary import quote
from web.engine import engine

_SET: Final = "sentiment"
_SETTINGS: Final = Settings(learns="all", examples=320, epochs=3)
_TOO_FAST: Final = 2e-3  # a learning rate from the tables of common mistakes
_AFTERWARDS: Final = (3, 4, 5, 6)  # steps whose questions are other ones once there is a tuned model
_DRAWS: Final = 5  # predictions with dropout on


class UsingStep(tuning.TuningStep):
    """A step about the model that is tuned, beside the reviews that it learns from."""

    at: ClassVar[Place] = "guess"
    lesson = "using"
    trains = _SET

    @property
    def baseline(self) -> float | None:
        return 1 / _labels()

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
        st.caption(caption + tuning.name(self.base))


def _labels() -> int:
    """How many labels the task head tells apart."""
    return len(SETS[_SET].build().labels)


class NewHead(UsingStep):
    @property
    def new(self) -> int:
        """How many numbers no pretraining has set."""
        return tuning.new_numbers(engine().info(self.base).family, self.width, _labels())

    def ask(self) -> Choice:
        width, labels, new = self.width, _labels(), self.new
        simple = width * labels + labels
        made_of = self.say("made_of" if new == simple else "with_a_layer", labels=labels)
        return self.choice(labels=labels, made_of=made_of)

    def reveal(self) -> None:
        parts = {"new task head": float(self.new), "pretrained": float(self.pretrained)}
        pictures.bars("new-head", list(parts), [("numbers", list(parts.values()))], written=",.0f")

    def why(self) -> str:
        share = self.new / (self.new + self.pretrained)
        return self.say("why", share=share)

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"part": ["new task head", "pretrained"], "numbers": [self.new, self.pretrained]})


def _steps() -> int:
    """How many steps of training there are."""
    return -(-(_SETTINGS.examples or 0) // _SETTINGS.batch) * _SETTINGS.epochs


def _candidates(model: str) -> list[Candidate]:
    """All weights, the task head only, and all weights at a rate that is too high."""
    data = SETS[_SET].build()
    name = f"{tuning.name(model)}, fine-tuned in the lesson"
    head, fast = replace(_SETTINGS, learns="head"), replace(_SETTINGS, rate=_TOO_FAST)
    return [
        Candidate(name, model, data, _SETTINGS),
        Candidate(f"{name}, task head only", model, data, head, keep=False),
        Candidate(f"{name}, learning rate {_TOO_FAST:g}", model, data, fast, keep=False),
    ]


class Training(UsingStep):
    at = "layers"

    def text(self) -> str:
        return self.say("text", settings=_SETTINGS, base_model=tuning.name(self.base), too_fast=_TOO_FAST)

    def ask(self) -> Choice:
        steps, examples, epochs = _steps(), _SETTINGS.examples or 0, _SETTINGS.epochs
        return self.choice(
            settings=_SETTINGS,
            steps=steps,
            examples=examples,
            steps_an_epoch=steps // epochs,
            epochs=epochs,
            n_readings=examples * epochs,
        )

    def reveal(self) -> None:
        self.train(_candidates(self.base), _AFTERWARDS)

    def why(self) -> str:
        tuned = self.tuned
        if tuned is None:
            return self.say("why untrained")
        return self.say("why", n_steps=tuned.steps[-1].step, tuned=tuned)

    def numbers(self) -> pd.DataFrame:
        tuned = self.tuned
        if tuned is None:
            return pd.DataFrame(
                {
                    "setting": ["examples", "epochs", "batch", "steps"],
                    "value": [_SETTINGS.examples, _SETTINGS.epochs, _SETTINGS.batch, _steps()],
                }
            )
        rows = [("train", step.step, step.epoch, step.loss, None) for step in tuned.steps]
        evaluated = [("development", epoch.step, epoch.epoch, epoch.loss, epoch.score) for epoch in tuned.evaluated]
        return pd.DataFrame([*rows, *evaluated], columns=["split", "step", "epoch", "loss", "accuracy"])


class Trial(UsingStep):
    @cached_property
    def answer(self) -> Classified | None:
        """What the tuned model says; None where nothing was tuned."""
        return self.predicted()

    def text(self) -> str:
        if self.tuned is None:
            return self.say("text untrained")
        return self.say("text")

    def ask(self) -> Choice:
        answer = self.answer
        if answer is None:
            return self.choice("ask untrained")
        return self.choice(answer=answer, sure=max(answer.probabilities), settings=_SETTINGS)

    def reveal(self) -> None:
        answer, tuned = self.answer, self.tuned
        if answer is None or tuned is None:
            self.not_yet("one step")
            return
        marked = int(np.argmax(answer.probabilities))
        pictures.shares("labels", tuned.data.labels, [("probability", answer.probabilities)], marked=marked)

    def why(self) -> str:
        if self.tuned is None:
            return self.say("why untrained")
        return self.say("why")

    def numbers(self) -> pd.DataFrame:
        answer, tuned = self.answer, self.tuned
        if answer is None or tuned is None:
            return pd.DataFrame({"label": SETS[_SET].build().labels})
        return pd.DataFrame({"label": tuned.data.labels, "probability": answer.probabilities})


class Inside(UsingStep):
    at = "layers"

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

    def text(self) -> str:
        start = "" if self.tuned else self.say("train_first")
        return self.say("text", start=start)

    def ask(self) -> Choice | Sketch:
        moved = self.moved
        if moved is None:
            return self.choice("ask untrained")
        names, truth = tuple(moved), tuple(moved.values())

        def reply(drawn: Sequence[float]) -> str:
            most, guessed = options.highest(names, truth), options.highest(names, drawn)
            start = self.say("right") if most == guessed else self.say("wrong", guessed=guessed)
            return self.say("reply", start=start, most=most, highest=max(truth), truth=truth)

        top = float(max(0.05, np.ceil(max(truth) * 24) / 20))
        return Sketch(self.say("ask"), names, truth, reply, top=top, kind="curve")

    def reveal(self) -> None:
        moved = self.moved
        if moved is None:
            self.not_yet("two steps")
            return
        pictures.bars("moved", list(moved), [("1 − cosine before and after", list(moved.values()))], written=".3f")
        if self.tuned is not None:
            page_link("compare", "Before and after, on Compare", models=(self.tuned.base, self.tuned.id))

    def why(self) -> str:
        moved, apart = self.moved, self.turned
        if moved is None or apart is None:
            return self.say("why untrained")
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
    at = "layers"

    @property
    def both(self) -> tuple[Tuned, Tuned] | None:
        """The copy at the recommended rate and the one at the rate that is too high; None before both were trained."""
        done = {run.candidate.settings.rate: run.tuned for run in self.runs if run.candidate.settings.learns == "all"}
        usual, fast = done.get(None), done.get(_TOO_FAST)
        return None if usual is None or fast is None else (usual, fast)

    def text(self) -> str:
        start = "" if self.both else self.say("train_first")
        return self.say("text", too_fast=_TOO_FAST, start=start)

    def figure(self) -> None:
        self.draw_curves()

    def ask(self) -> Choice:
        both = self.both
        if both is None:
            return self.choice("ask untrained")
        usual, fast = (tuned.score() for tuned in both)
        return self.choice(
            worse=fast.high < usual.low,
            too_fast=_TOO_FAST,
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
            return pd.DataFrame({"learning rate": [_TOO_FAST]})
        rows = [(tuned.rate, *(getattr(tuned.score(), key) for key in ("value", "low", "high"))) for tuned in self.both]
        return pd.DataFrame(rows, columns=["learning rate", "accuracy", "low", "high"])


class Forgotten(UsingStep):
    @cached_property
    def drawn(self) -> tuple[float, ...]:
        """P(first label) of the visitor's sentence with dropout on, a number a draw; empty where nothing was tuned."""
        every = [self.predicted(seed) for seed in range(_DRAWS)]
        return tuple(prediction.probabilities[0] for prediction in every if prediction is not None)

    @property
    def spread(self) -> float:
        """The gap between the highest and the lowest P, in percentage points."""
        return 100 * (max(self.drawn) - min(self.drawn))

    def text(self) -> str:
        start = "" if self.tuned else self.say("train_first")
        about = quote(self.case.text) if self.tuned else self.say("same_sentence")
        return self.say("text", draws=_DRAWS, about=about, dropout=DROPOUT, start=start)

    def ask(self) -> Choice:
        if not self.drawn:
            return self.choice("ask untrained")
        spread = self.spread
        return self.choice(draws=_DRAWS, spread=spread)

    def reveal(self) -> None:
        usual = self.predicted()
        if usual is None or self.tuned is None:
            self.not_yet("four steps")
            return
        names = ("with eval()", *(f"without, {place}" for place in range(1, _DRAWS + 1)))
        series = (f"P({self.tuned.data.labels[0]})", (usual.probabilities[0], *self.drawn))
        pictures.shares("draws", names, [series], marked=0)

    def numbers(self) -> pd.DataFrame:
        usual = self.predicted()
        if usual is None:
            return pd.DataFrame({"draw": range(1, _DRAWS + 1)})
        rows = [("off", 0, usual.probabilities[0]), *(("on", draw, p) for draw, p in enumerate(self.drawn, start=1))]
        return pd.DataFrame(rows, columns=["dropout", "draw", "probability of the first label"])


LESSON = read_lesson(__file__, NewHead, Training, Trial, Inside, WrongRate, Forgotten)
