"""What lessons that train a model share: the model that is trained, the button, the curves, and the scores."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Final

import pandas as pd
import streamlit as st

from jobs.tuning import Candidate, LessonTraining, Run
from model_zoo import DEFAULT_MODEL
from model_zoo.tuned import is_id
from model_zoo.types import format_interval
from pages.learn import pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Step
from training.finetuning.data import Data
from training.finetuning.results import Score, Tuned
from training.finetuning.scores import MEASURES
from training.finetuning.sets import SETS
from training.finetuning.settings import Settings
from ui import as_text, watch
from viz.training_curves import Curve, scores
from web.background import desk
from web.engine import engine

# Families whose classification head has a layer of its own (width × width) before the labels.
_WITH_A_LAYER: Final = frozenset(
    {
        "camembert",
        "deberta",
        "deberta-v2",
        "distilbert",
        "electra",
        "longformer",
        "mpnet",
        "roberta",
        "xlm-roberta",
        "xlnet",
    }
)


def new_numbers(family: str, width: int, labels: int) -> int:
    """Weights and biases of a classification head that no pretraining has set."""
    layer = width * width + width if family in _WITH_A_LAYER else 0
    return layer + width * labels + labels


def job() -> LessonTraining | None:
    """This visitor's training in a lesson, at work or over."""
    return desk().current(LessonTraining)


def describe_score(score: Score) -> str:
    """A share with its 95% interval."""
    return format_interval(score.value, score.low, score.high, ".0%")


class TuningStep(Step):
    """A step about a model that is trained on a built-in set, named ``trains``, in the lesson ``lesson``. Until it is
    trained, the parts “text untrained”, “ask untrained” and “why untrained” of its words stand for the others.
    """

    lesson: ClassVar[str]
    trains: ClassVar[str]
    settings: ClassVar[Settings]

    def say(self, name: str, **values: Any) -> str:
        return super().say(self._part(name), **values)

    def choice(self, name: str = "ask", **values: Any) -> Choice:
        return super().choice(self._part(name), **values)

    def _part(self, name: str) -> str:
        untrained = f"{name} untrained"
        return untrained if not self.is_trained and self.chapter.find(untrained) else name

    @property
    def is_trained(self) -> bool:
        """Whether there is what the step is about."""
        return self.tuned is not None

    @property
    def start(self) -> str:
        """What is said before the model is trained."""
        return "" if self.is_trained else self.say("train_first")

    @property
    def data(self) -> Data:
        """What it is trained on."""
        return SETS[self.trains].build()

    @property
    def base(self) -> str:
        """The model that is tuned: the visitor's where it is an encoder with attention that was not tuned before."""
        info = engine().info(self.case.model)
        usable = info.n_heads and not info.lm and not info.cross_attention and not is_id(self.case.model)
        return self.case.model if usable else DEFAULT_MODEL

    @property
    def tuned(self) -> Tuned | None:
        """The model tuned in this lesson, where it is the one on the screen that was tuned."""
        tuned = self.case.tuned
        return tuned if tuned is not None and tuned.base == self.base and tuned.data.name == self.data.name else None

    @property
    def base_model(self) -> str:
        """What a sentence calls the model that is tuned, as Markdown."""
        return as_text(name_of(self.base))

    @property
    def test_score(self) -> str:
        """That of the tuned model, with its 95% interval."""
        assert self.tuned is not None
        return describe_score(self.tuned.score())

    @property
    def n_train(self) -> int:
        """How many items it learns from."""
        return len(self.data.train)

    @property
    def n_test(self) -> int:
        """How many items it is tested on."""
        return len(self.data.test)

    @property
    def runs(self) -> list[Run]:
        """The trainings of this lesson so far, where they are of the model on the screen."""
        training = job()
        if training is None or training.runs[0].candidate.model != self.base:
            return []
        return [run for run in training.runs if run.candidate.data.name == self.data.name]

    @property
    def baseline(self) -> float | None:
        """The score without any training, drawn beside the curves; None where there is none to speak of."""
        return None

    @property
    def width(self) -> int:
        """How many numbers the task head reads of a token."""
        return engine().info(self.base).width

    @property
    def pretrained(self) -> int:
        """How many numbers the model has before it is tuned."""
        return engine().info(self.base).parameters

    def not_yet(self, steps: str) -> None:
        """Say that nothing was tuned so far, and how many ``steps`` back that is done."""
        st.info(f"There is no tuned model yet. Go back {steps} and press Train.", icon=":material/model_training:")

    def train(self, candidates: list[Candidate], afterwards: tuple[int, ...]) -> None:
        """Draw the button, how far the training is, and its curves and scores; ``afterwards`` are the steps (from 1)
        whose questions are other ones once there is a tuned model.
        """
        training = job()
        if training is not None and training.running:
            watch(training)
        else:
            st.button(
                "Train",
                key="learn-train",
                type="primary" if self.tuned is None else "secondary",
                icon=":material/play_arrow:",
                on_click=_begin,
                args=(candidates, self.lesson, afterwards),
            )
        runs = self.runs
        if training is None or not runs:
            st.caption("Training runs in the background: read on meanwhile, or stop it. A large model takes longer.")
            return
        if training.failure is not None:
            st.warning(training.failure, icon=":material/error:")
        for run in runs:
            if run.failed is not None:
                st.warning(as_text(run.failed), icon=":material/error:")
        self.draw_curves()
        done = [run.tuned for run in runs if run.tuned is not None]
        if done:
            measure = MEASURES[done[0].data.measure].title
            st.markdown(
                f"{measure} of the best epoch (the large marker) on {len(done[0].data.test)} test items that were not "
                "used so far (95% intervals):"
            )
        for tuned in done:
            score = tuned.score()
            st.markdown(
                f"- {called(tuned.settings)}: **{score.value:.0%}** ({score.low:.0%} to {score.high:.0%}), in "
                f"{tuned.seconds:.1f} seconds; {tuned.n_learning:,} numbers were trained"
            )

    def draw_curves(self) -> None:
        """Draw the scores on the development split, epoch by epoch."""
        curves = [
            Curve(
                called(run.candidate.settings),
                [(step.epoch, step.seconds, step.loss) for step in run.steps],
                [(evaluation.epoch, 0.0, evaluation.loss, evaluation.score) for evaluation in run.evaluated],
                best=run.best,
            )
            for run in self.runs
            if run.evaluated
        ]
        if curves:
            pictures.show(
                "accuracy", partial(scores, curves, MEASURES[self.data.measure].title, baseline=self.baseline)
            )


