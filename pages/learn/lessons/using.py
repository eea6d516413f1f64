"""Put to use: a model fine-tuned in seconds on a small task, tried, and looked into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.before_after import turned
from jobs.tuning import Candidate, LessonTraining, Run
from model_zoo import DEFAULT_MODEL
from model_zoo.tuned import is_id
from model_zoo.types import FloatArray
from pages.learn import options, pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Lesson, Option, Place, Sketch, Step
from training.finetuning.data import Labelled
from training.finetuning.predict import Predict
from training.finetuning.results import Classified, Tuned
from training.finetuning.sets import SETS
from training.finetuning.settings import Settings
from ui import as_text, is_dark, page_link, watch
from ui.glossary import quoted
from ui.sources import DEVLIN, HOWARD, KOVALEVA, MERCHANT
from viz.predictions import percent
from viz.training_curves import Curve, scores
from web.background import desk
from web.engine import engine

_SET: Final = "sentiment"
_SETTINGS: Final = Settings(learns="all", examples=320, epochs=3)
_AFTERWARDS: Final = (3, 4)  # steps whose questions are other ones once there is a tuned model


def _name(model: str) -> str:
    return as_text(name_of(model))


def _job() -> LessonTraining | None:
    """This visitor's training in the lesson, at work or over."""
    return desk().current(LessonTraining)


class UsingStep(Step):
    """A step about the model that is tuned, beside the reviews that it learns from."""

    at: ClassVar[Place] = "guess"

    @property
    def base(self) -> str:
        """The model that is tuned: the visitor's where it is an encoder with attention that was not tuned before."""
        info = engine().info(self.case.model)
        usable = info.n_heads and not info.lm and not info.cross_attention and not is_id(self.case.model)
        return self.case.model if usable else DEFAULT_MODEL

    @property
    def tuned(self) -> Tuned | None:
        """The model tuned in this lesson, where it is the one on the screen that was tuned."""
        return self.case.tuned if self.case.tuned is not None and self.case.tuned.base == self.base else None

    @property
    def width(self) -> int:
        """How many numbers the new layer reads."""
        return engine().info(self.base).width

    @property
    def pretrained(self) -> int:
        """How many numbers the model has before it is tuned."""
        return engine().info(self.base).parameters

    def figure(self) -> None:
        data = SETS[_SET].build()
        shown = [item for item in data.train[:4] if isinstance(item, Labelled)]
        st.table([{"text": as_text(item.text), "label": as_text(item.label)} for item in shown])
        said = as_text(f"{data.title}: {len(data.train)} reviews to learn from, written for this app. Model: ")
        st.caption(said + _name(self.base))


def _labels() -> int:
    """How many labels the new layer tells apart."""
    return len(SETS[_SET].build().labels)


class NewHead(UsingStep):
    title = "A new head"
    sources = (DEVLIN, HOWARD)

    def text(self) -> str:
        return (
            "[[Fine-tuning]]: take a pretrained model, put a small new layer on top, and train both a little on a "
            f"task. The task here: is a review positive or negative? The new layer reads one vector of {self.width} "
            "numbers and gives one [[logit]] a label."
        )

    def ask(self) -> Choice:
        width, labels = self.width, _labels()
        right = width * labels + labels
        return Choice(
            f"How many new numbers are there to learn in that layer, for {labels} labels?",
            options.numbers(
                (right, f"{labels} · {width} weights and {labels} biases. All else was learned before."),
                (
                    labels,
                    "So many logits come out. Each is a sum over the whole vector, with a weight for every number.",
                ),
                (width, "That would be one label. There are several, and each has a bias."),
                (self.pretrained, "That is about the whole model. It is there already, pretrained."),
            ),
        )

    def reveal(self) -> None:
        width, labels = self.width, _labels()
        parts = {"new layer": float(width * labels + labels), "pretrained": float(self.pretrained)}
        pictures.bars("new-head", list(parts), [("numbers", list(parts.values()))], written=",.0f")

    def why(self) -> str:
        share = (self.width * _labels() + _labels()) / self.pretrained
        return (
            f"Nearly everything is known before: only {share:.3%} of the numbers start at random, which is why a few "
            "hundred examples can be enough (Devlin et al. 2019; Howard & Ruder 2018)."
        )

    def numbers(self) -> pd.DataFrame:
        width, labels = self.width, _labels()
        parts = {"new weights": width * labels, "new biases": labels, "pretrained": self.pretrained}
        return pd.DataFrame({"part": parts.keys(), "numbers": parts.values()})


