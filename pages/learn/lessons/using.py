"""Lesson 12: put to use: a model fine-tuned in seconds on a small task, tried, and looked into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.before_after import turned
from jobs.tuning import Candidate, LessonTraining, Run
from model_zoo import DEFAULT_MODEL
from model_zoo.tuned import is_id
from model_zoo.types import FloatArray
from pages.learn import options
from pages.learn.case import Case, name_of
from pages.learn.glossary import quoted
from pages.learn.lesson import Choice, Lesson, Option, Sketch, Source, Step
from training.finetuning.data import Labelled
from training.finetuning.predict import Predict
from training.finetuning.results import Classified, Tuned
from training.finetuning.sets import SETS
from training.finetuning.settings import Settings
from ui import address, figures
from ui.messages import as_text
from ui.work import watch
from viz.bars import bars
from viz.predictions import percent
from viz.training_curves import Curve, scores
from web.background import desk
from web.engine import engine

_SET: Final = "sentiment"
_SETTINGS: Final = Settings(learns="all", examples=320, epochs=3)
_AFTERWARDS: Final = (3, 4)  # steps whose questions are other ones once there is a tuned model

_DEVLIN = Source("Devlin et al.", 2019, "BERT: Pre-training of Deep Bidirectional Transformers")
_HOWARD = Source("Howard & Ruder", 2018, "Universal Language Model Fine-tuning for Text Classification")
_MERCHANT = Source("Merchant et al.", 2020, "What Happens To BERT Embeddings During Fine-tuning?")
_KOVALEVA = Source("Kovaleva et al.", 2019, "Revealing the Dark Secrets of BERT")


def _base(case: Case) -> str:
    """The model that is tuned: the visitor's where it is an encoder with attention that was not tuned before."""
    info = engine().info(case.model)
    usable = info.n_heads and not info.lm and not info.cross_attention and not is_id(case.model)
    return case.model if usable else DEFAULT_MODEL


def _name(model: str) -> str:
    return as_text(name_of(model))


def _job() -> LessonTraining | None:
    """This visitor's training in the lesson, at work or over."""
    return desk().current(LessonTraining)


def _tuned(case: Case) -> Tuned | None:
    """The model tuned in this lesson, where it is the one on the screen that was tuned."""
    return case.tuned if case.tuned is not None and case.tuned.base == _base(case) else None


# ---- a new head -------------------------------------------------------------------------------------------------


def _head_text(case: Case) -> str:
    return (
        "[[Fine-tuning]]: take a pretrained model, put a small new layer on top, and train both a little on a task. "
        f"The task here: is a review positive or negative? The new layer reads one vector of {_width(case)} numbers "
        "and gives one [[logit]] a label."
    )


def _width(case: Case) -> int:
    return engine().info(_base(case)).width


def _labels() -> int:
    return len(SETS[_SET].build().labels)


def _head_ask(case: Case) -> Choice:
    width, labels = _width(case), _labels()
    right = width * labels + labels
    return Choice(
        f"How many new numbers are there to learn in that layer, for {labels} labels?",
        options.numbers(
            (right, f"{labels} · {width} weights and {labels} biases. All else was learned before."),
            (labels, "So many logits come out. Each is a sum over the whole vector, with a weight for every number."),
            (width, "That would be one label. There are several, and each has a bias."),
            (engine().info(_base(case)).parameters, "That is about the whole model. It is there already, pretrained."),
        ),
    )


def _head_figure(case: Case) -> None:
    data = SETS[_SET].build()
    shown = [item for item in data.train[:4] if isinstance(item, Labelled)]
    st.table([{"text": as_text(item.text), "label": as_text(item.label)} for item in shown])
    st.caption(
        as_text(f"{data.title}: {len(data.train)} reviews to learn from, written for this app. Model: ")
        + _name(_base(case))
    )


def _head_reveal(case: Case) -> None:
    width, labels = _width(case), _labels()
    parts = {"new layer": float(width * labels + labels), "pretrained": float(engine().info(_base(case)).parameters)}
    figures.show(
        bars(list(parts), [("numbers", list(parts.values()))], written=",.0f", dark=case.dark), "learn head", "new-head"
    )


def _head_why(case: Case) -> str:
    share = (_width(case) * _labels() + _labels()) / engine().info(_base(case)).parameters
    return (
        f"Nearly everything is known before: only {share:.3%} of the numbers start at random, which is why a few "
        "hundred examples can be enough (Devlin et al. 2019; Howard & Ruder 2018)."
    )


def _head_numbers(case: Case) -> pd.DataFrame:
    width, labels = _width(case), _labels()
    return pd.DataFrame(
        [
            {"part": "new weights", "numbers": width * labels},
            {"part": "new biases", "numbers": labels},
            {"part": "pretrained", "numbers": engine().info(_base(case)).parameters},
        ]
    )


# ---- train it ---------------------------------------------------------------------------------------------------