class TrainingStep(TuningStep):
    """The step of a lesson at which one model is trained; ``afterwards`` as for ``train``, ``items`` are called so."""

    afterwards: ClassVar[tuple[int, ...]] = ()
    items: ClassVar[str]

    def reveal(self) -> None:
        name = f"{self.base_model}, {self.trains}"
        self.train([Candidate(name, self.base, self.data, self.settings)], self.afterwards)

    def numbers(self) -> pd.DataFrame:
        if self.tuned is None:
            return pd.DataFrame({"split": ["train", "test"], self.items: [self.n_train, self.n_test]})
        rows = [(epoch.epoch, epoch.loss, epoch.score) for epoch in self.tuned.evaluated]
        return pd.DataFrame(rows, columns=["epoch", "loss", MEASURES[self.data.measure].title])


def called(settings: Settings) -> str:
    """What tells one training of a lesson from the others."""
    who = {"all": "all weights", "head": "task head only"}.get(settings.learns, settings.learns)
    return who if settings.rate is None else f"{who}, learning rate {settings.rate:g}"


def _begin(candidates: list[Candidate], lesson: str, afterwards: tuple[int, ...]) -> None:
    """Begin to train, in a callback before the page is drawn: the model is in memory already."""
    from pages.learn import fields  # which knows all lessons

    training = LessonTraining(engine(), candidates)
    before = job()
    if before is not None:
        training.take_over(before)
    desk().start(training)
    answers = fields.answers()
    fields.keep({at: answer for at, answer in answers.items() if at not in {(lesson, step) for step in afterwards}})
