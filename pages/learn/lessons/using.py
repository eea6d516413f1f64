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
from pages.learn.lesson import Choice, Lesson, Option, Place, Recall, Sketch, recalled
from training.finetuning.data import Labelled
from training.finetuning.predict import DROPOUT, Predict
from training.finetuning.results import Classified, Tuned
from training.finetuning.sets import SETS
from training.finetuning.settings import Settings
from ui import as_text, page_link
from ui.glossary import quote
from ui.sources import DEVLIN, HOWARD, KOVALEVA, MERCHANT, SRIVASTAVA
from viz.predictions import percent
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
    title = "A new task head"
    terms = ("fine-tuning", "task head", "transfer learning")
    sources = (DEVLIN, HOWARD)

    @property
    def new(self) -> int:
        """How many numbers no pretraining has set."""
        return tuning.new_numbers(engine().info(self.base).family, self.width, _labels())

    def text(self) -> str:
        return (
            "[[Fine-tuning]]: take a pretrained model, put a small new layer on top, a [[task head]], and train both "
            f"for a task. The task here: is a review positive or negative? The head reads one vector of {self.width} "
            "numbers and gives one [[logit]] for each label."
        )

    def ask(self) -> Choice:
        width, labels, new = self.width, _labels(), self.new
        simple = width * labels + labels
        made_of = f"{labels} · {width} weights and {labels} biases"
        if new != simple:
            made_of += f", and a layer of {width} · {width} weights and {width} biases before them, as in RoBERTa"
        return Choice(
            f"How many new numbers does the task head have, for {labels} labels?",
            options.numbers(
                (new, f"{made_of}. Everything else is pretrained."),
                (labels, "That many logits come out. Each is a sum over the whole vector, with a weight per number."),
                (width, "That would be one label. There are several, and each has a bias."),
                (self.pretrained, "That is about the whole model, which is pretrained already."),
            ),
        )

    def reveal(self) -> None:
        parts = {"new task head": float(self.new), "pretrained": float(self.pretrained)}
        pictures.bars("new-head", list(parts), [("numbers", list(parts.values()))], written=",.0f")

    def why(self) -> str:
        share = self.new / (self.new + self.pretrained)
        return (
            f"Only {share:.3%} of the numbers start at random, which is why a few hundred examples can be enough "
            "(Devlin et al. 2019; Howard & Ruder 2018)."
        )

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
    title = "Train it"
    at = "layers"
    terms = ("epoch", "batch", "learning rate", "feature-based")
    minutes = 2.5
    sources = (DEVLIN, HOWARD)

    def text(self) -> str:
        return (
            f"{_SETTINGS.examples} reviews, {_SETTINGS.epochs} times each. Three copies are trained side by side: all "
            f"weights of {tuning.name(self.base)}; the **task head only**, with the model below frozen "
            f"([[feature-based]]); and all weights with a [[learning rate]] of {_TOO_FAST:g}, a common mistake. "
            "Answer, then press Train."
        )

    def ask(self) -> Choice:
        steps, examples, epochs = _steps(), _SETTINGS.examples or 0, _SETTINGS.epochs
        return Choice(
            f"With {_SETTINGS.batch} reviews a step, how many steps of training is that for each copy?",
            options.numbers(
                (steps, f"{examples} / {_SETTINGS.batch} = {steps // epochs} steps an epoch, {epochs} times."),
                (epochs, "That is the number of epochs. An epoch has many steps."),
                (examples, "That would be one step a review, once through. Several reviews share a step."),
                (examples * epochs, "That is how many reviews it reads in total. Several share a step."),
            ),
        )

    def reveal(self) -> None:
        self.train(_candidates(self.base), _AFTERWARDS)

    def why(self) -> str:
        tuned = self.tuned
        recommended = "BERT’s authors used 2 to 4 epochs at 0.00002 to 0.00005 (Devlin et al. 2019)"
        if tuned is None:
            return (
                "A rate that is too high destroys what pretraining taught ([[catastrophic forgetting]]): "
                f"{recommended}."
            )
        return (
            f"Here {tuned.steps[-1].step} steps at a rate of at most {tuned.rate:g} were enough for what you see. A "
            f"rate that is too high destroys what pretraining taught ([[catastrophic forgetting]]); {recommended}."
        )

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
    title = "Try it"

    @cached_property
    def answer(self) -> Classified | None:
        """What the tuned model says; None where nothing was tuned."""
        return self.predicted()

    def text(self) -> str:
        if self.tuned is None:
            return (
                "Now your own sentence, typed above: is it positive or negative? **Train the model first**, one step "
                "back; until then there is no prediction."
            )
        return (
            f"Now your sentence: {quote(self.case.text)} The new task head has only ever seen reviews. What will it "
            "predict, and how confident will it be?"
        )

    def ask(self) -> Choice:
        answer = self.answer
        if answer is None:
            return Choice(
                "A model trained on reviews reads a timetable. What will it predict?",
                options.placed(
                    1,
                    Option(
                        "Positive or negative, with a probability",
                        "It has no third answer: softmax divides 100% among its labels.",
                        True,
                    ),
                    Option("That this is not a review", "It was never trained to say that. It has only its labels."),
                ),
            )
        sure = max(answer.probabilities)
        fact = f"It predicts {as_text(answer.label)}, with {percent(sure)}."
        bounds = ((0.75, "Below 75%"), (0.95, "75% to 95%"), (np.inf, "95% or more"))

        def reply(place: int, right: int) -> str:
            if place == right:
                return f"{fact} Its confidence does not tell whether it is right."
            if place < right:
                return f"{fact} It is more confident than you thought, which does not make it right."
            return f"{fact} It is less confident than you thought: {_SETTINGS.examples} reviews are not many."

        return Choice("How confident will it be?", options.ranges(sure, bounds, reply))

    def reveal(self) -> None:
        answer, tuned = self.answer, self.tuned
        if answer is None or tuned is None:
            self.not_yet("one step")
            return
        marked = int(np.argmax(answer.probabilities))
        pictures.shares("labels", tuned.data.labels, [("probability", answer.probabilities)], marked=marked)

    def why(self) -> str:
        if self.tuned is None:
            return "A classifier divides 100% among its labels, whatever it is given."
        return (
            "It learned what distinguishes the labels of its reviews, and applies that to any text; on other kinds "
            "of text it can be confident and wrong."
        )

    def numbers(self) -> pd.DataFrame:
        answer, tuned = self.answer, self.tuned
        if answer is None or tuned is None:
            return pd.DataFrame({"label": SETS[_SET].build().labels})
        return pd.DataFrame({"label": tuned.data.labels, "probability": answer.probabilities})