def _steps() -> int:
    """How many steps of training there are."""
    return -(-(_SETTINGS.examples or 0) // _SETTINGS.batch) * _SETTINGS.epochs


_WHO: Final = {"all": "all weights", "head": "the head alone"}


def _curve(run: Run) -> Curve:
    """The loss and the scores of a run, to be drawn."""
    return Curve(
        _WHO[run.candidate.settings.learns],
        [(step.epoch, step.seconds, step.loss) for step in run.steps],
        [(one.epoch, 0.0, one.loss, one.score) for one in run.evaluated],
    )


def _begin(model: str) -> None:
    """Begin to train, in a callback before the page is drawn: the model is in memory already."""
    from pages.learn import fields  # which knows all lessons

    data = SETS[_SET].build()
    name = f"{_name(model)} tuned in the lesson"
    head = replace(_SETTINGS, learns="head")
    job = LessonTraining(
        engine(),
        [Candidate(name, model, data, _SETTINGS), Candidate(f"{name}, the head alone", model, data, head, keep=False)],
    )
    before = _job()
    if before is not None:
        job.take_over(before)
    desk().start(job)
    given = fields.answers()
    fields.keep({at: answer for at, answer in given.items() if at not in {("using", step) for step in _AFTERWARDS}})


class Training(UsingStep):
    title = "Train it"
    at = "layers"
    sources = (DEVLIN, HOWARD)

    def text(self) -> str:
        epochs, examples = _SETTINGS.epochs, _SETTINGS.examples
        return (
            f"{examples} reviews, {epochs} times each. Two copies learn side by side: in one all weights of "
            f"{_name(self.base)} learn, in the other the **head alone**, and the model below stays as it was "
            "(feature-based). Answer, then press Train."
        )

    def ask(self) -> Choice:
        steps = _steps()
        return Choice(
            f"With {_SETTINGS.batch} reviews a step, how many steps of training will that be?",
            options.numbers(
                (
                    steps,
                    f"{_SETTINGS.examples} / {_SETTINGS.batch} = {steps // _SETTINGS.epochs} steps an epoch, "
                    f"{_SETTINGS.epochs} times.",
                ),
                (_SETTINGS.epochs, "So many times it sees all of them. An epoch has many steps."),
                (_SETTINGS.examples or 0, "One step a review, once through: but several reviews share a step."),
                ((_SETTINGS.examples or 0) * _SETTINGS.epochs, "So many reviews it sees in all. Several share a step."),
            ),
        )

    def reveal(self) -> None:
        job = _job()
        if job is not None and job.running:
            watch(job)
        else:
            st.button(
                "Train",
                key="learn train",
                type="primary" if self.tuned is None else "secondary",
                icon=":material/play_arrow:",
                on_click=_begin,
                args=(self.base,),
            )
        if job is None or job.runs[0].candidate.model != self.base:
            st.caption("It runs in the background: read on meanwhile, or stop it. A large model takes longer.")
            return
        if job.failure is not None:
            st.warning(job.failure, icon=":material/error:")
        for run in job.runs:
            if run.failed is not None:
                st.warning(as_text(run.failed), icon=":material/error:")
        curves = [_curve(run) for run in job.runs if run.evaluated]
        if curves:
            pictures.show("accuracy", scores(curves, "accuracy", baseline=1 / _labels(), dark=is_dark()))
        if job.tuned:
            st.markdown(
                f"On {len(job.tuned[0].data.test)} reviews that played no part so far, right are (with 95% intervals):"
            )
        for found in job.tuned:
            score = found.score()
            st.markdown(
                f"- {_WHO[found.settings.learns]}: **{score.value:.0%}** ({score.low:.0%} to {score.high:.0%}), in "
                f"{found.seconds:.1f} seconds; {found.n_learning:,} numbers learned"
            )

    def why(self) -> str:
        found = self.tuned
        recommended = "BERT’s authors took 2 to 4 epochs at 0.00002 to 0.00005 (Devlin et al. 2019)"
        if found is None:
            return (
                "With rates that are too high what was pretrained would be unlearned (Howard & Ruder 2018): "
                f"{recommended}."
            )
        return (
            f"Here {found.steps[-1].step} steps at a rate of at most {found.rate:g} were enough for what you see; with "
            f"rates that are too high what was pretrained would be unlearned (Howard & Ruder 2018), and {recommended}."
        )

    def numbers(self) -> pd.DataFrame:
        found = self.tuned
        if found is None:
            return pd.DataFrame(
                {
                    "setting": ["examples", "epochs", "batch", "steps"],
                    "value": [_SETTINGS.examples, _SETTINGS.epochs, _SETTINGS.batch, _steps()],
                }
            )
        rows = [("train", step.step, step.epoch, step.loss, None) for step in found.steps]
        evaluated = [("development", one.step, one.epoch, one.loss, one.score) for one in found.evaluated]
        return pd.DataFrame([*rows, *evaluated], columns=["split", "step", "epoch", "loss", "accuracy"])


class Trial(UsingStep):
    title = "Try it"

    @cached_property
    def answer(self) -> Classified | None:
        """What the tuned model says; None where nothing was tuned."""
        if self.tuned is None:
            return None
        (found,) = engine().ask(Predict(self.tuned.id, ((self.case.text, None),)))
        assert isinstance(found, Classified)
        return found

    def text(self) -> str:
        if self.tuned is None:
            return (
                "Now a sentence of your own, typed above: is it positive or negative? **Train the model first**, one "
                "step back; until then you can guess, and nothing answers."
            )
        return (
            f"Now your sentence: {quoted(self.case.text)} All that the new head was ever shown are reviews. What will "
            "it say, and how sure will it be?"
        )

    def ask(self) -> Choice:
        found = self.answer
        if found is None:
            return Choice(
                "A model that was trained on reviews reads a timetable. What will it answer?",
                options.placed(
                    1,
                    Option(
                        "Positive or negative, with a probability",
                        "It has no third answer: softmax divides 100% among the labels it has.",
                        True,
                    ),
                    Option("That this is no review", "Nobody taught it to say so. It has only its labels."),
                ),
            )
        sure = max(found.probabilities)
        told = f"It says {as_text(found.label)}, with {percent(sure)}."
        bounds = ((0.75, "Below 75%"), (0.95, "75% to 95%"), (np.inf, "95% or more"))

        def reply(place: int, right: int) -> str:
            if place == right:
                return f"{told} How sure it is does not say whether it is right."
            if place < right:
                return f"{told} It is surer than you thought, which does not make it right."
            return f"{told} It is less sure than you thought: {_SETTINGS.examples} reviews are not many."

        return Choice("How sure will it be of its answer?", options.ranges(sure, bounds, reply))

    def reveal(self) -> None:
        found, tuned = self.answer, self.tuned
        if found is None or tuned is None:
            st.info("There is no tuned model yet. Go back one step and press Train.", icon=":material/model_training:")
            return
        marked = int(np.argmax(found.probabilities))
        pictures.shares("labels", tuned.data.labels, [("probability", found.probabilities)], marked=marked)

    def why(self) -> str:
        if self.tuned is None:
            return "A classifier divides 100% among its labels, whatever it is given."
        return (
            "It learned what told the labels of its reviews apart, and applies that to any text; on texts of another "
            "kind it can be sure and wrong."
        )

    def numbers(self) -> pd.DataFrame:
        found, tuned = self.answer, self.tuned
        if found is None or tuned is None:
            return pd.DataFrame({"label": SETS[_SET].build().labels})
        return pd.DataFrame({"label": tuned.data.labels, "probability": found.probabilities})


class Inside(UsingStep):
    title = "What changed inside"
    at = "layers"
    sources = (MERCHANT, KOVALEVA)

    @cached_property
    def turned(self) -> FloatArray | None:
        """1 − cosine of each token's vector before and after tuning, (layers + 1, n); None where nothing was tuned."""
        found = self.tuned
        if found is None:
            return None
        return turned(*(engine().encoded_states(model, self.case.text) for model in (found.base, found.id)))

    @property
    def moved(self) -> dict[str, float] | None:
        """The mean over the tokens, by layer."""
        if self.turned is None:
            return None
        means: list[float] = self.turned.mean(axis=1).tolist()
        return {f"layer {layer}" if layer else "embeddings": mean for layer, mean in enumerate(means)}

    def text(self) -> str:
        start = "" if self.tuned else " **Train the model first**, two steps back, to see it."
        return (
            "All weights could change. Did they, and where? We pass your sentence through the model before and after, "
            f"and measure how far each layer’s vectors have turned: 1 − [[cosine]], the mean over tokens.{start}"
        )

    def ask(self) -> Choice | Sketch:
        moved = self.moved
        if moved is None:
            return Choice(
                "Where did others find that fine-tuning changes most?",
                options.placed(
                    1,
                    Option(
                        "In the top layers",
                        "There the vectors change most, in BERT-base on several tasks (Merchant et al. 2020).",
                        True,
                    ),
                    Option("In the embeddings", "There they stayed close to what they were (Merchant et al. 2020)."),
                    Option("In all layers alike", "It would be simple; measured, it is uneven."),
                ),
            )
        names, truth = tuple(moved), tuple(moved.values())

        def reply(drawn: Sequence[float]) -> str:
            most, guessed = options.highest(names, truth), options.highest(names, drawn)
            said = "As you drew it" if most == guessed else f"You drew {guessed} farthest"
            return f"{said}: {most} turned most, by {max(truth):.2f}; the embeddings by {truth[0]:.3f}."

        top = float(max(0.05, np.ceil(max(truth) * 24) / 20))
        return Sketch("Draw how far the vectors of each layer have turned.", names, truth, reply, top=top, kind="curve")

    def reveal(self) -> None:
        moved = self.moved
        if moved is None:
            st.info("There is no tuned model yet. Go back two steps and press Train.", icon=":material/model_training:")
            return
        pictures.bars("moved", list(moved), [("1 − cosine before and after", list(moved.values()))], written=".3f")
        if self.tuned is not None:
            page_link("compare", "Before and after, on Compare", models=(self.tuned.base, self.tuned.id))

    def why(self) -> str:
        moved, apart = self.moved, self.turned
        others = (
            "In BERT-base attention changed most in the last two layers (Kovaleva et al. 2019), vectors in the top "
            "ones (Merchant et al. 2020)"
        )
        if moved is None or apart is None:
            return f"{others}; how it is here, you see when you have trained."
        most, token = max(moved, key=moved.__getitem__), int(apart[-1].argmax())
        where = "the embeddings" if most == "embeddings" else f"{most} of {len(moved) - 1}"
        return (
            f"{others}; here it is {where}, on this sentence, and behind the last layer the token "
            f"{self.quoted(token)} turned most."
        )

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


LESSON = Lesson(
    name="using",
    title="To use",
    question="How is a pretrained model put to work?",
    examples=(
        ("The food was cold and the waiter was rude.", ""),
        ("What a lovely film, I laughed all evening.", ""),
        ("The train leaves at nine.", ""),
    ),
    pages=("train",),
    steps=(NewHead, Training, Trial, Inside),
)