def _train_text(case: Case) -> str:
    epochs, examples = _SETTINGS.epochs, _SETTINGS.examples
    return (
        f"{examples} reviews, {epochs} times each. Two copies learn side by side: in one all weights of "
        f"{_name(_base(case))} learn, in the other the **head alone**, and the model below stays as it was "
        "(feature-based). Answer, then press Train."
    )


def _train_ask(_case: Case) -> Choice:
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


def _steps() -> int:
    return -(-(_SETTINGS.examples or 0) // _SETTINGS.batch) * _SETTINGS.epochs


def _train_reveal(case: Case) -> None:
    job = _job()
    if job is not None and job.running:
        watch(job)
    else:
        st.button(
            "Train",
            key="learn train",
            type="primary" if _tuned(case) is None else "secondary",
            icon=":material/play_arrow:",
            on_click=_begin,
            args=(_base(case),),
        )
    if job is None or job.runs[0].candidate.model != _base(case):
        st.caption("It runs in the background: read on meanwhile, or stop it. A large model takes longer.")
        return
    if job.failure is not None:
        st.warning(job.failure, icon=":material/error:")
    for run in job.runs:
        if run.failed is not None:
            st.warning(as_text(run.failed), icon=":material/error:")
    curves = [_curve(run) for run in job.runs if run.judged]
    if curves:
        figures.show(scores(curves, "accuracy", baseline=1 / _labels(), dark=case.dark), "learn scores", "accuracy")
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


_WHO: Final = {"all": "all weights", "head": "the head alone"}


def _curve(run: Run) -> Curve:
    return Curve(
        _WHO[run.candidate.settings.learns],
        [(step.epoch, step.seconds, step.loss) for step in run.steps],
        [(one.epoch, 0.0, one.loss, one.score) for one in run.judged],
    )


def _begin(model: str) -> None:
    """In a callback, before the page is drawn: the model is in memory already."""
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


def _train_why(case: Case) -> str:
    found = _tuned(case)
    recommended = "BERT’s authors took 2 to 4 epochs at 0.00002 to 0.00005 (Devlin et al. 2019)"
    if found is None:
        return (
            f"With rates that are too high what was pretrained would be unlearned (Howard & Ruder 2018): {recommended}."
        )
    return (
        f"Here {found.steps[-1].step} steps at a rate of at most {found.rate:g} were enough for what you see; with "
        f"rates that are too high what was pretrained would be unlearned (Howard & Ruder 2018), and {recommended}."
    )


def _train_numbers(case: Case) -> pd.DataFrame:
    found = _tuned(case)
    if found is None:
        return pd.DataFrame(
            {
                "setting": ["examples", "epochs", "batch", "steps"],
                "value": [_SETTINGS.examples, _SETTINGS.epochs, _SETTINGS.batch, _steps()],
            }
        )
    return pd.DataFrame(
        [
            {"part": "train", "step": step.step, "epoch": step.epoch, "loss": step.loss, "accuracy": None}
            for step in found.steps
        ]
        + [
            {"part": "development", "step": one.step, "epoch": one.epoch, "loss": one.loss, "accuracy": one.score}
            for one in found.judged
        ]
    )


# ---- try it -----------------------------------------------------------------------------------------------------


def _try_text(case: Case) -> str:
    if _tuned(case) is None:
        return (
            "Now a sentence of your own, typed above: is it positive or negative? **Train the model first**, one step "
            "back; until then you can guess, and nothing answers."
        )
    return (
        f"Now your sentence: {quoted(case.text)} All that the new head was ever shown are reviews. What will it say, "
        "and how sure will it be?"
    )


def _answer(case: Case) -> Classified | None:
    tuned = _tuned(case)
    if tuned is None:
        return None
    (found,) = engine().ask(Predict(tuned.id, ((case.text, None),)))
    assert isinstance(found, Classified)
    return found


def _try_ask(case: Case) -> Choice:
    found = _answer(case)
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
    right = next(place for place, (below, _) in enumerate(_SURE) if sure < below)
    replies = [
        f"{told} It is less sure than you thought: {_SETTINGS.examples} reviews are not many.",
        f"{told} How sure it is does not say whether it is right.",
        f"{told} It is surer than you thought, which does not make it right.",
    ]
    return Choice(
        "How sure will it be of its answer?",
        tuple(
            Option(name, replies[1 + (right > place) - (right < place)], place == right)
            for place, (_, name) in enumerate(_SURE)
        ),
    )


_SURE: Final = ((0.75, "Below 75%"), (0.95, "75% to 95%"), (np.inf, "95% or more"))


def _try_reveal(case: Case) -> None:
    found, tuned = _answer(case), _tuned(case)
    if found is None or tuned is None:
        st.info("There is no tuned model yet. Go back one step and press Train.", icon=":material/model_training:")
        return
    labels = tuned.data.labels
    figures.show(
        bars(
            labels,
            [("probability", found.probabilities)],
            top=1,
            written=".1%",
            marked=int(np.argmax(found.probabilities)),
            dark=case.dark,
        ),
        "learn labels",
        "labels",
    )


def _try_why(case: Case) -> str:
    if _tuned(case) is None:
        return "A classifier divides 100% among its labels, whatever it is given."
    return (
        "It learned what told the labels of its reviews apart, and applies that to any text; on texts of another kind "
        "it can be sure and wrong."
    )


def _try_numbers(case: Case) -> pd.DataFrame:
    found, tuned = _answer(case), _tuned(case)
    if found is None or tuned is None:
        return pd.DataFrame({"label": SETS[_SET].build().labels})
    return pd.DataFrame({"label": tuned.data.labels, "probability": found.probabilities})


# ---- what changed inside ----------------------------------------------------------------------------------------


def _turned(case: Case) -> FloatArray | None:
    """1 − cosine of each token's vector before and after tuning, (layers + 1, n); None where nothing was tuned."""
    found = _tuned(case)
    if found is None:
        return None
    return turned(*(engine().encoded_states(model, case.text) for model in (found.base, found.id)))


def _moved(case: Case) -> FloatArray | None:
    """The mean over the tokens, (layers + 1,)."""
    found = _turned(case)
    return None if found is None else found.mean(axis=1)


def _inside_text(case: Case) -> str:
    start = "" if _tuned(case) else " **Train the model first**, two steps back, to see it."
    return (
        "All weights could change. Did they, and where? We pass your sentence through the model before and after, and "
        f"measure how far each layer’s vectors have turned: 1 − [[cosine]], the mean over tokens.{start}"
    )


def _inside_ask(case: Case) -> Choice | Sketch:
    moved = _moved(case)
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
    names = ["embeddings", *(f"layer {layer}" for layer in range(1, len(moved)))]
    truth = moved.tolist()

    def reply(drawn: Sequence[float]) -> str:
        most, guessed = names[int(np.argmax(truth))], names[int(np.argmax(drawn))]
        said = "As you drew it" if most == guessed else f"You drew {guessed} farthest"
        return f"{said}: {most} turned most, by {max(truth):.2f}; the embeddings by {truth[0]:.3f}."

    top = float(max(0.05, np.ceil(max(truth) * 24) / 20))
    return Sketch(
        "Draw how far the vectors of each layer have turned.", tuple(names), tuple(truth), reply, top=top, kind="curve"
    )


def _inside_reveal(case: Case) -> None:
    moved = _moved(case)
    if moved is None:
        st.info("There is no tuned model yet. Go back two steps and press Train.", icon=":material/model_training:")
        return
    names = ["embeddings", *(f"layer {layer}" for layer in range(1, len(moved)))]
    figures.show(
        bars(names, [("1 − cosine before and after", moved.tolist())], written=".3f", dark=case.dark),
        "learn moved",
        "moved",
    )
    found = _tuned(case)
    if found is not None:
        both = address.link("compare", models=(found.base, found.id))
        st.page_link("pages/compare/page.py", label="Before and after, on Compare", query_params=both)


def _inside_why(case: Case) -> str:
    moved, apart = _moved(case), _turned(case)
    others = (
        "In BERT-base attention changed most in the last two layers (Kovaleva et al. 2019), vectors in the top ones "
        "(Merchant et al. 2020)"
    )
    if moved is None or apart is None:
        return f"{others}; how it is here, you see when you have trained."
    most, token = int(moved.argmax()), int(apart[-1].argmax())
    where = "the embeddings" if most == 0 else f"layer {most} of {len(moved) - 1}"
    return (
        f"{others}; here it is {where}, on this sentence, and behind the last layer the token "
        f"{quoted(case.encoding.tokens[token])} turned most."
    )


def _inside_numbers(case: Case) -> pd.DataFrame:
    apart = _turned(case)
    if apart is None:
        return pd.DataFrame({"layer": ["not trained yet"]})
    return pd.DataFrame(
        [
            {"layer": layer, "place": place + 1, "token": token, "1 - cosine": float(apart[layer, place])}
            for layer in range(len(apart))
            for place, token in enumerate(case.encoding.tokens)
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
    steps=(
        Step(
            title="A new head",
            at="guess",
            text=_head_text,
            figure=_head_figure,
            ask=_head_ask,
            reveal=_head_reveal,
            why=_head_why,
            numbers=_head_numbers,
            sources=(_DEVLIN, _HOWARD),
        ),
        Step(
            title="Train it",
            at="layers",
            text=_train_text,
            figure=_head_figure,
            ask=_train_ask,
            reveal=_train_reveal,
            why=_train_why,
            numbers=_train_numbers,
            sources=(_DEVLIN, _HOWARD),
        ),
        Step(
            title="Try it",
            at="guess",
            text=_try_text,
            figure=_head_figure,
            ask=_try_ask,
            reveal=_try_reveal,
            why=_try_why,
            numbers=_try_numbers,
        ),
        Step(
            title="What changed inside",
            at="layers",
            text=_inside_text,
            figure=_head_figure,
            ask=_inside_ask,
            reveal=_inside_reveal,
            why=_inside_why,
            numbers=_inside_numbers,
            sources=(_MERCHANT, _KOVALEVA),
        ),
    ),
)