class Inside(UsingStep):
    title = "What changed inside"
    at = "layers"
    sources = (MERCHANT, KOVALEVA)

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
        start = "" if self.tuned else " **Train the model first**, two steps back, to see it."
        return (
            "All weights could change. Where did they? We pass your sentence through the model before and after, and "
            f"measure how far each layer’s vectors have turned: 1 − [[cosine]], the mean over tokens.{start}"
        )

    def ask(self) -> Choice | Sketch:
        moved = self.moved
        if moved is None:
            return Choice(
                "Where did others find the largest changes in fine-tuning?",
                options.placed(
                    1,
                    Option(
                        "In the top layers",
                        (
                            "In BERT-base the top layers change most on several tasks; for dependency parsing "
                            "most layers change (Merchant et al. 2020)."
                        ),
                        True,
                    ),
                    Option("In the embeddings", "These stayed close to the original (Merchant et al. 2020)."),
                    Option("Equally in all layers", "That would be simple, but measurements show that it is uneven."),
                ),
            )
        names, truth = tuple(moved), tuple(moved.values())

        def reply(drawn: Sequence[float]) -> str:
            most, guessed = options.highest(names, truth), options.highest(names, drawn)
            start = "As you drew it" if most == guessed else f"You drew {guessed} highest"
            return f"{start}: {most} turned most, by {max(truth):.2f}; the embeddings by {truth[0]:.3f}."

        top = float(max(0.05, np.ceil(max(truth) * 24) / 20))
        return Sketch("Draw how far the vectors of each layer have turned.", names, truth, reply, top=top, kind="curve")

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
        others = (
            "In BERT-base attention changed most in the last two layers (Kovaleva et al. 2019), vectors in the top "
            "ones, except for parsing, which changed most layers (Merchant et al. 2020)"
        )
        if moved is None or apart is None:
            return f"{others}. Train the model to see how it is here."
        most, token = max(moved, key=moved.__getitem__), int(apart[-1].argmax())
        where = "the embeddings" if most == "embeddings" else f"{most} of {len(moved) - 1}"
        return (
            f"{others}; here it is {where}, on this sentence, and after the last layer the token {self.quoted(token)} "
            "has turned most."
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


class WrongRate(UsingStep):
    title = "What went wrong?"
    at = "layers"
    terms = ("catastrophic forgetting",)
    sources = (DEVLIN, HOWARD)

    @property
    def both(self) -> tuple[Tuned, Tuned] | None:
        """The copy at the recommended rate and the one at the rate that is too high; None before both were trained."""
        done = {run.candidate.settings.rate: run.tuned for run in self.runs if run.candidate.settings.learns == "all"}
        usual, fast = done.get(None), done.get(_TOO_FAST)
        return None if usual is None or fast is None else (usual, fast)

    def text(self) -> str:
        start = "" if self.both else " **Train the model first**, three steps back, to see its curve."
        return (
            f"The third copy was trained at {_TOO_FAST:g}, forty times the highest rate that BERT’s authors used. Same "
            f"model, same reviews, same number of steps.{start}"
        )

    def figure(self) -> None:
        self.draw_curves()

    def ask(self) -> Choice:
        both = self.both
        if both is None:
            return Choice(
                "The loss jumps up and down, and the accuracy stays near 50%. What is the first thing to check?",
                options.placed(
                    1,
                    Option(
                        "The learning rate", "Too high a rate makes steps that overshoot and undo pretraining.", True
                    ),
                    Option("The number of layers", "The pretrained model has the layers it has."),
                    Option("The tokenizer", "The first copy learned with the same one."),
                ),
            )
        usual, fast = (tuned.score() for tuned in both)
        fact = (
            f"At {_TOO_FAST:g}: {tuning.describe_score(fast)}; at the recommended rate: {tuning.describe_score(usual)}."
        )
        return Choice(
            "How does its accuracy compare with that of the first copy? (A difference is clear if the 95% intervals do "
            "not overlap.)",
            (
                options.either("Clearly worse", fast.high < usual.low, fact, f"Often, but not here. {fact}"),
                options.either(
                    "No clear difference",
                    fast.high >= usual.low and fast.low <= usual.high,
                    fact,
                    f"There is one. {fact}",
                ),
                options.either("Clearly better", fast.low > usual.high, fact, f"Faster is not better. {fact}"),
            ),
        )

    def reveal(self) -> None:
        if self.both is None:
            self.not_yet("three steps")
            return
        self.draw_curves()

    def why(self) -> str:
        return (
            "Large steps overshoot and overwrite what pretraining taught ([[catastrophic forgetting]]), so when "
            "training fails, check the learning rate first."
        )

    def numbers(self) -> pd.DataFrame:
        if self.both is None:
            return pd.DataFrame({"learning rate": [_TOO_FAST]})
        rows = [(tuned.rate, *(getattr(tuned.score(), key) for key in ("value", "low", "high"))) for tuned in self.both]
        return pd.DataFrame(rows, columns=["learning rate", "accuracy", "low", "high"])


class Forgotten(UsingStep):
    title = "What went wrong this time?"
    terms = ("dropout", "epoch mode")
    sources = (SRIVASTAVA, DEVLIN)

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
        start = "" if self.tuned else " **Train the model first**, four steps back, to see how far apart they are."
        about = quote(self.case.text) if self.tuned else "the same sentence"
        return (
            f"Somebody asks the trained model {_DRAWS} times about {about} and gets {_DRAWS} probabilities. eval() was "
            f"forgotten, so [[dropout]] is on: every dropout layer sets {DROPOUT:.0%} of its "
            f"numbers to 0, the rate that BERT was trained with.{start}"
        )

    def ask(self) -> Choice:
        if not self.drawn:
            return Choice(
                "Why does dropout make answers differ?",
                options.placed(
                    2,
                    Option("It sets other numbers to 0 each time", "Drawn at random, in every dropout layer.", True),
                    Option("It changes the weights", "Weights stay. It acts on the vectors that pass through."),
                    Option("It skips tokens of the text", "All tokens are read; numbers in their vectors are lost."),
                ),
            )
        spread = self.spread
        fact = f"They are {spread:.1f} percentage points apart."
        bounds = ((1.0, "Less than 1 percentage point"), (10.0, "1 to 10 points"), (np.inf, "10 points or more"))
        return Choice(
            f"How far apart are the {_DRAWS} probabilities?",
            options.ranges(spread, bounds, lambda _place, _right: fact),
        )

    def reveal(self) -> None:
        usual = self.predicted()
        if usual is None or self.tuned is None:
            self.not_yet("four steps")
            return
        names = ("with eval()", *(f"without, {place}" for place in range(1, _DRAWS + 1)))
        series = (f"P({self.tuned.data.labels[0]})", (usual.probabilities[0], *self.drawn))
        pictures.shares("draws", names, [series], marked=0)

    def why(self) -> str:
        return (
            "Dropout is for training: it keeps a network from relying on any one number (Srivastava et al. 2014). For "
            "predictions eval() switches it off, and the same text gets the same answer. The bundled models were "
            "trained without dropout; the rate here is BERT’s (Devlin et al. 2019)."
        )

    def numbers(self) -> pd.DataFrame:
        usual = self.predicted()
        if usual is None:
            return pd.DataFrame({"draw": range(1, _DRAWS + 1)})
        rows = [("off", 0, usual.probabilities[0]), *(("on", draw, p) for draw, p in enumerate(self.drawn, start=1))]
        return pd.DataFrame(rows, columns=["dropout", "draw", "probability of the first label"])


LESSON = Lesson(
    name="using",
    title="Putting it to use",
    question="How does a pretrained model learn to label texts?",
    aims=(
        "say what fine-tuning adds to a pretrained model and what it changes",
        "tell fine-tuning from the feature-based approach",
        "choose a learning rate and a number of epochs",
        "recognize a learning rate that is too high, and a forgotten eval()",
    ),
    terms=("fine-tuning",),
    examples=(
        ("The food was cold and the waiter was rude.", ""),
        ("What a lovely film, I laughed all evening.", ""),
        ("The train leaves at nine.", ""),
    ),
    pages=("train",),
    steps=(
        NewHead,
        Training,
        Trial,
        Inside,
        WrongRate,
        Forgotten,
        *recalled(
            "guess",
            Recall(
                "What is new in a fine-tuned classifier?",
                (
                    Option("All of its weights", "Nearly all of them come from pretraining."),
                    Option("A small task head on top", "It starts at random; the rest is pretrained.", True),
                    Option("Its vocabulary", "The tokenizer stays the same."),
                ),
                "Fine-tuning adds a small task head to a pretrained model and trains both on labelled examples.",
            ),
            Recall(
                "What does “feature-based” mean?",
                (
                    Option("All weights are trained", "That is fine-tuning."),
                    Option("The encoder stays frozen, only the head is trained", "Its vectors are features.", True),
                    Option("Features are chosen by hand", "They are the model’s own vectors."),
                ),
                "In the feature-based approach the encoder stays frozen; fine-tuning changes it, often most in the top "
                "layers.",
            ),
            Recall(
                "Which learning rate did BERT’s authors use for fine-tuning?",
                (
                    Option("0.00002 to 0.00005", "Small steps keep what pretraining taught.", True),
                    Option("0.002", "About forty times too high: it can destroy what pretraining taught."),
                    Option("The higher, the better", "Large steps overshoot."),
                ),
                "Recommended for BERT: 2 to 4 epochs at 0.00002 to 0.00005; a rate that is too high destroys what "
                "pretraining taught.",
            ),
        ),
    ),
)
